package sessions_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// cutProvider ends the context of a request once it has stored its session.
type cutProvider struct {
	store.Provider
	cut    context.CancelFunc // nil ends none
	unread bool               // sessions cannot be read
}

func (p *cutProvider) stored(err error) {
	if err == nil && p.cut != nil {
		p.cut()
	}
}

func (p *cutProvider) Create(ctx context.Context, project string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	log, err := p.Provider.Create(ctx, project, header, lines...)
	p.stored(err)
	return log, err
}

func (p *cutProvider) Import(ctx context.Context, project string, data []byte) error {
	err := p.Provider.Import(ctx, project, data)
	p.stored(err)
	return err
}

func (p *cutProvider) Read(ctx context.Context, id string) (*session.File, error) {
	if p.unread {
		return nil, store.ErrUnavailable
	}
	return p.Provider.Read(ctx, id)
}

// anyModel is a configuration with a model of every name.
type anyModel struct{ oneModel }

func (anyModel) Model(name string) (agent.Model, api.Model, error) {
	return modeltest.New(), api.Model{Name: name, Provider: "test", ID: name}, nil
}
func (anyModel) Find(_, id string) string { return id }

// customs lists the kinds of the custom entries of a session.
func customs(t *testing.T, provider store.Provider, id string) []string {
	t.Helper()
	file, err := provider.Read(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, e := range file.Tree.Entries() {
		if e.Type == session.TypeCustom {
			kinds = append(kinds, e.CustomType)
		}
	}
	return kinds
}

// A request that is cut once its session exists, or whose disk is full from then on, has created
// all of the session: its retry returns it with what was chosen.
func TestACutRequestCreatesAllOfASession(t *testing.T) {
	for name, full := range map[string]bool{"cut": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			f.deps.Mode = api.ModePlan
			f.deps.Models = anyModel{}
			f.deps.Agent = func(_, name string) (sessions.Persona, error) { return sessions.Persona{Name: name}, nil }
			f.deps.Backends = someBackend{}
			disk := newFullProvider(f, "")
			provider := &cutProvider{Provider: disk}
			m, err := sessions.NewManager(t.Context(), provider, f.deps)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = m.Close() })
			disk.full.Store(full)
			for _, r := range []api.CreateSessionRequest{
				{ClientKey: "agent", Model: "large", Agent: "reviewer"}, {ClientKey: "backend", Model: "large", Backend: "other"},
			} {
				ctx, cut := context.WithCancel(t.Context())
				provider.cut = cut
				_, _ = m.Create(ctx, f.project, "cli_x", r)
				provider.cut = nil
				again, err := m.Create(t.Context(), f.project, "cli_x", r)
				if err != nil {
					t.Fatal(err)
				}
				if again.Mode != api.ModePlan || again.Model != "large" || again.Backend != r.Backend {
					t.Errorf("%s: the retry returned mode %q, model %q and backend %q", r.ClientKey, again.Mode, again.Model, again.Backend)
				}
				if kinds := customs(t, disk, again.ID); slices.Contains(kinds, session.CustomAgent) != (r.Agent != "") {
					t.Errorf("%s: the session has %v", r.ClientKey, kinds)
				}
			}
			if list := m.List(""); len(list) != 2 {
				t.Errorf("%d sessions are listed", len(list))
			}
		})
	}
}

// someBackend is a backend with any name that is never started.
type someBackend struct{ sessions.Backends }

func (someBackend) Check(string) error { return nil }

func (someBackend) Forget(string) {}

