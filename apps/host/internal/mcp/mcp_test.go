package mcp_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// world is a manager with one project.
type world struct {
	*mcp.Manager
	folder  string
	options mcp.Options
}

// patience is far more than a server needs to start on a busy machine.
const patience = 60 * time.Second

func newWorld(t *testing.T, change func(*mcp.Options)) *world {
	t.Helper()
	consents, err := state.LoadConsents(filepath.Join(t.TempDir(), "mcp.json"))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{folder: t.TempDir(), options: mcp.Options{
		Logger: slog.New(slog.DiscardHandler), Version: "test", Servers: map[string]state.MCPServer{}, Consents: consents,
		Trusted: func(string) bool { return true }, Getenv: os.Getenv, Environ: os.Environ, Withheld: func(string) bool { return false }, Patience: patience,
	}}
	if change != nil {
		change(&w.options)
	}
	w.Manager = mcp.New(w.options)
	t.Cleanup(w.Close)
	return w
}

// child returns a server of config.toml that runs as a child process.
func child(t *testing.T, mode string) state.MCPServer {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return state.MCPServer{Command: self, Env: map[string]string{serverMode: mode}, StartTimeout: 60}
}

// inFile writes .mcp.json with one child server of that name.
func (w *world) inFile(t *testing.T, name, mode string) {
	t.Helper()
	s := child(t, mode)
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{name: map[string]any{"command": s.Command, "env": s.Env, "other": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.folder, ".mcp.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func names(tools []agent.Tool) []string {
	var list []string
	for _, tool := range tools {
		list = append(list, tool.Spec().Name)
	}
	return list
}

func (w *world) call(t *testing.T, ctx context.Context, name, arguments string) agent.Result {
	t.Helper()
	for _, tool := range w.Tools(t.Context(), w.folder) {
		if tool.Spec().Name == name {
			return tool.Run(ctx, agent.Call{ID: "c", Name: name, Arguments: json.RawMessage(arguments), Cwd: w.folder}, func(string) {})
		}
	}
	list, _ := w.List(w.folder)
	t.Fatalf("there is no tool %s: %+v", name, list)
	return agent.Result{}
}

// run calls a tool of a list.
func run(t *testing.T, tools []agent.Tool, name, arguments string) agent.Result {
	t.Helper()
	i := slices.IndexFunc(tools, func(tool agent.Tool) bool { return tool.Spec().Name == name })
	if i < 0 {
		t.Fatalf("there is no tool %s in %q", name, names(tools))
	}
	return tools[i].Run(t.Context(), agent.Call{ID: "c", Name: name, Arguments: json.RawMessage(arguments)}, func(string) {})
}

func (w *world) status(t *testing.T, name string) api.MCPServer {
	t.Helper()
	list, _ := w.List(w.folder)
	i := slices.IndexFunc(list, func(s api.MCPServer) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no server %s: %+v", name, list)
	}
	return list[i]
}

// await polls until the server has that state.
func (w *world) await(t *testing.T, name string, want func(api.MCPServer) bool) {
	t.Helper()
	deadline := time.After(patience)
	for tick := time.NewTicker(5 * time.Millisecond); !want(w.status(t, name)); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it stays at %+v", w.status(t, name))
		}
	}
}

