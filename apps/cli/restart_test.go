package cli

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ownHost runs a host in this process, for an app whose home it has.
func ownHost(t *testing.T, restarts bool) *app {
	t.Helper()
	a := &app{console: console{stdout: io.Discard, stderr: io.Discard}, env: &environment{getenv: func(string) string { return "" }, homeFlag: t.TempDir()}}
	hosttest.Run(t, host.Config{Home: a.env.homeFlag, Getenv: a.env.getenv, NoRelay: true, Restarts: restarts})
	return a
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
			a := ownHost(t, c.restarts)
			_, _, err := restartHost(t.Context(), a.env.homeFlag, time.Minute, c.swap)
			if err == nil || c.swap != nil && !errors.Is(err, full) {
				t.Fatalf("got %v", err)
			}
			if held(t, a) {
				t.Error("the host is still paused")
			}
		})
	}
}

// held reports whether the host of an app begins nothing new.
func held(t *testing.T, a *app) (held bool) {
	t.Helper()
	err := (&target{app: a}).use(t.Context(), func(c *client.Client) error {
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
