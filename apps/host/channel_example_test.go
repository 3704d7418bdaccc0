package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestExampleChannelServer talks through the server of docs/examples, which knows scorel/channel:
// a button carries the hash of an approval, and what is written while the host is down arrives.
func TestExampleChannelServer(t *testing.T) {
	t.Parallel()
	write := modeltest.Calls(modeltest.Call("w", "write_file", `{"path":"made.txt","content":"hello"}`))
	s := newScene(t, nil, write, modeltest.Say("Written."), modeltest.Say("Good morning."))
	example, err := filepath.Abs("../../docs/examples/extensions/phone/server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(s.home, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	config = fmt.Appendf(config, "\n[mcp.servers.line]\ncommand = \"node\"\nargs = [%q]\nstart_timeout = 60\n", example)
	if err := os.WriteFile(filepath.Join(s.home, "config.toml"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(line string) {
		t.Helper()
		in, err := os.OpenFile(filepath.Join(s.folder, "phone.in"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := in.WriteString(line + "\n"); err != nil {
			t.Fatal(err)
		}
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
	hears := func(text string) {
		t.Helper()
		deadline := time.After(2 * time.Minute)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			out, _ := os.ReadFile(filepath.Join(s.folder, "phone.out"))
			if strings.Contains(string(out), text) {
				return
			}
			select {
			case <-tick.C:
			case <-deadline:
				t.Fatalf("waiting for %q, the line shows %q", text, out)
			}
		}
	}
	t.Run("a host", func(t *testing.T) {
		s.c = dial(t, start(t, host.Config{Home: s.home, Projects: []string{s.folder}}), func(api.EventEnvelope) {})
		project := call(t, s.c, api.ListProjects, api.Empty{}).Projects[0].ID
		added := call(t, s.c, api.AddChannel, api.AddChannelRequest{ClientKey: "k", Kind: "mcp", Settings: map[string]string{"server": "line", "project": project}})
		grants := []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove}
		say(call(t, s.c, api.PairChannel, api.PairChannelRequest{ID: added.Channel.ID, ProjectID: project, Grants: grants}).Code)
		hears("Connected to")
		say("write it")
		hears("[!1 Allow once] [!2 Deny]")
		say("!1")
		hears("Written.")
		if _, err := os.Stat(filepath.Join(s.folder, "made.txt")); err != nil {
			t.Error(err)
		}
	})
	say("good morning")
	t.Run("the next host", func(t *testing.T) {
		start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
		hears("Good morning.")
	})
}