// The session of a subagent has its limits as soon as it exists.
func TestACutRequestCreatesAllOfASubagent(t *testing.T) {
	f := newFixture(t, modeltest.New())
	disk := newFullProvider(f, "")
	provider := &cutProvider{Provider: disk}
	m, err := sessions.NewManager(t.Context(), provider, f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	parent := f.create(t, m)
	disk.full.Store(true)
	ctx, cut := context.WithCancel(t.Context())
	provider.cut = cut
	spec := sessions.ChildSpec{Key: "kid", Model: "main", Record: session.ChildRecord{Title: "kid", Tools: []string{"read"}}}
	_, _ = m.CreateChild(ctx, parent, spec)
	provider.cut = nil
	kid, err := m.CreateChild(t.Context(), parent, spec)
	if err != nil {
		t.Fatal(err)
	}
	if kinds := customs(t, disk, kid.ID()); !slices.Contains(kinds, session.CustomChild) || !slices.Contains(kinds, session.CustomMode) {
		t.Errorf("the subagent's session has %v", kinds)
	}
	if summary, err := kid.Summary(t.Context()); err != nil || summary.Name != "kid" {
		t.Errorf("it is called %q, %v", summary.Name, err)
	}
}

// A copy whose request is cut once it is stored, or that cannot be read back, exists once: its
// retry finds it, and so does the next start.
func TestACutCopyIsListed(t *testing.T) {
	for name, c := range map[string]struct {
		create func(context.Context, *sessions.Manager, string, api.Project) error
		unread bool
		told   bool // a retry is told that the session exists
	}{
		"fork":             {forked, false, false},
		"fork, unreadable": {forked, true, false},
		"import":           {imported, false, true},
		"transcript":       {transcribed, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, modeltest.New(modeltest.Say("hi")))
			provider := &cutProvider{Provider: file.New(f.dir, f.deps.Logger)}
			m, err := sessions.NewManager(t.Context(), provider, f.deps)
			if err != nil {
				t.Fatal(err)
			}
			s, w := f.create(t, m), newWatcher()
			subscribe(t, s, w)
			send(t, s, "k1", "hello")
			w.wait(func() bool { return w.ended == 1 })
			ctx, cut := context.WithCancel(t.Context())
			provider.cut, provider.unread = cut, c.unread
			_ = c.create(ctx, m, s.ID(), f.project)
			provider.cut, provider.unread = nil, false
			if err := c.create(t.Context(), m, s.ID(), f.project); (err != nil) != c.told || c.told && kindOf(err) != api.KindConflict {
				t.Errorf("the retry: %v", err)
			}
			if list := m.List(""); len(list) != 2 {
				t.Errorf("%d sessions are listed", len(list))
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if list := f.manager(t).List(""); len(list) != 2 {
				t.Errorf("after a restart %d sessions are listed", len(list))
			}
		})
	}
}

func forked(ctx context.Context, m *sessions.Manager, id string, _ api.Project) error {
	_, err := m.Fork(ctx, api.ForkSessionRequest{SessionID: id, ClientKey: "fork"})
	return err
}

func imported(ctx context.Context, m *sessions.Manager, _ string, project api.Project) error {
	_, err := m.Import(ctx, project.ID, "s-1", []byte(`{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/x"}`+"\n"))
	return err
}

func transcribed(ctx context.Context, m *sessions.Manager, _ string, project api.Project) error {
	_, _, err := m.ImportTranscript(ctx, project.ID, "cli_x", sessions.Transcript{
		Header: session.Header{Type: session.TypeSession, Version: session.Version, ID: "t-1", Timestamp: "2026-01-02T03:04:05.678Z", Cwd: project.Path},
		Record: session.ImportRecord{Source: "other", SessionID: "1"},
	})
	return err
}

// slowProvider waits in Create once it is slow.
type slowProvider struct {
	store.Provider
	slow           atomic.Bool
	creating, goOn chan struct{}
}

func (p *slowProvider) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	if p.slow.Load() {
		close(p.creating)
		<-p.goOn
	}
	return p.Provider.Create(ctx, projectID, header, lines...)
}

// While a slow store creates a session, the lists and other sessions work on.
func TestASlowStoreHoldsUpNoOtherSession(t *testing.T) {
	f := newFixture(t, modeltest.New())
	provider := &slowProvider{Provider: file.New(f.dir, f.deps.Logger), creating: make(chan struct{}), goOn: make(chan struct{})}
	m, err := sessions.NewManager(t.Context(), provider, f.deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	other := f.create(t, m)
	provider.slow.Store(true)
	created := make(chan error, 1)
	go func() {
		_, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: "slow"})
		created <- err
	}()
	<-provider.creating
	if err := other.Rename(t.Context(), "cli_x", "renamed meanwhile"); err != nil {
		t.Error(err)
	}
	if list := m.List(""); len(list) != 1 || list[0].Name != "renamed meanwhile" {
		t.Errorf("the list has %+v", list)
	}
	close(provider.goOn)
	if err := <-created; err != nil {
		t.Error(err)
	}
	if list := m.List(""); len(list) != 2 {
		t.Errorf("%d sessions at the end", len(list))
	}
}
