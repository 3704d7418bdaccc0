package cli

import (
	"errors"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ownHost runs a host in this process, and returns its home.
func ownHost(t *testing.T, restarts bool) string {
	t.Helper()
	home := t.TempDir()
	hosttest.Run(t, host.Config{Home: home, Getenv: func(string) string { return "" }, NoRelay: true, Restarts: restarts})
	return home
}

// TestAHostThatIsNotReplacedContinues: whatever failed after the host was paused.
func TestAHostThatIsNotReplacedContinues(t *testing.T) {
	full := errors.New("no space left on device")
	for name, c := range map[string]struct {
		restarts bool
		swap     func() error
	}{
		"the program was not replaced": {true, func() error { return full }},
		"the host cannot restart":      {false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := ownHost(t, c.restarts)
			_, _, err := restartHost(t.Context(), home, time.Minute, c.swap)
			if err == nil || c.swap != nil && !errors.Is(err, full) {
				t.Fatalf("got %v", err)
			}
			if held(t, home) {
				t.Error("the host is still paused")
			}
		})
	}
}

// held reports whether the host of a home begins nothing new.
func held(t *testing.T, home string) (held bool) {
	t.Helper()
	err := useLocal(t.Context(), home, func(c *client.Client) error {
		project, err := client.Call(t.Context(), c, api.AddProject, api.AddProjectRequest{Path: t.TempDir()})
		if err != nil {
			return err
		}
		created, err := client.Call(t.Context(), c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.Project.ID, ClientKey: "s"})
		if err != nil {
			return err
		}
		sent, err := client.Call(t.Context(), c, api.SendPrompt, api.SendPromptRequest{SessionID: created.Session.ID, ClientKey: "p", Text: "hello"})
		held = sent.State == api.PromptQueued
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}
