package uplink

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// TestAFailingConnectionDoesNotFillTheLog: a connection that keeps failing, or keeps coming and
// going, is logged at the beginning, at intervals, and when it recovers.
func TestAFailingConnectionDoesNotFillTheLog(t *testing.T) {
	down := relayconn.State{Err: errors.New("no route")}
	up := relayconn.State{Connected: true}
	for name, c := range map[string]struct {
		cycle []relayconn.State
		want  int // lines in an hour
	}{
		"down":             {[]relayconn.State{down}, 12},
		"comes and goes":   {[]relayconn.State{up, down}, 24},
		"mostly down, too": {[]relayconn.State{down, down, up}, 24},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				l := &connLog{log: slog.New(slog.NewTextHandler(&out, nil)), url: "https://relay.example"}
				for end := time.Now().Add(time.Hour); time.Now().Before(end); {
					for _, state := range c.cycle {
						l.report(state)
						time.Sleep(300 * time.Millisecond)
					}
				}
				lines := strings.Count(out.String(), "\n")
				if lines < c.want/2 || lines > c.want+2 {
					t.Errorf("%d lines, want about %d", lines, c.want)
				}
				time.Sleep(time.Hour)
				l.report(up)
				time.Sleep(time.Hour)
				out.Reset()
				l.report(down)
				l.report(down)
				l.report(up)
				if got := out.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "not connected to the relay\"") ||
					!strings.Contains(got, "connected to the relay again\" relay=https://relay.example failures=2") {
					t.Errorf("after a steady hour: %s", got)
				}
			})
		})
	}
}

// The log of a host does not call a client whose connection broke a device.
func TestALostClientIsLoggedAsOne(t *testing.T) {
	seen := map[string]wire.Reason{}
	for _, reason := range wire.Reasons() {
		got := whyGone(fmt.Errorf("receiving: %w", &client.ClosedError{Reason: reason}))
		if strings.Contains(got, "device") || got == "" {
			t.Errorf("%s is logged as %q", reason, got)
		}
		seen[got] = reason
	}
	if seen["the client's connection was lost"] != wire.ReasonPeerGone {
		t.Errorf("got %q", seen)
	}
	if got := whyGone(dispatch.ErrSlow); got != dispatch.ErrSlow.Error() {
		t.Errorf("got %q", got)
	}
}
