package agents_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agents"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/projectcontext"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
)

// world is a host with requests about agents, in the home of a user without agents.
type world struct {
	*dispatchtest.Host
	*agents.Agents
	local  *dispatchtest.Client
	models *knownModels
}

// knownModels are the models of now.
type knownModels struct{ names []string }

func (m *knownModels) Known(name string) bool { return slices.Contains(m.names, name) }
func (m *knownModels) Default() string        { return m.names[0] }

func newWorld(t *testing.T, config string) (*world, error) {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	w := &world{Host: dispatchtest.New(t), models: &knownModels{[]string{"demo"}}}
	w.configure(t, config)
	read := func() (state.Config, error) {
		return state.LoadConfig(w.Host.Paths.Config(), func(string) string { return "" })
	}
	loaded, err := read()
	if err != nil {
		t.Fatal(err)
	}
	w.Agents, err = agents.New(agents.Options{
		Logger: w.Log, Paths: w.Host.Paths, Config: loaded, Reload: read, Projects: w.Host.Projects, Trust: w.Host.Trust, Hub: w.Host.Hub,
		Context: &projectcontext.Source{Paths: w.Host.Paths, Trust: w.Host.Trust}, Catalog: tool.NewCatalog(tool.Options{}), Models: w.models,
	})
	if err == nil {
		w.Serve(w.Endpoints())
		w.local = w.Local()
	}
	return w, err
}

func mustWorld(t *testing.T, config string) *world {
	t.Helper()
	w, err := newWorld(t, config)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) configure(t *testing.T, config string) {
	t.Helper()
	if err := os.WriteFile(w.Host.Paths.Config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (w *world) list(t *testing.T, projectID string) api.ListAgentsResponse {
	t.Helper()
	return dispatchtest.Call(t, w.local, api.ListAgents, api.ListAgentsRequest{ProjectID: projectID})
}

func find(list []api.AgentInfo, name string) (api.AgentInfo, bool) {
	i := slices.IndexFunc(list, func(a api.AgentInfo) bool { return a.Name == name })
	if i < 0 {
		return api.AgentInfo{}, false
	}
	return list[i], true
}

// TestNamesInTheConfigurationMustExist: an error names the setting and what is like it.
func TestNamesInTheConfigurationMustExist(t *testing.T) {
	for config, want := range map[string]string{
		"[crew]\ntools = [\"read_fil\"]\n":                 `did you mean "read_file"`,
		"[crew]\npresets = [\"explore\", \"generall\"]\n":  `did you mean "general"`,
		"[crew.agents.nothing-like-it]\nenabled = false\n": "scorel agent list",
		"[crew.agents.explore]\ntools = [\"fly\"]\n":       "crew.agents.explore.tools",
	} {
		_, err := newWorld(t, config)
		var misconfigured *state.ConfigError
		if !errors.As(err, &misconfigured) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", config, err, want)
		}
	}
	mustWorld(t, "[crew]\ntools = [\"mcp__docs__search\", \"read_file\"]\n") // which tools a server has is known only once it runs
}

// TestAgentsNameModelsOfNow: a saved key can change the models without a restart.
func TestAgentsNameModelsOfNow(t *testing.T) {
	w := mustWorld(t, "")
	draft := api.AgentDraft{Description: "Reads", Model: "claude", Enabled: true, Prompt: "You read."}
	save := api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: draft}
	dispatchtest.Refused(t, w.local, api.SaveAgent, save, api.KindBadRequest)
	w.models.names = []string{"claude"}
	dispatchtest.Call(t, w.local, api.SaveAgent, save)
	preview := api.PreviewAgentRequest{Name: "explore"}
	if got := dispatchtest.Call(t, w.local, api.PreviewAgent, preview).Model; got != "claude" {
		t.Errorf("an agent without a model gets %q", got)
	}
	if notes := w.list(t, "").Notes; len(notes) != 0 {
		t.Errorf("notes: %q", notes)
	}
	w.models.names = []string{"demo"}
	if notes := w.list(t, "").Notes; len(notes) != 1 || !strings.Contains(notes[0], "claude") {
		t.Errorf("notes without the model: %q", notes)
	}
}

// TestAnAgentIsSavedChangedAndDeleted: each change needs the version that was read, and the
// clients are notified of it.
func TestAnAgentIsSavedChangedAndDeleted(t *testing.T) {
	w := mustWorld(t, "")
	draft := api.AgentDraft{Description: "Reads\nfiles", Tools: []string{"read_file"}, Enabled: true, Prompt: "You read."}
	save := api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: draft}
	saved := dispatchtest.Call(t, w.local, api.SaveAgent, save).Agent
	if got := <-w.local.Events; got != (api.AgentsChanged{}).EventType() {
		t.Errorf("the clients were sent %s", got)
	}
	if saved.Version == "" || saved.Description != "Reads files" || saved.Path != filepath.Join(w.Host.Paths.Home, "agents", "reader.md") {
		t.Errorf("saved %+v", saved)
	}
	dispatchtest.Refused(t, w.local, api.SaveAgent, save, api.KindConflict) // no version: it exists
	save.Version, save.Agent.Prompt = saved.Version, "You read slowly."
	changed := dispatchtest.Call(t, w.local, api.SaveAgent, save).Agent
	dispatchtest.Refused(t, w.local, api.SaveAgent, save, api.KindConflict) // the version before
	if got, ok := find(w.list(t, "").Agents, "reader"); !ok || got.Prompt != "You read slowly." || got.Version != changed.Version || !got.Offered {
		t.Errorf("listed %+v", got)
	}
	remove := api.DeleteAgentRequest{Scope: api.AgentUser, Name: "reader", Version: saved.Version}
	dispatchtest.Refused(t, w.local, api.DeleteAgent, remove, api.KindConflict)
	remove.Version = changed.Version
	dispatchtest.Call(t, w.local, api.DeleteAgent, remove)
	if _, ok := find(w.list(t, "").Agents, "reader"); ok {
		t.Error("a deleted agent is listed")
	}
	dispatchtest.Refused(t, w.local, api.DeleteAgent, remove, api.KindNotFound)
}

