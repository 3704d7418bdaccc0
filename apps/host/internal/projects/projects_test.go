package projects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/extension"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/projectcontext"
	"github.com/scorel/scorel/apps/host/internal/projects"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// world is a host with requests about projects. sessions and outages are by project.
type world struct {
	*dispatchtest.Host
	local        *dispatchtest.Client
	sessions     map[string][]api.SessionSummary
	outages      map[string]string
	expected     string // the project that a session of another host is about to arrive in
	trustChanges int
}

func (w *world) List(projectID string) []api.SessionSummary { return w.sessions[projectID] }

func (w *world) whileUnexpected(projectID string, do func() error) error {
	if projectID == w.expected {
		return api.Errorf(api.KindProjectInUse, "a session arrives")
	}
	return do()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Host: dispatchtest.New(t), sessions: map[string][]api.SessionSummary{}, outages: map[string]string{}}
	consents, err := state.LoadConsents(w.Paths.MCP())
	if err != nil {
		t.Fatal(err)
	}
	switches, err := state.LoadSwitches(w.Paths.Switches())
	if err != nil {
		t.Fatal(err)
	}
	saved, err := state.LoadSavedServers(w.Paths.Servers())
	if err != nil {
		t.Fatal(err)
	}
	servers := mcp.New(mcp.Options{
		Logger: w.Log, Consents: consents, Saved: saved, Switches: switches, Trusted: w.Trust.Has, Patience: mcp.DefaultPatience,
		Getenv: os.Getenv, Environ: os.Environ, Withheld: func(string) bool { return false },
	})
	t.Cleanup(servers.Close)
	added, err := state.LoadExtensions(w.Paths.ExtensionList())
	if err != nil {
		t.Fatal(err)
	}
	w.Serve(projects.New(projects.Options{
		Extensions: extension.New(extension.Options{Logger: w.Log, Paths: w.Paths, Added: added, Switches: switches, Consents: consents, Trusted: w.Trust.Has}),
		Logger:     w.Log, List: w.Projects, Trust: w.Trust, Hub: w.Hub, Sessions: w, Servers: servers,
		Hooks: hook.New(hook.Options{
			Logger: w.Log, Hooks: []state.Hook{{Name: "own", Event: "prompt", Command: "echo hi"}}, Consents: consents, Trusted: w.Trust.Has, Environ: os.Environ,
		}),
		WhileUnexpected: w.whileUnexpected,
		Unavailable:     func(id string) string { return w.outages[id] }, TrustChanged: func() { w.trustChanges++ },
		Skills: &projectcontext.Source{Paths: w.Paths, Trust: w.Trust, Switches: switches}, Switches: switches,
		Memory: memory.New(w.Paths.Memory(), func() { w.Hub.Notify(api.MemoryChanged{}) }),
	}).Endpoints())
	w.local = w.Local()
	return w
}

func (w *world) listed(t *testing.T) []api.Project {
	t.Helper()
	return dispatchtest.Call(t, w.local, api.ListProjects, api.Empty{}).Projects
}

func (w *world) expectEvents(t *testing.T, types ...string) {
	t.Helper()
	for _, want := range types {
		if got := <-w.local.Events; got != want {
			t.Errorf("the clients were sent %s, want %s", got, want)
		}
	}
}

func TestAProjectIsAddedAndRemoved(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	added := dispatchtest.Call(t, w.local, api.AddProject, api.AddProjectRequest{Path: folder}).Project
	w.expectEvents(t, api.ProjectsChanged{}.EventType())
	if list := w.listed(t); len(list) != 1 || list[0].ID != added.ID || list[0].Trusted {
		t.Fatalf("the list is %+v", list)
	}
	dispatchtest.Call(t, w.local, api.RemoveProject, api.RemoveProjectRequest{ProjectID: added.ID})
	w.expectEvents(t, api.ProjectsChanged{}.EventType())
	if list := w.listed(t); len(list) != 0 {
		t.Errorf("after its removal the list is %+v", list)
	}
}

