package host_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/awake/awaketest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestTheMachineStaysAwakeWhileATurnRuns: also while the turn waits for an approval, and no longer.
func TestTheMachineStaysAwakeWhileATurnRuns(t *testing.T) {
	logind := awaketest.Serve(t)
	c, sessionID := waiting(t, host.Config{})
	within(t, logind.Held)
	turn := call(t, c, api.GetSnapshot, api.SessionRequest{SessionID: sessionID}).Live.Turn
	call(t, c, api.CancelTurn, api.CancelTurnRequest{SessionID: sessionID, TurnID: turn.TurnID})
	within(t, logind.Released)
}

// TestTheMachineMaySleepIfConfigured: no lock is taken for a turn that waits for an approval.
func TestTheMachineMaySleepIfConfigured(t *testing.T) {
	logind := awaketest.Serve(t)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("keep_awake = false\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	waiting(t, host.Config{Home: home})
	if n := len(logind.Held); n != 0 {
		t.Errorf("the machine was kept awake %d times", n)
	}
}

// waiting starts a host with a turn that waits for an approval.
func waiting(t *testing.T, cfg host.Config) (c *client.Client, sessionID string) {
	t.Helper()
	asked := make(chan string, 10)
	c = dial(t, start(t, cfg), func(e api.EventEnvelope) {
		if summary, ok := e.Event.(api.SessionUpdated); ok && summary.Session.WaitingApproval {
			asked <- summary.Session.ID
		}
	})
	project := call(t, c, api.AddProject, api.AddProjectRequest{Path: t.TempDir()}).Project
	sessionID = call(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "s1"}).Session.ID
	call(t, c, api.SendPrompt, api.SendPromptRequest{SessionID: sessionID, ClientKey: "k1", Text: "write note.txt: hello"})
	within(t, asked)
	return c, sessionID
}

func within(t *testing.T, events <-chan string) {
	t.Helper()
	select {
	case <-events:
	case <-time.After(30 * time.Second):
		t.Fatal("nothing happened")
	}
}
