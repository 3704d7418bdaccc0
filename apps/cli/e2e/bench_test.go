//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// The benchmarks here run a real host in a process of its own and look at what the
// kernel counts for it. How long they take says nothing.

const (
	benchSessions = 500
	benchEntries  = 20
	benchDeltas   = 1000 // a second
)

// pacedProvider speaks OpenAI's wire and says a word benchDeltas times a second.
type pacedProvider struct {
	server  *httptest.Server
	seconds atomic.Int64 // of the next answers; 0 is one word
}

func newPacedProvider(t testing.TB) *pacedProvider {
	p := &pacedProvider{}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

func (p *pacedProvider) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	say := func(delta, finish string) {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{%s},\"finish_reason\":%s}]}\n\n", delta, finish)
		_ = flush() // a client that left is seen at its side
	}
	say(`"role":"assistant","content":"begin "`, "null")
	const perTick = 2
	ticker := time.NewTicker(time.Second * perTick / benchDeltas)
	defer ticker.Stop()
	for range p.seconds.Load() * benchDeltas / perTick {
		<-ticker.C
		for range perTick {
			say(`"content":"word "`, "null")
		}
	}
	say("", `"stop"`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func (p *pacedProvider) config(relayURL string) string {
	relayLine := ""
	if relayURL != "" {
		relayLine = fmt.Sprintf("relay_url = %q\n", relayURL)
	}
	return relayLine + fmt.Sprintf("default_model = \"main\"\n[providers.test]\ntype = \"openai\"\nbase_url = %q\n", p.server.URL+"/v1") +
		"[models.main]\nprovider = \"test\"\nid = \"test-1\"\ncontext_window = 100000\n"
}

// turns counts turns that ended.
type turns struct {
	ended  atomic.Int64
	deltas atomic.Int64
	text   atomic.Int64 // bytes
	more   chan struct{}
}

func newTurns() *turns { return &turns{more: make(chan struct{}, 1)} }

func (t *turns) hear(envelope api.EventEnvelope) {
	switch e := envelope.Event.(type) {
	case api.BlockDelta:
		t.deltas.Add(1)
		t.text.Add(int64(len(e.Delta)))
	case api.TurnEnded:
		t.ended.Add(1)
		select {
		case t.more <- struct{}{}:
		default:
		}
	}
}

func (t *turns) await(b *testing.B, ended int64) {
	b.Helper()
	timeout := time.After(5 * time.Minute)
	for t.ended.Load() < ended {
		select {
		case <-t.more:
		case <-timeout:
			b.Fatalf("%d of %d turns ended", t.ended.Load(), ended)
		}
	}
}

// BenchmarkIdleSessions is the resident memory of a host with 500 sessions that are
// open: each has had a turn, and an entry follows it.
func BenchmarkIdleSessions(b *testing.B) {
	provider := newPacedProvider(b)
	p := startHostProcess(b, provider.config(""))
	empty := p.settled(b)
	state := newTurns()
	c := p.watch(b, state)
	for i := range benchSessions {
		id := p.newSession(b, c, fmt.Sprint("session", i))
		ask(b, c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: fmt.Sprint("k", i), Text: strings.Repeat("hello ", 50)})
		state.await(b, int64(i)+1)
	}
	full := empty
	for b.Loop() { // one operation is a look
		full = p.settled(b)
	}
	const mib = 1 << 20
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(empty.RSS)/mib, "MiB-without")
	b.ReportMetric(float64(full.RSS)/mib, "MiB-with-500")
	b.ReportMetric(float64(full.RSS-empty.RSS)/1024/benchSessions, "KiB/session")
	if n := len(ask(b, c, api.ListSessions, api.ListSessionsRequest{}).Sessions); n != benchSessions {
		b.Fatalf("%d sessions", n)
	}
}

// watch is another direct connection.
func (p *hostProcess) watch(b *testing.B, state *turns) *client.Client {
	b.Helper()
	transport, err := client.DialDirect(b.Context(), p.state.Addr, p.state.Token)
	if err != nil {
		b.Fatal(err)
	}
	c := client.New(transport, state.hear)
	b.Cleanup(func() { _ = c.Close() })
	return c
}

// BenchmarkStream is the CPU time of a host whose model says 1000 deltas a second,
// which 20 entries follow, each over a sealed channel of its own. One operation is
// a second of the stream.
func BenchmarkStream(b *testing.B) {
	provider := newPacedProvider(b)
	server := relaytest.Start(b, func(cfg *relay.Config) {
		cfg.Store = relaytest.OpenStore(b, filepath.Join(b.TempDir(), "relay.db"))
		cfg.Limits.Pairs = relay.Rate{Burst: 10 * benchEntries, Every: time.Second}
	})
	p := startHostProcess(b, provider.config(server.URL))
	p.relay = server
	id := p.newSession(b, p.local, "stream")
	state := newTurns()
	for range benchEntries {
		e := p.pairEntry(b)
		c := p.open(b, e, state.hear)
		ask(b, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	}
	provider.seconds.Store(1)
	before, begin, seconds := p.settled(b), time.Now(), int64(0)
	for b.Loop() {
		seconds++
		prompt := api.SendPromptRequest{SessionID: id, ClientKey: fmt.Sprint("k", seconds), Text: "go"}
		ask(b, p.local, api.SendPrompt, prompt)
		state.await(b, seconds*benchEntries)
	}
	took, used := time.Since(begin), p.usage(b).CPU-before.CPU
	if want := seconds * (benchDeltas*5 + 6) * benchEntries; state.text.Load() != want {
		b.Fatalf("the entries received %d bytes, want %d", state.text.Load(), want)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(used.Seconds()/took.Seconds(), "cores")
	b.ReportMetric(float64(used.Microseconds())/float64(seconds*benchDeltas), "CPU-µs/delta")
	b.ReportMetric(float64(state.deltas.Load())/benchEntries/took.Seconds(), "deltas/s")
}