func TestAProjectStaysWhileItMayHoldSessions(t *testing.T) {
	w := newWorld(t)
	id := w.AddProject().ID
	remove := api.RemoveProjectRequest{ProjectID: id}
	w.sessions[id] = []api.SessionSummary{{ID: "s"}}
	dispatchtest.Refused(t, w.local, api.RemoveProject, remove, api.KindProjectInUse)
	w.sessions[id], w.outages[id] = nil, "the database does not answer"
	dispatchtest.Refused(t, w.local, api.RemoveProject, remove, api.KindUnavailable)
	w.sessions[id], w.expected = nil, id
	dispatchtest.Refused(t, w.local, api.RemoveProject, remove, api.KindProjectInUse)
	if list := w.listed(t); len(list) != 1 || list[0].Unavailable != w.outages[id] {
		t.Errorf("the list is %+v", list)
	}
	dispatchtest.Refused(t, w.local, api.RemoveProject, api.RemoveProjectRequest{ProjectID: "prj_none"}, api.KindNotFound)
}

func TestTrustIsStoredAndAnnounced(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	for i, trusted := range []bool{true, false} {
		got := dispatchtest.Call(t, w.local, api.TrustProject, api.TrustProjectRequest{ProjectID: project.ID, Trusted: trusted}).Project
		w.expectEvents(t, api.ProjectsChanged{}.EventType(), api.MCPServersChanged{}.EventType(), api.HooksChanged{}.EventType(), api.ExtensionsChanged{}.EventType())
		if got.Trusted != trusted || w.listed(t)[0].Trusted != trusted || w.trustChanges != i+1 {
			t.Errorf("trusted %v: %+v after %d changes", trusted, got, w.trustChanges)
		}
		reloaded, err := state.LoadTrust(w.Paths.Trust())
		if err != nil || reloaded.Has(project.Path) != trusted {
			t.Errorf("trusted %v: the file says %v, %v", trusted, !trusted, err)
		}
	}
	dispatchtest.Refused(t, w.local, api.TrustProject, api.TrustProjectRequest{ProjectID: "prj_none", Trusted: true}, api.KindNotFound)
}

