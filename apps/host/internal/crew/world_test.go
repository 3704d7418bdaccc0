package crew_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/crew"
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/preset"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// casting is a model that plays a part of its own in each conversation, which the
// first message of the user names.
type casting map[string]agent.Model

func (c casting) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	part, ok := c[req.Messages[0].Content.Plain()]
	if !ok {
		return session.Message{Role: session.RoleAssistant, StopReason: session.StopError, ErrorMessage: "nobody plays this"}
	}
	return part.Stream(ctx, req, emit)
}

func (c casting) Model(name string) (agent.Model, api.Model, error) {
	if name != "main" {
		return nil, api.Model{}, api.Errorf(api.KindUnknownModel, "no model %s", name)
	}
	return c, api.Model{Name: "main", Provider: "test", ID: "test-1"}, nil
}
func (casting) Find(string, string) string { return "main" }
func (casting) Default() string            { return "main" }

// meeting plays its part once the other one has come too.
type meeting struct {
	agent.Model
	here, there chan struct{}
	came        sync.Once
}

func (m *meeting) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	m.came.Do(func() { close(m.here) })
	select {
	case <-m.there:
	case <-ctx.Done():
	}
	return m.Model.Stream(ctx, req, emit)
}

// kit is the tools of a session, as a host puts them together.
type kit struct {
	*tool.Set
	team   *crew.Team
	skills []session.SkillInfo
}

func (k kit) Prepare(_ context.Context, cwd string, _ agent.Ground) {
	k.UseSkills(session.Skills{Skills: k.skills})
	k.UseAgents(k.team.Prepare(cwd))
}

// rules is what a host knows of what is allowed.
type rules struct {
	tools gate.Tools
	world *world
}

func (r rules) Policy(project api.Project, _ string) gate.Policy {
	deny := r.world.denied.Load()
	if deny == nil {
		return gate.Policy{Dir: project.Path}
	}
	return gate.Policy{Rules: gate.Rules{Deny: *deny}, Dir: project.Path}
}
func (r rules) Tools() gate.Tools          { return r.tools }
func (rules) Allow(string, []string) error { return nil }

// world is a home with sessions.
type world struct {
	dir, scratch string
	project      api.Project
	deny         []string
	denied       atomic.Pointer[[]gate.Rule]
	skills       []session.SkillInfo
	limits       crew.Limits
	presets      []preset.Agent // besides those that are built in
	cast         casting
}

func newWorld(t *testing.T, cast casting) *world {
	t.Helper()
	return &world{
		dir: t.TempDir(), scratch: t.TempDir(), cast: cast,
		project: api.Project{ID: "prj_1", Name: "demo", Path: t.TempDir()},
		limits:  crew.Limits{Enabled: true, MaxConcurrent: 3},
	}
}

