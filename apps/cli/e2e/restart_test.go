//go:build unix

package e2e

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
)

const (
	// hostsEnv sets how many idle hosts there are; make soak says 10000.
	hostsEnv     = "SCOREL_SCALE_HOSTS"
	defaultHosts = 1000
	// backWithin is what a relay promises its hosts after a kill. It holds at full size
	// on a machine of its own; beside other tests only that all come back does.
	backWithin = 30 * time.Second
	backAtLast = 10 * time.Minute
)

// TestAKilledRelayComesBackToItsHosts: a relay with many idle hosts is killed and
// started again. All are back in time, the relay has nothing to complain about,
// and a turn that was streaming to an entry continues without a gap or a repeat.
func TestAKilledRelayComesBackToItsHosts(t *testing.T) {
	// Built with the race detector, beside other tests, logins may queue for longer
	// than the relay's own limits allow. At full size those hold.
	count, within, limits := defaultHosts, backAtLast, relay.Limits{StoreTimeout: backAtLast, LoginTimeout: backAtLast}
	if text := os.Getenv(hostsEnv); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", hostsEnv, err)
		}
		within, limits = backWithin, relay.Limits{}
	}
	node := nodetest.Start(t, nodetest.Config{Limits: limits})
	w := &world{relay: &node.Peers, home: t.TempDir()}
	w.startHost(t, node.Peers.URL)
	empty := node.Usage(t)
	hosts := startIdle(t, node.Peers.URL, count)
	full := node.Usage(t)
	t.Logf("%d idle hosts take %.1f KiB of resident memory each, and took %s of CPU each to log in", count,
		float64(full.RSS-empty.RSS)/1024/float64(count), (full.CPU-empty.CPU)/time.Duration(count))

	const words = 300 // the model says fifty in a second
	s := w.startStream(t, words)
	s.await(t, words/10)
	before, losses := hosts.seen()
	node.Kill()
	node.Restart(t)
	start := time.Now()
	hosts.await(t, len(before)+count, within)
	after, failures := hosts.seen()
	back := after[len(before):]
	t.Logf("all %d hosts are back %s after the start, with %d tries that failed; in tenths of a second: %v", count,
		time.Since(start).Round(10*time.Millisecond), failures-losses-count, perTenth(back, start))
	s.await(t, words)
	s.check(t, words)
	expectNoComplaint(t, node)
	again := node.Usage(t)
	t.Logf("the new process took %s of CPU for each host that came back", again.CPU/time.Duration(count))
}

// perTenth counts what happened in each tenth of a second since start.
func perTenth(times []time.Time, start time.Time) []int {
	var out []int
	for _, at := range times {
		slot := max(0, int(at.Sub(start)/(100*time.Millisecond)))
		for len(out) <= slot {
			out = append(out, 0)
		}
		out[slot]++
	}
	return out
}

// expectNoComplaint reads what the relay logged and counted.
func expectNoComplaint(t *testing.T, node *nodetest.Node) {
	t.Helper()
	for _, line := range node.Log(t) {
		if line.Level >= slog.LevelWarn {
			t.Errorf("the relay logged %s %q %s", line.Level, line.Msg, line.Error)
		}
	}
	for name, value := range node.Metrics(t) {
		bad := strings.HasPrefix(name, "scorel_relay_refused_total") || strings.HasPrefix(name, "scorel_relay_store_errors_total") ||
			strings.HasPrefix(name, "scorel_relay_logins_total") && !strings.Contains(name, `"ok"`)
		if bad && value > 0 {
			t.Errorf("%s is %v", name, value)
		}
	}
}
