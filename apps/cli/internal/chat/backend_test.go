package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestCommandsOfAnotherAgent: a word after a slash is completed to commands of the program that
// works in the session, behind those of this terminal.
func TestCommandsOfAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	config := hosttest.FakeBackend(os.Args[0])
	if err := os.WriteFile(filepath.Join(w.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	w.startHost()
	id := w.sessionOn("fake")
	w.open(80, 24, func(c *Config) { c.Session = id })
	w.until("the session", func(string) bool { return w.model.session.Summary.Backend == "fake" })
	w.await("Agent: fake")
	w.prompt(`update {"sessionUpdate":"available_commands_update","availableCommands":[{"name":"review","description":"Reviews a change","input":{"hint":"number"}}]}`)
	w.idle()
	w.prompt(`update {"sessionUpdate":"notice","title":"Careful","description":"It is late"}`)
	w.until("what it says", func(screen string) bool {
		return strings.Contains(screen, "fake: Careful") && strings.Contains(screen, "It is late")
	})
	w.idle()
	w.write("/re")
	w.until("its command", func(screen string) bool {
		return strings.Contains(screen, "/review number") && strings.Contains(screen, "Reviews a change") && strings.Contains(screen, "/rename NAME")
	})
	w.key(tea.KeyDown, 0)
	w.key(tea.KeyTab, 0)
	if got := w.model.field.editor.Text(); got != "/review " {
		t.Errorf("the field has %q", got)
	}
}

// sessionOn makes a session on a backend.
func (w *world) sessionOn(backend string) string {
	w.t.Helper()
	c := w.client()
	defer func() { _ = c.Close() }() // everything was received
	project, err := client.Call(w.t.Context(), c, api.AddProject, api.AddProjectRequest{Path: w.folder})
	if err != nil {
		w.t.Fatal(err)
	}
	made, err := client.Call(w.t.Context(), c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.Project.ID, ClientKey: "k", Backend: backend})
	if err != nil {
		w.t.Fatal(err)
	}
	return made.Session.ID
}
