package subagent_test

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
	"github.com/scorel/scorel/apps/host/internal/agentdef"
	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/subagent"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// casting is a model that plays a different part in each conversation, chosen by the user's
// first message.
type casting map[string]agent.Model

func (c casting) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	part, ok := c[req.Messages[0].Content.Plain()]
	if !ok {
		return session.Message{Role: session.RoleAssistant, StopReason: session.StopError, ErrorMessage: "no step is scripted"}
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

// meeting plays its part once the other one has arrived too.
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

// kit is the tools of a session, assembled as a host does.
type kit struct {
	*tool.Set
	team   *subagent.Team
	skills []session.SkillInfo
}

func (k kit) Prepare(_ context.Context, cwd string, _ agent.ProjectContext) {
	k.UseSkills(session.Skills{Skills: k.skills})
	k.UseAgents(k.team.Prepare(cwd, nil))
}

// rules are the permission rules of a host.
type rules struct {
	tools permission.Tools
	world *world
}

func (r rules) Policy(project api.Project, _ string) permission.Policy {
	deny := r.world.denied.Load()
	if deny == nil {
		return permission.Policy{Dir: project.Path}
	}
	return permission.Policy{Rules: permission.Rules{Deny: *deny}, Dir: project.Path}
}
func (r rules) Tools() permission.Tools    { return r.tools }
func (rules) Allow(string, []string) error { return nil }

// world is a home with sessions.
type world struct {
	dir, scratch string
	project      api.Project
	deny         []string
	denied       atomic.Pointer[[]permission.Rule]
	skills       []session.SkillInfo
	limits       subagent.Limits
	custom       []agentdef.Agent // in addition to the built-in ones
	cast         casting
	backends     *backend.Backends // programs of other vendors; nil for none
}

func newWorld(t *testing.T, cast casting) *world {
	t.Helper()
	return &world{
		dir: t.TempDir(), scratch: t.TempDir(), cast: cast,
		project: api.Project{ID: "prj_1", Name: "demo", Path: t.TempDir()},
		limits:  subagent.Limits{Enabled: true, MaxConcurrent: 3},
	}
}

func (w *world) manager(t *testing.T) *sessions.Manager {
	t.Helper()
	return w.managerWith(t, func(*sessions.Deps) {})
}

// managerWith is manager with other dependencies.
func (w *world) managerWith(t *testing.T, change func(*sessions.Deps)) *sessions.Manager {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	catalog := tool.NewCatalog(tool.Options{Memory: memory.New(w.scratch+"/memory", nil)})
	allowed := rules{tools: permission.Tools{}, world: w}
	for _, d := range catalog.Definitions() {
		allowed.tools[d.Spec.Name] = d.Subject
	}
	w.denyNow(t, allowed.tools, w.deny...)
	others := subagent.New(subagent.Options{Limits: func() subagent.Limits { return w.limits }, Logger: log, Find: func(string) agentdef.Found {
		return agentdef.Found{Agents: append(agentdef.Builtin(), w.custom...)}
	}})
	deps := sessions.Deps{
		Logger: log, Models: w.cast, Permissions: allowed,
		Tools: func(id string) agent.Toolset {
			team := others.Team(id)
			return kit{catalog.Open(tool.Scope{Scratch: w.scratch + "/" + id, Subagents: team}), team, w.skills}
		},
		Backends: w.programs(), System: agent.SystemPrompt, OnSummary: func(api.SessionSummary) {}, OnDelete: func(string, string) {},
	}
	change(&deps)
	m, err := sessions.NewManager(t.Context(), file.New(w.dir, log), deps)
	if err != nil {
		t.Fatal(err)
	}
	others.Attach(m)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// programs returns the backends as sessions use them.
func (w *world) programs() sessions.Backends {
	if w.backends == nil {
		return nil
	}
	return w.backends
}

// denyNow replaces all rules with these deny rules.
func (w *world) denyNow(t *testing.T, tools permission.Tools, texts ...string) {
	t.Helper()
	deny, err := permission.ParseRules(texts, tools)
	if err != nil {
		t.Fatal(err)
	}
	w.denied.Store(&deny)
}

// begin creates a session with a watcher.
func (w *world) begin(t *testing.T, m *sessions.Manager) (*sessions.Session, *watcher) {
	t.Helper()
	summary, err := m.Create(t.Context(), w.project, "cli_x", api.CreateSessionRequest{ClientKey: "key-" + t.Name()})
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

// watcher is an entry that projects the events it receives.
type watcher struct {
	mu        sync.Mutex
	cond      *sync.Cond
	entries   []session.Entry
	live      api.Live
	ended     []api.TurnEnded
	subagents []api.SubagentEnded
	most      int // most agents running at once
	states    []string
	decided   []api.ApprovalDecision // as of the last update of a child
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

func (*watcher) Away() bool { return false }

func (*watcher) May(api.Grant) bool { return true }

func (w *watcher) Deliver(envelope api.EventEnvelope, _ []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.live.Apply(envelope.Event)
	switch e := envelope.Event.(type) {
	case api.EntryAppended:
		w.entries = append(w.entries, e.Entry)
	case api.TurnEnded:
		w.ended = append(w.ended, e)
	case api.SubagentEnded:
		w.subagents = append(w.subagents, e)
	case api.SubagentUpdated:
		w.states = append(w.states, fmt.Sprintf("%d %s", e.Index, e.Child.State))
		w.decided = e.Child.Decided
	}
	running := 0
	for _, batch := range w.live.Subagents {
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
func (w *watcher) child(ok func(api.SubagentChild) bool) (child api.SubagentChild) {
	w.wait(func() bool {
		for _, batch := range w.live.Subagents {
			if i := slices.IndexFunc(batch.Children, ok); i >= 0 {
				child = batch.Children[i]
				return true
			}
		}
		return false
	})
	return child
}

// messages returns the messages of the log that have a role.
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

// lastSubagents returns the last record about the subagents of a call, which is the valid
// one.
func lastSubagents(t *testing.T, w *watcher) session.SubagentRecord {
	t.Helper()
	all := records[session.SubagentRecord](t, w, session.CustomSubagents)
	if len(all) == 0 {
		t.Fatal("there is no record of the subagents")
	}
	return all[len(all)-1]
}

// oneResult returns the result of a call, which must have exactly one.
func oneResult(t *testing.T, w *watcher, callID string) session.Message {
	t.Helper()
	results := slices.DeleteFunc(w.messages(session.RoleToolResult), func(m session.Message) bool { return m.ToolCallID != callID })
	if len(results) != 1 {
		t.Fatalf("the call %s has %d results", callID, len(results))
	}
	return results[0]
}

// delegate returns a call that gives one task to the agent general.
func delegate(id, task string) session.Block {
	return modeltest.Call(id, "delegate_task", fmt.Sprintf(`{"agent":"general","title":%q,"prompt":%q}`, "Do "+task, task))
}

// parallel returns a call that gives several tasks.
func parallel(id string, tasks ...string) session.Block {
	var list []string
	for _, task := range tasks {
		list = append(list, fmt.Sprintf(`{"agent":"general","prompt":%q}`, task))
	}
	return modeltest.Call(id, "delegate_parallel", `{"tasks":[`+strings.Join(list, ",")+`]}`)
}