// TestAnMCPServerOfAProject: it is listed when its folder is trusted, and only the
// configuration that a person was shown can be allowed.
func TestAnMCPServerOfAProject(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	config := `{"mcpServers":{"docs":{"command":"docs-server"}}}`
	if err := os.WriteFile(filepath.Join(project.Path, ".mcp.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Trust.Set(project.Path, true); err != nil {
		t.Fatal(err)
	}
	list := func() []api.MCPServer {
		return dispatchtest.Call(t, w.local, api.ListMCPServers, api.ListMCPServersRequest{ProjectID: project.ID}).Servers
	}
	servers := list()
	if len(servers) != 1 || servers[0].Name != "docs" {
		t.Fatalf("the servers are %+v", servers)
	}
	decide := func(name, hash string, allow bool) api.DecideMCPServerRequest {
		return api.DecideMCPServerRequest{ProjectID: project.ID, Name: name, Hash: hash, Allow: allow}
	}
	dispatchtest.Refused(t, w.local, api.DecideMCPServer, decide("docs", "another", true), api.KindConflict)
	dispatchtest.Refused(t, w.local, api.DecideMCPServer, decide("none", servers[0].Hash, true), api.KindNotFound)
	manager := w.Connect("device", api.GrantManage)
	dispatchtest.Refused(t, manager, api.DecideMCPServer, decide("docs", servers[0].Hash, true), api.KindNotAllowed)
	dispatchtest.Call(t, w.local, api.DecideMCPServer, decide("docs", servers[0].Hash, true))
	w.expectEvents(t, api.MCPServersChanged{}.EventType())
	allowed := list()
	dispatchtest.Call(t, w.local, api.DecideMCPServer, decide("docs", servers[0].Hash, false))
	if denied := list(); allowed[0].State == servers[0].State || denied[0].State == allowed[0].State {
		t.Errorf("undecided %+v, allowed %+v, denied %+v", servers[0], allowed[0], denied[0])
	}
}

func TestListDirListsFolders(t *testing.T) {
	w := newWorld(t)
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"b/.git", "A", ".hidden", "target"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "target", "to-file": "file", "broken": "none"} {
		if err := os.Symlink(filepath.Join(root, to), filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := dispatchtest.Call(t, w.local, api.ListDir, api.ListDirRequest{Path: root})
	var names []string
	for _, e := range got.Entries {
		name := e.Name
		if e.Git {
			name += " git"
		}
		if e.Hidden {
			name += " hidden"
		}
		names = append(names, name)
	}
	if list, want := strings.Join(names, ", "), ".hidden hidden, A, b git, link, target"; list != want || got.Parent != filepath.Dir(root) || got.Truncated {
		t.Errorf("got %s, want %s; %+v", list, want, got)
	}
	dispatchtest.Refused(t, w.local, api.ListDir, api.ListDirRequest{Path: filepath.Join(root, "none")}, api.KindInvalidPath)
	if top := dispatchtest.Call(t, w.local, api.ListDir, api.ListDirRequest{Path: "/"}); top.Parent != "" {
		t.Errorf("the parent of / is %q", top.Parent)
	}
}

// TestWhoMayChangeServers: only a connection that may run programs anyway decides which
// program a server is. Disabling and deleting need less, enabling and testing as much as
// allowing.
func TestWhoMayChangeServers(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	manager := w.Connect("ent_manager", api.GrantView, api.GrantPrompt, api.GrantManage)
	paired := w.Connect("ent_paired", append(api.AllGrants(), api.GrantRules)...)
	shell := w.Connect("ent_shell", append(api.AllGrants(), api.GrantShell)...)
	for _, projectID := range []string{"", project.ID} {
		save := api.SaveMCPServerRequest{ProjectID: projectID, Name: "docs", Server: api.MCPDraft{Command: "no-such-program"}}
		for _, c := range []*dispatchtest.Client{manager, paired} {
			dispatchtest.Refused(t, c, api.SaveMCPServer, save, api.KindNotAllowed)
		}
		version := dispatchtest.Call(t, shell, api.SaveMCPServer, save).Server.Version
		w.expectEvents(t, api.MCPServersChanged{}.EventType())
		set := api.SetMCPServerEnabledRequest{ProjectID: projectID, Name: "docs"}
		dispatchtest.Call(t, manager, api.SetMCPEnabled, set)
		set.Enabled = true
		dispatchtest.Refused(t, manager, api.SetMCPEnabled, set, api.KindNotAllowed)
		dispatchtest.Call(t, paired, api.SetMCPEnabled, set)
		w.expectEvents(t, api.MCPServersChanged{}.EventType(), api.MCPServersChanged{}.EventType())
		test := api.TestMCPServerRequest{Name: "docs"}
		dispatchtest.Refused(t, manager, api.TestMCPServer, test, api.KindNotAllowed)
		if projectID == "" {
			if got := dispatchtest.Call(t, paired, api.TestMCPServer, test); got.Problem == "" || len(got.Tools) != 0 {
				t.Errorf("a program that is not there: %+v", got)
			}
		}
		dispatchtest.Call(t, manager, api.DeleteMCPServer, api.DeleteMCPServerRequest{ProjectID: projectID, Name: "docs", Version: version})
		w.expectEvents(t, api.MCPServersChanged{}.EventType())
	}
}

// TestHooksOfAProject: they are listed with those of config.toml, and only what a person was
// shown can be allowed, by a client that may loosen what is asked for.
func TestHooksOfAProject(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	settings := `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo more"}]}]}}`
	if err := os.MkdirAll(filepath.Join(project.Path, ".claude"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project.Path, ".claude", "settings.json"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Trust.Set(project.Path, true); err != nil {
		t.Fatal(err)
	}
	list := func() []api.Hook {
		return dispatchtest.Call(t, w.local, api.ListHooks, api.ListHooksRequest{ProjectID: project.ID}).Hooks
	}
	if hooks := dispatchtest.Call(t, w.local, api.ListHooks, api.ListHooksRequest{}).Hooks; len(hooks) != 1 || hooks[0].Name != "own" {
		t.Errorf("of every project: %+v", hooks)
	}
	hooks := list()
	if len(hooks) != 2 || hooks[0].State != api.HookReady || hooks[1].State != api.HookNeedsConsent {
		t.Fatalf("the hooks are %+v", hooks)
	}
	decide := api.DecideHookRequest{ProjectID: project.ID, ID: hooks[1].ID, Hash: hooks[1].Hash, Allow: true}
	test := api.TestHookRequest{ProjectID: project.ID, ID: hooks[1].ID}
	manager := w.Connect("device", api.GrantView, api.GrantManage)
	dispatchtest.Refused(t, manager, api.DecideHook, decide, api.KindNotAllowed)
	dispatchtest.Refused(t, manager, api.TestHook, test, api.KindNotAllowed)
	dispatchtest.Refused(t, w.local, api.TestHook, test, api.KindConflict)
	changed := decide
	changed.Hash = "another"
	dispatchtest.Refused(t, w.local, api.DecideHook, changed, api.KindConflict)
	unknown := decide
	unknown.ID = "none"
	dispatchtest.Refused(t, w.local, api.DecideHook, unknown, api.KindNotFound)
	if got := dispatchtest.Call(t, w.local, api.DecideHook, decide).Hook; got.State != api.HookReady {
		t.Errorf("after it was allowed: %+v", got)
	}
	w.expectEvents(t, api.HooksChanged{}.EventType())
	if run := dispatchtest.Call(t, w.local, api.TestHook, test).Run; run.Outcome != api.HookAdded || run.Text != "more" || list()[1].Last.Outcome != api.HookAdded {
		t.Errorf("a test: %+v", run)
	}
	decide.Allow = false
	if got := dispatchtest.Call(t, manager, api.DecideHook, decide).Hook; got.State != api.HookDenied {
		t.Errorf("after it was denied: %+v", got)
	}
	config := api.DecideHookRequest{ProjectID: project.ID, ID: hooks[0].ID, Hash: "x"}
	dispatchtest.Refused(t, w.local, api.DecideHook, config, api.KindConflict)
}

// TestWhoMayChangeExtensions: adding one decides what runs unasked, which needs shell; removing
// and disabling need less than enabling.
func TestWhoMayChangeExtensions(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	folder := t.TempDir()
	put := func(folder, text string) {
		t.Helper()
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "extension.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(folder, `{"name":"tools"}`)
	put(filepath.Join(project.Path, ".scorel", "extensions", "own"), `{"name":"own"}`)
	if err := w.Trust.Set(project.Path, true); err != nil {
		t.Fatal(err)
	}
	manager := w.Connect("ent_manager", api.GrantView, api.GrantManage)
	paired := w.Connect("ent_paired", append(api.AllGrants(), api.GrantRules)...)
	shell := w.Connect("ent_shell", append(api.AllGrants(), api.GrantShell)...)
	for _, c := range []*dispatchtest.Client{manager, paired} {
		dispatchtest.Refused(t, c, api.FetchExtension, api.FetchExtensionRequest{Source: folder}, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.SaveExtension, api.SaveExtensionRequest{Hash: "x"}, api.KindNotAllowed)
	}
	hash := dispatchtest.Call(t, shell, api.FetchExtension, api.FetchExtensionRequest{Source: folder}).Extension.Hash
	dispatchtest.Call(t, shell, api.SaveExtension, api.SaveExtensionRequest{Hash: hash})
	w.expectEvents(t, api.ExtensionsChanged{}.EventType(), api.SkillsChanged{}.EventType(), api.MCPServersChanged{}.EventType(), api.HooksChanged{}.EventType())
	set := api.SetExtensionEnabledRequest{ProjectID: project.ID, Name: "tools"}
	dispatchtest.Call(t, manager, api.SetExtension, set)
	set.Enabled = true
	dispatchtest.Refused(t, manager, api.SetExtension, set, api.KindNotAllowed)
	dispatchtest.Call(t, paired, api.SetExtension, set)
	listed := dispatchtest.Call(t, manager, api.ListExtensions, api.ListExtensionsRequest{ProjectID: project.ID}).Extensions
	if len(listed) != 2 || listed[0].State != api.ExtensionNeedsConsent || listed[1].State != api.ExtensionEnabled {
		t.Fatalf("listed: %+v", listed)
	}
	decide := api.DecideExtensionRequest{ProjectID: project.ID, Name: "own", Hash: listed[0].Hash, Allow: true}
	dispatchtest.Refused(t, manager, api.DecideExtension, decide, api.KindNotAllowed)
	if got := dispatchtest.Call(t, paired, api.DecideExtension, decide).Extension; got.State != api.ExtensionEnabled {
		t.Errorf("after it was allowed: %+v", got)
	}
	decide.Allow = false
	dispatchtest.Call(t, manager, api.DecideExtension, decide)
	dispatchtest.Call(t, manager, api.DeleteExtension, api.DeleteExtensionRequest{Name: "tools", Hash: hash})
	if left := dispatchtest.Call(t, w.local, api.ListExtensions, api.ListExtensionsRequest{}).Extensions; len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
}
