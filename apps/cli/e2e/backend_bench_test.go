//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// benchAgents is how many agents run at once, which is the limit of a host.
const benchAgents = 16

func backendConfig(b *testing.B, relayURL string) string {
	b.Helper()
	line := ""
	if relayURL != "" {
		line = fmt.Sprintf("relay_url = %q\n", relayURL)
	}
	return line + hosttest.FakeBackend(os.Args[0], "--home="+b.TempDir())
}

func (p *hostProcess) newBackendSession(b *testing.B, c *client.Client, key string) string {
	b.Helper()
	made := ask(b, c, api.CreateSession, api.CreateSessionRequest{ProjectID: p.project.ID, ClientKey: key, Backend: "fake"}).Session
	ask(b, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: made.ID})
	return made.ID
}

// BenchmarkBackendSession is the resident memory of a host for a session whose agent is another
// program that runs: that of the program is not counted.
func BenchmarkBackendSession(b *testing.B) {
	p := startHostProcess(b, backendConfig(b, ""))
	state := newTurns()
	c := p.watch(b, state)
	empty := p.settled(b)
	first := empty
	for i := range benchAgents {
		id := p.newBackendSession(b, c, fmt.Sprint("session", i))
		text := "say I look.\ncall c1 execute make test\nrun c1\ndone c1 ok\nsay Done."
		ask(b, c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: fmt.Sprint("k", i), Text: text})
		state.await(b, int64(i)+1)
		if i == 0 {
			first = p.settled(b)
		}
	}
	full := first
	for b.Loop() { // one operation is a look
		full = p.settled(b)
	}
	const mib = 1 << 20
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(first.RSS-empty.RSS)/mib, "MiB/first")
	b.ReportMetric(float64(full.RSS-first.RSS)/mib/(benchAgents-1), "MiB/session")
}

// BenchmarkBackendStream is the CPU time of a host whose agent is another program that sends 1000
// updates a second, which 20 entries follow, each over a sealed channel of its own. One operation
// is a second of the stream. The time of the program is not counted.
func BenchmarkBackendStream(b *testing.B) {
	server := relaytest.Start(b, func(cfg *relay.Config) {
		cfg.Store = relaytest.OpenStore(b, filepath.Join(b.TempDir(), "relay.db"))
		cfg.Limits.Pairs = relay.Rate{Burst: 10 * benchEntries, Every: time.Second}
	})
	p := startHostProcess(b, backendConfig(b, server.URL))
	p.relay = server
	id := p.newBackendSession(b, p.local, "stream")
	state := newTurns()
	for range benchEntries {
		c := p.open(b, p.pairEntry(b), state.hear)
		ask(b, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	}
	ask(b, p.local, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "k0", Text: "say begin"}) // starts the program
	state.await(b, benchEntries)
	state.text.Store(0)
	before, begin, seconds := p.settled(b), time.Now(), int64(0)
	for b.Loop() {
		seconds++
		prompt := api.SendPromptRequest{SessionID: id, ClientKey: fmt.Sprint("k", seconds), Text: fmt.Sprintf("pace %d 1", benchDeltas)}
		ask(b, p.local, api.SendPrompt, prompt)
		state.await(b, (seconds+1)*benchEntries)
	}
	took, used := time.Since(begin), p.usage(b).CPU-before.CPU
	if want := seconds * benchDeltas * 5 * benchEntries; state.text.Load() != want {
		b.Fatalf("the entries received %d bytes, want %d", state.text.Load(), want)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(used.Seconds()/took.Seconds(), "cores")
	b.ReportMetric(float64(used.Microseconds())/float64(seconds*benchDeltas), "CPU-µs/update")
	b.ReportMetric(float64(seconds*benchDeltas)/took.Seconds(), "updates/s")
}
