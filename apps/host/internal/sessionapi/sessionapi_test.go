package sessionapi_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/blobs"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessionapi"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/signing"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/apps/host/internal/transcripts"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// oneModel is a configuration with one model.
type oneModel struct{ model agent.Model }

func (m oneModel) Model(string) (agent.Model, api.Model, error) {
	return m.model, api.Model{Name: "m", Provider: "test", ID: "m-1"}, nil
}
func (oneModel) Find(string, string) string { return "m" }
func (oneModel) Default() string            { return "m" }

// world is a host with requests about sessions, whose model plays steps.
type world struct {
	*dispatchtest.Host
	local   *dispatchtest.Client
	project api.Project
	home    string // of the user whose other agents keep conversations
	disk    *disk
}

// disk stores sessions, and no more entries while it is full.
type disk struct {
	store.Provider
	full atomic.Bool
}

func (d *disk) Create(ctx context.Context, project string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	log, err := d.Provider.Create(ctx, project, header, lines...)
	return diskLog{log, d}, err
}

type diskLog struct {
	store.Log
	disk *disk
}

func (l diskLog) Append(ctx context.Context, lines ...json.RawMessage) error {
	if l.disk.full.Load() {
		return fmt.Errorf("appending: %w", store.ErrFull)
	}
	return l.Log.Append(ctx, lines...)
}