// TestBothTransports uses the same server as a child and over HTTP.
func TestBothTransports(t *testing.T) {
	t.Setenv("MCP_TEST_TOKEN", "sesame")
	address, release := overHTTP(t, "sesame")
	for name, config := range map[string]state.MCPServer{
		"stdio": child(t, "good"),
		"http":  {URL: address, Headers: map[string]string{"Authorization": "Bearer ${MCP_TEST_TOKEN}"}, StartTimeout: 60},
	} {
		t.Run(name, func(t *testing.T) {
			config.DisabledTools = []string{"crash"}
			w := newWorld(t, func(o *mcp.Options) { o.Servers["one"] = config })
			before := w.Tools(t.Context(), w.folder)
			if got := names(before); !slices.IsSorted(got) || !slices.Contains(got, "mcp__one__echo") || slices.Contains(got, "mcp__one__crash") {
				t.Fatalf("the tools are %q; %+v", got, w.status(t, "one"))
			}
			if text := w.call(t, t.Context(), "mcp__one__echo", `{"text":"hi"}`).Content.Plain(); text != "echo: hi" {
				t.Errorf("echo said %q", text)
			}
			if r := w.call(t, t.Context(), "mcp__one__fail", `{"text":"x"}`); !r.IsError || !strings.Contains(r.Content.Plain(), "no such thing") {
				t.Errorf("a failure came as %+v", r)
			}
			if r := w.call(t, t.Context(), "mcp__one__echo", `{"text":7}`); !r.IsError {
				t.Errorf("wrong arguments came as %+v", r)
			}
			if r := w.call(t, t.Context(), "mcp__one__echo", `[]`); !r.IsError || !strings.Contains(r.Content.Plain(), "not a JSON object") {
				t.Errorf("no object came as %+v", r)
			}
			picture := w.call(t, t.Context(), "mcp__one__picture", `{}`).Content
			if len(picture) != 3 || picture[0].Type != session.BlockImage || picture[0].MimeType != "image/gif" || picture[0].Width != 1 || !strings.Contains(picture.Plain(), "image/tiff") {
				t.Errorf("the picture came as %+v", picture)
			}

			// A new tool is available in the next turn; the running turn keeps its tools.
			w.call(t, t.Context(), "mcp__one__grow", `{"text":"fresh"}`)
			w.await(t, "one", func(s api.MCPServer) bool { return slices.Contains(s.Tools, "fresh") })
			if slices.Contains(names(before), "mcp__one__fresh") || !slices.Contains(names(w.Tools(t.Context(), w.folder)), "mcp__one__fresh") {
				t.Error("the new tool is not there at the next turn only")
			}

			// A cancel ends a call that hangs.
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(50*time.Millisecond, cancel)
			if r := w.call(t, ctx, "mcp__one__hang", `{}`); !r.IsError || !strings.Contains(r.Content.Plain(), "Cancelled by the user") {
				t.Errorf("a canceled call came as %+v", r)
			}
			if config.URL != "" {
				release()
			}
		})
	}
}

func TestConsentIsForOneConfiguration(t *testing.T) {
	w := newWorld(t, nil)
	w.inFile(t, "one", "good")
	if got := w.Tools(t.Context(), w.folder); len(got) > 0 || w.status(t, "one").State != api.MCPNeedsConsent {
		t.Fatalf("without consent there are %q, state %s", names(got), w.status(t, "one").State)
	}
	shown := w.status(t, "one")
	if !strings.Contains(shown.Shown, serverMode+"=good") {
		t.Errorf("a person is shown %q", shown.Shown)
	}
	if _, err := w.Decide(w.folder, "one", "another", true, "cli_x"); err != mcp.ErrChanged {
		t.Errorf("consent to another configuration: %v", err)
	}
	if _, err := w.Decide(w.folder, "two", shown.Hash, true, "cli_x"); err != mcp.ErrUnknown {
		t.Errorf("consent to a server that is not there: %v", err)
	}
	if _, err := w.Decide(w.folder, "one", shown.Hash, true, "cli_x"); err != nil {
		t.Fatal(err)
	}
	if w.call(t, t.Context(), "mcp__one__echo", `{"text":"hi"}`).IsError {
		t.Error("it does not run with consent")
	}

	// Another command under the same name needs consent again, and the old one ends.
	w.inFile(t, "one", "other")
	if got := w.Tools(t.Context(), w.folder); len(got) > 0 || w.status(t, "one").State != api.MCPNeedsConsent {
		t.Errorf("a changed configuration has %q, state %s", names(got), w.status(t, "one").State)
	}
	w.inFile(t, "one", "good")
	if got := w.Tools(t.Context(), w.folder); len(got) == 0 {
		t.Error("the first configuration needs consent again")
	}
	if _, err := w.Decide(w.folder, "one", shown.Hash, false, "cli_x"); err != nil {
		t.Fatal(err)
	}
	if got := w.Tools(t.Context(), w.folder); len(got) > 0 || w.status(t, "one").State != api.MCPDenied {
		t.Errorf("a denied one has %q", names(got))
	}
}

func TestUntrustedFoldersStartNothing(t *testing.T) {
	trusted := true
	w := newWorld(t, func(o *mcp.Options) { o.Trusted = func(string) bool { return trusted } })
	w.inFile(t, "one", "good")
	if _, err := w.Decide(w.folder, "one", w.status(t, "one").Hash, true, "host"); err != nil {
		t.Fatal(err)
	}
	trusted = false
	if got := w.Tools(t.Context(), w.folder); len(got) > 0 || w.status(t, "one").State != api.MCPUntrusted {
		t.Errorf("an untrusted folder has %q", names(got))
	}
}