func TestRefusedAgents(t *testing.T) {
	w := mustWorld(t, "")
	project := w.AddProject()
	for name, c := range map[string]struct {
		change func(*api.SaveAgentRequest)
		kind   api.Kind
	}{
		"a name with a path":       {func(r *api.SaveAgentRequest) { r.Name = "../reader" }, api.KindBadRequest},
		"an unknown scope":         {func(r *api.SaveAgentRequest) { r.Scope = "galaxy" }, api.KindBadRequest},
		"an unknown project":       {func(r *api.SaveAgentRequest) { r.Scope, r.ProjectID = api.AgentProject, "prj_none" }, api.KindNotFound},
		"a folder without trust":   {func(r *api.SaveAgentRequest) { r.Scope, r.ProjectID = api.AgentProject, project.ID }, api.KindNotAllowed},
		"an unknown tool":          {func(r *api.SaveAgentRequest) { r.Agent.Tools = []string{"fly"} }, api.KindBadRequest},
		"an unknown model":         {func(r *api.SaveAgentRequest) { r.Agent.Model = "none" }, api.KindBadRequest},
		"an unknown subagent":      {func(r *api.SaveAgentRequest) { r.Agent.Subagents = []string{"stranger"} }, api.KindBadRequest},
		"a version without a file": {func(r *api.SaveAgentRequest) { r.Version = "1" }, api.KindConflict},
	} {
		r := api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: api.AgentDraft{Description: "Reads", Enabled: true}}
		c.change(&r)
		t.Run(name, func(t *testing.T) { dispatchtest.Refused(t, w.local, api.SaveAgent, r, c.kind) })
	}
	if _, ok := find(w.list(t, project.ID).Agents, "reader"); ok {
		t.Error("a refused agent is listed")
	}
}

// TestLimitsFollowTheConfiguration: a change applies at the next listing. A file that cannot
// be used is reported, and the limits stay as they were.
func TestLimitsFollowTheConfiguration(t *testing.T) {
	w := mustWorld(t, "")
	for _, step := range []struct {
		config  string
		offered bool
		note    string
	}{
		{"", true, ""},
		{"[crew]\nenabled = false\n", false, ""},
		{"[crew]\nenabled = maybe\n", false, "The previous limits of agents stay in effect."},
		{"[crew]\npresets = [\"none-of-these\"]\n", false, "none-of-these"},
		{"[crew]\npresets = [\"explore\"]\n", true, ""},
	} {
		w.configure(t, step.config)
		got := w.list(t, "")
		explore, _ := find(got.Agents, "explore")
		if notes := strings.Join(got.Notes, "\n"); explore.Offered != step.offered || (step.note == "") != (notes == "") || !strings.Contains(notes, step.note) {
			t.Errorf("%q: offered %v, notes %q", step.config, explore.Offered, notes)
		}
	}
}

// TestAnAgentThatTheConfigurationNamesStays: without it the host would not start again.
func TestAnAgentThatTheConfigurationNamesStays(t *testing.T) {
	w := mustWorld(t, "")
	draft := api.AgentDraft{Description: "Reads", Enabled: true}
	saved := dispatchtest.Call(t, w.local, api.SaveAgent, api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: draft}).Agent
	for _, config := range []string{"[crew]\npresets = [\"reader\"]\n", "[crew.agents.reader]\nmax_concurrent = 1\n"} {
		w.configure(t, config)
		dispatchtest.Refused(t, w.local, api.DeleteAgent, api.DeleteAgentRequest{Scope: api.AgentUser, Name: "reader", Version: saved.Version}, api.KindConflict)
	}
}

// TestPersonaAndPreview: a session that runs as an agent has its prompt and its tools, and
// the preview shows both.
func TestPersonaAndPreview(t *testing.T) {
	w := mustWorld(t, "")
	draft := api.AgentDraft{Description: "Reads", Tools: []string{"read_file"}, MaxTurns: 5, Enabled: true, Prompt: "You only read."}
	saved := dispatchtest.Call(t, w.local, api.SaveAgent, api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: draft}).Agent
	folder := t.TempDir()
	persona, err := w.Persona(folder, "reader")
	if err != nil || persona.Name != "reader" || persona.MaxTurns != 5 || !strings.Contains(persona.Prompt, "You only read.") || !slices.Equal(persona.Limits.Tools, draft.Tools) {
		t.Errorf("the persona is %+v, %v", persona, err)
	}
	preview := dispatchtest.Call(t, w.local, api.PreviewAgent, api.PreviewAgentRequest{Name: "reader", Session: true})
	if !slices.Equal(preview.Tools, draft.Tools) || !strings.Contains(preview.Prompt, "You only read.") || preview.MaxTurns != 5 {
		t.Errorf("the preview is %+v", preview)
	}
	dispatchtest.Refused(t, w.local, api.PreviewAgent, api.PreviewAgentRequest{Name: "none"}, api.KindNotFound)
	draft.Enabled = false
	dispatchtest.Call(t, w.local, api.SaveAgent, api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Version: saved.Version, Agent: draft})
	for name, kind := range map[string]api.Kind{"reader": api.KindConflict, "none": api.KindNotFound} {
		_, err := w.Persona(folder, name)
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Kind != kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}