func newWorld(t *testing.T, steps ...modeltest.Step) *world {
	t.Helper()
	w := &world{Host: dispatchtest.New(t), home: t.TempDir()}
	catalog, logs := tool.NewCatalog(tool.Options{}), process.NewLogs(w.Paths.Process())
	budgets, err := state.LoadBudgets(w.Paths.Budgets(), state.Budgets{DayTokens: 5}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w.disk = &disk{Provider: file.New(w.Paths.Sessions(), w.Log)}
	manager, err := sessions.NewManager(t.Context(), w.disk, sessions.Deps{
		Logger: w.Log, Models: oneModel{modeltest.New(steps...)}, System: agent.SystemPrompt, OnSummary: func(api.SessionSummary) {},
		Tools: func(id string) agent.Toolset {
			return sessionTools{catalog.Open(tool.Scope{Session: id, Scratch: w.Paths.Scratch(id)})}
		},
		OnDelete: func(_, id string) { w.Hub.Notify(api.SessionDeleted{ID: id}) }, Project: w.Projects.Get, Processes: logs, Budgets: budgets,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := manager.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Serve(sessionapi.New(sessionapi.Options{
		Logger: w.Log, Budgets: budgets,
		Manager: manager, Hub: w.Hub, Projects: w.Projects, Processes: logs, Blobs: blobs.New(w.Paths.Blobs()),
		Signing: &signing.Signing{Clients: w.Clients, Tokens: w.Tokens}, Scratch: w.Paths.Scratch, RemoteMode: api.ModeAsk,
		Transcripts: transcripts.New(w.home, func(string) string { return "" }, nil),
	}).Endpoints())
	w.local, w.project = w.Local(), w.AddProject()
	return w
}

// sessionTools are the built-in tools.
type sessionTools struct{ *tool.Set }

func (sessionTools) Prepare(context.Context, string, agent.ProjectContext) {}

func (w *world) create(t *testing.T) api.SessionSummary {
	t.Helper()
	request := api.CreateSessionRequest{ProjectID: w.project.ID, ClientKey: rand.Text()}
	return dispatchtest.Call(t, w.local, api.CreateSession, request).Session
}

// await waits for an event of a type.
func (w *world) await(t *testing.T, c *dispatchtest.Client, want string) {
	t.Helper()
	for {
		select {
		case got := <-c.Events:
			if got == want {
				return
			}
		case <-c.Done():
			t.Fatalf("the connection ended before %s", want)
		}
	}
}

// TestASessionFromItsCreationToItsDeletion: a connection that watches it sees the turn, reads
// the log, and learns that the session was deleted.
func TestASessionFromItsCreationToItsDeletion(t *testing.T) {
	w := newWorld(t, modeltest.Say("hello"))
	made := w.create(t)
	watched := dispatchtest.Call(t, w.local, api.ResyncEvents, api.ResyncEventsRequest{SessionID: made.ID})
	if watched.Anchors.Epoch == "" || watched.Session.ID != made.ID {
		t.Errorf("the answer is %+v", watched)
	}
	dispatchtest.Call(t, w.local, api.SendPrompt, api.SendPromptRequest{SessionID: made.ID, ClientKey: "k", Text: "hi"})
	w.await(t, w.local, api.TurnEnded{}.EventType())
	entries := dispatchtest.Call(t, w.local, api.GetEntries, api.GetEntriesRequest{SessionID: made.ID}).Entries
	var texts []string
	for _, e := range entries {
		if m, ok := e.AsMessage(); ok {
			texts = append(texts, m.Message.Content.Plain())
		}
	}
	if !slices.Equal(texts, []string{"hi", "hello"}) {
		t.Errorf("the log holds %q", texts)
	}
	dispatchtest.Call(t, w.local, api.RenameSession, api.RenameSessionRequest{SessionID: made.ID, Name: "greeting"})
	list := dispatchtest.Call(t, w.local, api.ListSessions, api.ListSessionsRequest{ProjectID: w.project.ID}).Sessions
	if len(list) != 1 || list[0].Name != "greeting" {
		t.Errorf("listed %+v", list)
	}
	dispatchtest.Call(t, w.local, api.DeleteSession, api.SessionRequest{SessionID: made.ID})
	w.await(t, w.local, api.SessionDeleted{}.EventType())
	dispatchtest.Refused(t, w.local, api.GetSnapshot, api.SessionRequest{SessionID: made.ID}, api.KindNotFound)
}

// TestUnsubscribeEndsTheEvents: what another connection does is no longer sent.
func TestUnsubscribeEndsTheEvents(t *testing.T) {
	w := newWorld(t, modeltest.Say("one"), modeltest.Say("two"))
	made, watcher := w.create(t), w.Connect("device", api.GrantView)
	dispatchtest.Call(t, watcher, api.ResyncEvents, api.ResyncEventsRequest{SessionID: made.ID})
	dispatchtest.Call(t, w.local, api.ResyncEvents, api.ResyncEventsRequest{SessionID: made.ID})
	turn := func(key string) {
		dispatchtest.Call(t, w.local, api.SendPrompt, api.SendPromptRequest{SessionID: made.ID, ClientKey: key, Text: key})
		w.await(t, w.local, api.TurnEnded{}.EventType())
	}
	turn("first")
	w.await(t, watcher, api.TurnEnded{}.EventType())
	dispatchtest.Call(t, watcher, api.Unsubscribe, api.SessionRequest{SessionID: made.ID})
	turn("second")
	dispatchtest.Call(t, watcher, api.GetSnapshot, api.SessionRequest{SessionID: made.ID}) // everything before it has arrived
	for {
		select {
		case got := <-watcher.Events:
			if got == (api.TurnStarted{}).EventType() || got == (api.TurnEnded{}).EventType() {
				t.Errorf("after its end the subscription sent %s", got)
			}
			continue
		default:
		}
		break
	}
}

// TestRefusedRequests: what the handlers check before they call a session.
func TestRefusedRequests(t *testing.T) {
	w := newWorld(t)
	made := w.create(t)
	device := w.Connect("device", api.GrantView, api.GrantPrompt)
	prompt := func(change func(*api.SendPromptRequest)) api.SendPromptRequest {
		r := api.SendPromptRequest{SessionID: made.ID, ClientKey: "k", Text: "go"}
		change(&r)
		return r
	}
	dispatchtest.Refused(t, device, api.SendPrompt, prompt(func(r *api.SendPromptRequest) { r.AllowAll = true }), api.KindNotAllowed)
	dispatchtest.Refused(t, device, api.SendPrompt, prompt(func(r *api.SendPromptRequest) { r.AllowRules = []string{"bash"} }), api.KindNotAllowed)
	dispatchtest.Refused(t, device, api.SendPrompt, prompt(func(r *api.SendPromptRequest) { r.SessionID = "none" }), api.KindNotFound)
	dispatchtest.Refused(t, w.local, api.VerifySession, api.VerifySessionRequest{SessionID: made.ID, Contains: "not a chain value"}, api.KindBadRequest)
	dispatchtest.Refused(t, w.local, api.GetProcessLog, api.GetProcessLogRequest{ProcessLogRef: "../run/host.json"}, api.KindBadRequest)
	dispatchtest.Refused(t, w.local, api.GetProcessLog, api.GetProcessLogRequest{ProcessLogRef: process.Ref(made.ID, "op_0123456789abcdef")}, api.KindNotFound)
	create := api.CreateSessionRequest{ProjectID: "prj_none", ClientKey: "k"}
	dispatchtest.Refused(t, w.local, api.CreateSession, create, api.KindNotFound)
	if err := os.RemoveAll(w.project.Path); err != nil {
		t.Fatal(err)
	}
	create.ProjectID = w.project.ID
	dispatchtest.Refused(t, w.local, api.CreateSession, create, api.KindInvalidPath)
}

// TestHighestModeOfAConnection: it depends on the grants, and on what the configuration
// allows to connections from elsewhere.
func TestHighestModeOfAConnection(t *testing.T) {
	w := newWorld(t)
	made := w.create(t)
	for mode, fails := range map[api.Mode]bool{api.ModePlan: false, api.ModeAsk: false, api.ModeAuto: true, api.ModeBypass: true} {
		request := api.SetModeRequest{SessionID: made.ID, Mode: mode}
		device := w.Connect("device", api.AllGrants()...)
		if fails {
			dispatchtest.Refused(t, device, api.SetMode, request, api.KindNotAllowed)
		} else {
			dispatchtest.Call(t, device, api.SetMode, request)
		}
		dispatchtest.Call(t, w.local, api.SetMode, request)
	}
}

// TestImport: a session file becomes a session of the named project, or of the project whose
// folder it ran in, and everything else is refused by its path.
func TestImport(t *testing.T) {
	w := newWorld(t)
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	header := func(id, cwd string) string {
		line, err := session.EncodeHeader(session.Header{Version: session.Version, ID: id, Timestamp: "2026-01-02T03:04:05.678Z", Cwd: cwd})
		if err != nil {
			t.Fatal(err)
		}
		return string(line) + "\n"
	}
	for name, projectID := range map[string]string{"by its folder": "", "by the request": w.project.ID} {
		cwd := w.project.Path
		if projectID != "" {
			cwd = "/elsewhere"
		}
		path := write("s.jsonl", header("s"+projectID, cwd))
		got := dispatchtest.Call(t, w.local, api.ImportSession, api.ImportSessionRequest{Path: path, ProjectID: projectID})
		if got.Session.ProjectID != w.project.ID || got.Proof == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for name, c := range map[string]struct {
		request api.ImportSessionRequest
		kind    api.Kind
	}{
		"a relative path":    {api.ImportSessionRequest{Path: "s.jsonl"}, api.KindInvalidPath},
		"no file":            {api.ImportSessionRequest{Path: filepath.Join(t.TempDir(), "none")}, api.KindInvalidPath},
		"a folder":           {api.ImportSessionRequest{Path: t.TempDir()}, api.KindInvalidPath},
		"another format":     {api.ImportSessionRequest{Path: write("notes.txt", "remember the milk\n")}, api.KindBadRequest},
		"an empty file":      {api.ImportSessionRequest{Path: write("empty", "")}, api.KindBadRequest},
		"an unknown folder":  {api.ImportSessionRequest{Path: write("s.jsonl", header("x", "/elsewhere"))}, api.KindNotFound},
		"an unknown project": {api.ImportSessionRequest{Path: write("s.jsonl", header("y", w.project.Path)), ProjectID: "prj_none"}, api.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) { dispatchtest.Refused(t, w.local, api.ImportSession, c.request, c.kind) })
	}
}

// TestSessionThatBeginsWithItsPrompt: both are created together, once, and neither without the
// other.
func TestSessionThatBeginsWithItsPrompt(t *testing.T) {
	w := newWorld(t, modeltest.Say("hello"))
	sessionsOf := func() []api.SessionSummary {
		return dispatchtest.Call(t, w.local, api.ListSessions, api.ListSessionsRequest{ProjectID: w.project.ID}).Sessions
	}
	picture := api.FirstPrompt{Content: []api.PromptBlock{{Type: session.BlockImage, SHA256: strings.Repeat("a", 64)}}} // the model takes none
	request := api.CreateSessionRequest{ProjectID: w.project.ID, ClientKey: "k", Mode: api.ModePlan, Prompt: &picture}
	dispatchtest.Refused(t, w.local, api.CreateSession, request, api.KindBadRequest)
	request.Prompt = &api.FirstPrompt{Text: " "}
	dispatchtest.Refused(t, w.local, api.CreateSession, request, api.KindBadRequest)
	if listed := sessionsOf(); len(listed) != 0 {
		t.Fatalf("after refused prompts there are %+v", listed)
	}

	request.Prompt.Text = "hi"
	device := w.Connect("device", api.GrantView, api.GrantPrompt)
	dispatchtest.Refused(t, device, api.CreateSession, request, api.KindNotAllowed) // its mode
	made := dispatchtest.Call(t, w.local, api.CreateSession, request)
	if made.Prompt == nil || made.Prompt.State != api.PromptTaken || made.Session.Mode != api.ModePlan {
		t.Fatalf("the answer is %+v", made)
	}
	again := dispatchtest.Call(t, w.local, api.CreateSession, request)
	if again.Session.ID != made.Session.ID || again.Prompt == nil || *again.Prompt != *made.Prompt {
		t.Errorf("repeated, the answer is %+v", again)
	}
	request.Prompt, request.Mode = &picture, ""
	if kept := dispatchtest.Call(t, w.local, api.CreateSession, request); kept.Session.ID != made.Session.ID {
		t.Errorf("a known key answers %+v", kept)
	}
	if listed := sessionsOf(); len(listed) != 1 || listed[0].MessageCount == 0 {
		t.Errorf("there are %+v", listed)
	}
}

// TestOnlyARefusedPromptDiscardsItsSession: a session stays if its prompt could not be stored, and
// if another request created it.
func TestOnlyARefusedPromptDiscardsItsSession(t *testing.T) {
	w := newWorld(t, modeltest.Say("hello"))
	listed := func() []api.SessionSummary {
		return dispatchtest.Call(t, w.local, api.ListSessions, api.ListSessionsRequest{ProjectID: w.project.ID}).Sessions
	}
	for name, request := range map[string]api.CreateSessionRequest{
		"prompt": {Prompt: &api.FirstPrompt{Text: "hi"}}, "mode": {Mode: api.ModePlan},
	} {
		request.ProjectID, request.ClientKey = w.project.ID, name
		w.disk.full.Store(true)
		dispatchtest.Refused(t, w.local, api.CreateSession, request, api.KindUnavailable)
		before := listed()
		w.disk.full.Store(false)
		made := dispatchtest.Call(t, w.local, api.CreateSession, request)
		if !slices.ContainsFunc(before, func(s api.SessionSummary) bool { return s.ID == made.Session.ID }) {
			t.Errorf("%s: the retry created another session", name)
		}
	}
	request := api.CreateSessionRequest{ProjectID: w.project.ID, ClientKey: "found"}
	made := dispatchtest.Call(t, w.local, api.CreateSession, request)
	request.Prompt = &api.FirstPrompt{Text: " "}
	dispatchtest.Refused(t, w.local, api.CreateSession, request, api.KindBadRequest)
	if !slices.ContainsFunc(listed(), func(s api.SessionSummary) bool { return s.ID == made.Session.ID }) {
		t.Error("a session that another request created was deleted")
	}
}

func TestBudgets(t *testing.T) {
	w := newWorld(t)
	id := w.create(t).ID
	get := func(r api.GetBudgetsRequest) []api.Budget {
		return dispatchtest.Call(t, w.local, api.GetBudgets, r).Budgets
	}
	if list := get(api.GetBudgetsRequest{SessionID: id}); len(list) != 3 || list[0].ID != id || list[1].ID != w.project.ID || list[2].Tokens != 5 {
		t.Errorf("got %+v", list)
	}
	if list := get(api.GetBudgetsRequest{ProjectID: w.project.ID}); len(list) != 2 {
		t.Errorf("got %+v", list)
	}
	manager := w.Connect("device", api.GrantView, api.GrantManage)
	set := api.SetBudgetRequest{Scope: api.BudgetSession, ID: id, Cost: 2}
	lift := api.LiftBudgetRequest{Scope: api.BudgetProject, ID: w.project.ID}
	dispatchtest.Refused(t, manager, api.SetBudget, set, api.KindNotAllowed)
	dispatchtest.Refused(t, manager, api.LiftBudget, lift, api.KindNotAllowed)
	if b := dispatchtest.Call(t, w.local, api.SetBudget, set).Budget; b.Cost != 2 || b.Source != "budgets.json" {
		t.Errorf("got %+v", b)
	}
	if b := dispatchtest.Call(t, w.local, api.LiftBudget, lift).Budget; !b.Lifted || b.ID != w.project.ID {
		t.Errorf("got %+v", b)
	}
	for kind, bad := range map[api.Kind][]api.SetBudgetRequest{
		api.KindBadRequest: {{Scope: "week"}, {Scope: api.BudgetDay, ID: "x"}, {Scope: api.BudgetDay, Cost: -1}, {Scope: api.BudgetDay, Tokens: -1}, {Scope: api.BudgetDay, Cost: 1, Reset: true}},
		api.KindNotFound:   {{Scope: api.BudgetSession, ID: "none"}, {Scope: api.BudgetProject, ID: "none"}},
	} {
		for _, r := range bad {
			dispatchtest.Refused(t, w.local, api.SetBudget, r, kind)
		}
	}
}