// TestAFaultyServerDoesNotHoldUpTheOthers: a hanging server delays a turn by its patience
// and no more.
func TestAFaultyServerDoesNotHoldUpTheOthers(t *testing.T) {
	hanging := httptest.NewUnstartedServer(nil) // accepts connections and never responds
	t.Cleanup(hanging.Close)
	w := newWorld(t, func(o *mcp.Options) {
		o.Servers = map[string]state.MCPServer{
			"good": child(t, "good"), "exit": child(t, "exit"), "deaf": child(t, "deaf"), "silent": {URL: "http://" + hanging.Listener.Addr().String(), StartTimeout: 1},
			"none": {Command: filepath.Join(o.Servers["x"].Cwd, "/nowhere/at/all")}, "unset": {Command: "x", Args: []string{"${MCP_TEST_NOT_SET}"}},
		}
		deaf := o.Servers["deaf"]
		deaf.StartTimeout = 1
		o.Servers["deaf"] = deaf
	})
	if w.call(t, t.Context(), "mcp__good__echo", `{"text":"hi"}`).IsError {
		t.Error("the good one does not answer")
	}
	for name, want := range map[string]string{
		"exit": "the license has run out", "deaf": "did not respond within 1 s", "silent": "did not respond within 1 s",
		"none": "cannot be started", "unset": "needs the variable MCP_TEST_NOT_SET",
	} {
		if s := w.status(t, name); s.State != api.MCPFailed || !strings.Contains(s.Reason, want) {
			t.Errorf("%s is %s: %s", name, s.State, s.Reason)
		}
	}
}

func TestPatienceIsBounded(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) {
		o.Servers["deaf"] = child(t, "deaf")
		o.Patience = 10 * time.Millisecond
	})
	began := time.Now()
	if got := w.Tools(t.Context(), w.folder); len(got) > 0 {
		t.Errorf("a deaf server has %q", names(got))
	}
	if took := time.Since(began); took > 30*time.Second { // its start timeout is 60 s
		t.Errorf("the turn waited %s", took)
	}
	if s := w.status(t, "deaf"); s.State != api.MCPStarting {
		t.Errorf("it is %s", s.State)
	}
}

func TestACrashedServerComesBack(t *testing.T) {
	config := child(t, "good")
	config.ToolTimeout = 1
	w := newWorld(t, func(o *mcp.Options) { o.Servers["one"] = config })
	old := w.Tools(t.Context(), w.folder)
	if r := w.call(t, t.Context(), "mcp__one__crash", `{}`); !r.IsError || !strings.Contains(r.Content.Plain(), "exited during the call") {
		t.Errorf("a crash came as %q", r.Content.Plain())
	}
	w.await(t, "one", func(s api.MCPServer) bool { return s.State == api.MCPFailed })
	if r := old[0].Run(t.Context(), agent.Call{Name: "x", Arguments: json.RawMessage(`{}`)}, func(string) {}); !r.IsError || !strings.Contains(r.Content.Plain(), "is not running") {
		t.Errorf("a call to a dead server came as %q", r.Content.Plain())
	}
	if text := w.call(t, t.Context(), "mcp__one__echo", `{"text":"again"}`).Content.Plain(); text != "echo: again" {
		t.Errorf("after the crash it said %q", text)
	}
	if r := w.call(t, t.Context(), "mcp__one__hang", `{}`); !r.IsError || !strings.Contains(r.Content.Plain(), "did not respond within 1 s") {
		t.Errorf("a call that hangs came as %q", r.Content.Plain())
	}
}

func TestServersDoNotSeeTheKeysOfProviders(t *testing.T) {
	w := newWorld(t, func(o *mcp.Options) {
		o.Environ = func() []string { return []string{"KEPT=yes", "PATH=" + os.Getenv("PATH")} }
		config := child(t, "good")
		config.Env["ADDED"] = "${MCP_TEST_X:-fallback}"
		o.Servers["one"] = config
	})
	for name, want := range map[string]string{"KEPT": "yes", "ADDED": "fallback", "HOME": ""} {
		if text := w.call(t, t.Context(), "mcp__one__env", `{"text":"`+name+`"}`).Content.Plain(); text != name+"="+want {
			t.Errorf("the server sees %q", text)
		}
	}
}