func (w *world) manager(t *testing.T) *sessions.Manager {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	catalog := tool.NewCatalog(tool.Options{Memory: w.scratch + "/memory"})
	allowed := rules{tools: gate.Tools{}, world: w}
	for _, d := range catalog.Definitions() {
		allowed.tools[d.Spec.Name] = d.Subject
	}
	w.denyNow(t, allowed.tools, w.deny...)
	others := crew.New(crew.Options{Limits: w.limits, Logger: log, Find: func(string) preset.Found {
		return preset.Found{Agents: append(preset.Builtin(), w.presets...)}
	}})
	m, err := sessions.NewManager(t.Context(), file.New(w.dir, log), sessions.Deps{
		Logger: log, Models: w.cast, Permissions: allowed,
		Tools: func(id string) agent.Toolset {
			team := others.Team(id)
			return kit{catalog.Open(tool.Scope{Scratch: w.scratch + "/" + id, Crew: team}), team, w.skills}
		},
		System: agent.SystemPrompt, OnSummary: func(api.SessionSummary) {}, OnDelete: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	others.Attach(m)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// denyNow lets rules hold from now on, and no others.
func (w *world) denyNow(t *testing.T, tools gate.Tools, texts ...string) {
	t.Helper()
	deny, err := gate.ParseRules(texts, tools)
	if err != nil {
		t.Fatal(err)
	}
	w.denied.Store(&deny)
}

// begin makes a session with somebody who watches it.
func (w *world) begin(t *testing.T, m *sessions.Manager) (*sessions.Session, *watcher) {
	t.Helper()
	summary, err := m.Create(t.Context(), w.project, "cli_x", "key-"+t.Name(), "")
	if err != nil {
		t.Fatal(err)
	}
	return open(t, m, summary.ID)
}

func open(t *testing.T, m *sessions.Manager, id string) (*sessions.Session, *watcher) {
	t.Helper()
	s, err := m.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	watch := newWatcher()
	if err := s.Resync(t.Context(), api.Anchors{}, watch, api.AllGrants(), watch.take); err != nil {
		t.Fatal(err)
	}
	return s, watch
}

func ask(t *testing.T, s *sessions.Session, request api.SendPromptRequest) {
	t.Helper()
	request.ClientKey = "k-" + request.Text
	if _, err := s.SendPrompt(t.Context(), "cli_x", request); err != nil {
		t.Fatal(err)
	}
}

// watcher is an entry that projects what it is told.
type watcher struct {
	mu      sync.Mutex
	cond    *sync.Cond
	entries []session.Entry
	live    api.Live
	ended   []api.TurnEnded
	most    int // agents that worked at once
	states  []string
}

func newWatcher() *watcher {
	w := &watcher{live: api.NewLive()}
	w.cond = sync.NewCond(&w.mu)
	return w
}

func (w *watcher) take(r api.ResyncEventsResponse) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entries, w.live = append([]session.Entry{}, r.Entries...), r.Live
}

func (w *watcher) Deliver(envelope api.EventEnvelope, _ []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live.Apply(envelope.Event)
	switch e := envelope.Event.(type) {
	case api.EntryAppended:
		w.entries = append(w.entries, e.Entry)
	case api.TurnEnded:
		w.ended = append(w.ended, e)
	case api.CrewUpdated:
		w.states = append(w.states, fmt.Sprintf("%d %s", e.Index, e.Child.State))
	}
	running := 0
	for _, batch := range w.live.Crew {
		for _, child := range batch.Children {
			if child.State == session.ChildRunning {
				running++
			}
		}
	}
	w.most = max(w.most, running)
	w.cond.Broadcast()
}

func (w *watcher) wait(until func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !until() {
		w.cond.Wait()
	}
}

// waitEnd waits for the end of the n-th turn that ends from now on.
func (w *watcher) waitEnd(n int) { w.wait(func() bool { return len(w.ended) >= n }) }

// child waits for the first agent of the first batch that ok accepts.
func (w *watcher) child(ok func(api.CrewChild) bool) (child api.CrewChild) {
	w.wait(func() bool {
		for _, batch := range w.live.Crew {
			if i := slices.IndexFunc(batch.Children, ok); i >= 0 {
				child = batch.Children[i]
				return true
			}
		}
		return false
	})
	return child
}

// messages are those of the log that have a role.
func (w *watcher) messages(role session.Role) []session.Message {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []session.Message
	for _, entry := range w.entries {
		if m, ok := entry.AsMessage(); ok && m.Message.Role == role {
			all = append(all, m.Message)
		}
	}
	return all
}

// records decodes the custom entries of a type.
func records[T any](t *testing.T, w *watcher, customType string) []T {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []T
	for _, entry := range w.entries {
		if custom, ok := entry.AsCustom(); ok && custom.CustomType == customType {
			var record T
			if err := json.Unmarshal(custom.Data, &record); err != nil {
				t.Fatal(err)
			}
			all = append(all, record)
		}
	}
	return all
}

// oneResult returns the result of a call, which has exactly one.
func oneResult(t *testing.T, w *watcher, callID string) session.Message {
	t.Helper()
	results := slices.DeleteFunc(w.messages(session.RoleToolResult), func(m session.Message) bool { return m.ToolCallID != callID })
	if len(results) != 1 {
		t.Fatalf("the call %s has %d results", callID, len(results))
	}
	return results[0]
}

// delegate is a call that gives one task to the agent general.
func delegate(id, task string) session.Block {
	return modeltest.Call(id, "delegate_task", fmt.Sprintf(`{"agent":"general","title":%q,"prompt":%q}`, "Do "+task, task))
}

// parallel is a call that gives several.
func parallel(id string, tasks ...string) session.Block {
	var list []string
	for _, task := range tasks {
		list = append(list, fmt.Sprintf(`{"agent":"general","prompt":%q}`, task))
	}
	return modeltest.Call(id, "delegate_parallel", `{"tasks":[`+strings.Join(list, ",")+`]}`)
}
