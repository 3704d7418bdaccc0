package moves

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// newMoves are moves with the records of a home.
func newMoves(t *testing.T, o Options) *Moves {
	t.Helper()
	records, err := Load(o.Paths.Moves())
	if err != nil {
		t.Fatal(err)
	}
	return New(records, o)
}

// confirmed is a target with a move that it has confirmed some time ago.
func confirmed(t *testing.T, ago time.Duration) (*Moves, *move, ident.ID) {
	t.Helper()
	h := dispatchtest.New(t)
	m := newMoves(t, Options{Logger: slog.New(slog.DiscardHandler), Paths: h.Paths, Clients: h.Clients, Projects: h.Projects, Hub: h.Hub})
	client := newDevice(t).ID()
	r := record{
		ID: "mov_1", SessionID: "s", Family: []string{"s"}, Incoming: true, State: api.MovePrepared, Client: client, ConfirmedAt: time.Now().Add(-ago).UnixMilli(),
		Offer: api.MoveOffer{Items: []api.MoveItem{{Kind: api.MoveLog, SessionID: "s", Size: 3}}},
	}
	if err := os.MkdirAll(m.folder(r.ID), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.folder(r.ID), "0"), []byte("log"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, err := m.add(r)
	if err != nil {
		t.Fatal(err)
	}
	return m, one, client
}

// TestASilentSource: what a target has confirmed waits for its source for months. Then the logs
// are kept as files, and the target never takes the session.
func TestASilentSource(t *testing.T) {
	m, one, _ := confirmed(t, toldWithin/2)
	m.target.began = time.Now().Add(-2 * heardAfter)
	m.tidy(t.Context())
	if r := m.of(one); r.State != api.MovePrepared {
		t.Fatalf("after half of the time it is %s", r.State)
	}

	m, one, _ = confirmed(t, 2*toldWithin)
	m.tidy(t.Context())
	if r := m.of(one); r.State != api.MovePrepared {
		t.Fatalf("right after the start of the host it is %s", r.State)
	}
	m.target.began = time.Now().Add(-2 * heardAfter)
	m.tidy(t.Context())
	if r := m.of(one); r.State != api.MoveCanceled || r.Error == "" {
		t.Errorf("it is %+v", r)
	}
	if data, err := os.ReadFile(filepath.Join(m.target.paths.Moved(), "s.jsonl")); err != nil || string(data) != "log" {
		t.Errorf("the copy: %q %v", data, err)
	}
	again := newMoves(t, Options{Logger: slog.New(slog.DiscardHandler), Paths: m.target.paths})
	var refused *api.Error
	if err := again.target.take(t.Context(), again.moves["mov_1"]); !errors.As(err, &refused) || refused.Kind != api.KindBadRequest {
		t.Errorf("after a restart the session can be taken: %v", err)
	}
}

// TestAGivenUpSessionIsTakenBack: a source that comes back after all learns that the target will
// never have the session, and nothing else makes it take the session back.
func TestAGivenUpSessionIsTakenBack(t *testing.T) {
	ask := func(m *Moves, client ident.ID) (bool, error) {
		h := dispatchtest.New(t)
		h.Serve(m.Endpoints())
		return (&peer{client: h.Connect(client.String(), api.GrantMove).Client, moveID: "mov_1"}).commit(t.Context())
	}
	m, one, client := confirmed(t, 2*toldWithin)
	if err := m.target.giveUp(one); err != nil {
		t.Fatal(err)
	}
	if gaveUp, err := ask(m, client); err != nil || !gaveUp {
		t.Errorf("given up: %t %v", gaveUp, err)
	}
	m, one, client = confirmed(t, 0)
	if err := m.change(one, func(r *record) error { r.State = api.MoveSending; return nil }); err != nil {
		t.Fatal(err)
	}
	if gaveUp, err := ask(m, client); err == nil || gaveUp {
		t.Errorf("one that cannot be committed: %t %v", gaveUp, err)
	}
	if gaveUp, err := ask(m, newDevice(t).ID()); err == nil || gaveUp {
		t.Errorf("one of somebody else: %t %v", gaveUp, err)
	}
}

// TestRequestsDoNotWaitForTheDisk: each request of a client asks whether its session moves, also
// while a record is being stored.
func TestRequestsDoNotWaitForTheDisk(t *testing.T) {
	m, one, _ := confirmed(t, 0)
	one.changing.Lock()
	defer one.changing.Unlock()
	if !m.Any() || m.Paused("s") != nil || m.Refusal("s", api.GrantPrompt) != nil {
		t.Error("a session that arrives is refused")
	}
}

// TestWhatMovedAwayHasAProject: clients that are limited to it learn where the session is.
func TestWhatMovedAwayHasAProject(t *testing.T) {
	m := newMoves(t, Options{Paths: state.Paths{Home: t.TempDir()}})
	for id, s := range map[string]api.MoveState{"mov_1": api.MoveDone, "mov_2": api.MoveSending} {
		if err := os.MkdirAll(m.folder(id), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := m.add(record{ID: id, SessionID: string(s), Family: []string{string(s)}, ProjectID: "p", State: s}); err != nil {
			t.Fatal(err)
		}
	}
	if project, moved := m.ProjectOf("done"); project != "p" || !moved {
		t.Errorf("got %s %t", project, moved)
	}
	for _, id := range []string{"sending", "other"} {
		if _, moved := m.ProjectOf(id); moved {
			t.Errorf("%s has moved", id)
		}
	}
}

// TestOnlyMovesAreWatched: a host looks for old moves while it has some, and not before.
func TestOnlyMovesAreWatched(t *testing.T) {
	m, one, _ := confirmed(t, time.Minute)
	select {
	case <-m.added:
	default:
		t.Error("adding a move does not wake the host")
	}
	if got := m.tidyPause(); got != tidyEvery {
		t.Errorf("with a move: %s", got)
	}
	if err := m.change(one, func(r *record) error { r.Incoming, r.State = false, api.MoveDone; return nil }); err != nil {
		t.Fatal(err)
	}
	if got := m.tidyPause(); got != tidyCopiesEvery {
		t.Errorf("with a session that was moved away: %s", got)
	}
	if m.moves = map[string]*move{}; m.tidyPause() != tidyCopiesEvery {
		t.Error("without a move")
	}
}
