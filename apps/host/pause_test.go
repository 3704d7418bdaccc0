package host_test

import (
	"errors"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestOnlyAPausedHostIsRestarted: turns that began after the pause would be cancelled.
func TestOnlyAPausedHostIsRestarted(t *testing.T) {
	h, err := host.New(t.Context(), host.Config{Home: t.TempDir(), Getenv: noEnv, NoRelay: true, Restarts: true})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(t.Context()) }()
	<-h.Ready()
	entry := newHTTPEntry(t, h, h.State().Token)
	refused := func(when string) {
		t.Helper()
		if status, answer := entry.post("/v1/restart_host", `{}`); status != 409 {
			t.Errorf("%s: %d %s", when, status, answer)
		}
	}
	refused("before any pause")
	ask[api.Empty](entry, "/v1/pause_host", api.PauseHostRequest{})
	ask[api.Empty](entry, "/v1/resume_host", api.Empty{})
	refused("after the pause")
	ask[api.Empty](entry, "/v1/pause_host", api.PauseHostRequest{})
	ask[api.Empty](entry, "/v1/restart_host", api.Empty{})
	if err := <-ended; !errors.Is(err, host.ErrRestart) {
		t.Errorf("the host ended with %v", err)
	}
}
