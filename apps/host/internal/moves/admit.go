package moves

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxIncoming bounds the moves that a host expects at once.
const maxIncoming = 8

// admission decides which sessions the host expects, and whose sources are clients for that.
type admission struct {
	records  *Records
	sessions *sessions.Manager
	paths    state.Paths
	clients  *state.Clients
	projects *state.Projects
	refresh  func(ident.ID)
	remove   func(context.Context, ident.ID) error
	logger   *slog.Logger

	// deciding is held while it is decided whether a move is expected, and while its source
	// becomes or stops being a client.
	deciding sync.Mutex
}

// expect registers an incoming move. One that is known already changes nothing.
func (a *admission) expect(r record) error {
	a.deciding.Lock()
	defer a.deciding.Unlock()
	if one, known := a.records.get(r.ID); known {
		before := a.records.of(one)
		if !before.Incoming || !reflect.DeepEqual(before.Offer, r.Offer) {
			return api.Errorf(api.KindConflict, "this host knows another move with that id")
		}
		if before.ended() {
			return nil
		}
		return a.admitClient(r) // the host may have been killed before
	}
	if _, err := a.projects.Find(r.ProjectID); err != nil { // it may have been removed in the meantime
		return err
	}
	if err := a.checkRoom(r); err != nil {
		return err
	}
	return a.admit(r)
}

// whileUnexpected calls do unless a session is about to arrive in the project. Until do
// returns, no such move is accepted.
func (a *admission) whileUnexpected(projectID string, do func() error) error {
	a.deciding.Lock()
	defer a.deciding.Unlock()
	for _, one := range a.records.all() {
		if r := a.records.of(one); r.Incoming && !r.ended() && r.ProjectID == projectID {
			return api.Errorf(api.KindProjectInUse, "a session is being moved to the project: wait until it has arrived, or cancel its move")
		}
	}
	return do()
}

// checkRoom refuses a session that this host has already, and one for which there is no space.
func (a *admission) checkRoom(r record) error {
	for _, one := range a.records.all() {
		other := a.records.of(one)
		if !other.Incoming && other.active() && slices.Contains(other.Family, r.SessionID) { // what is removed late must not be the session that returns
			return api.Errorf(api.KindUnavailable, "this host has not finished moving that session away: try again in a moment")
		}
	}
	for _, id := range r.Family {
		if _, exists := a.sessions.ProjectOf(id); exists {
			return api.Errorf(api.KindConflict, "this host has a session with the id %s already: delete it first", id)
		}
	}
	incoming := 0
	for _, one := range a.records.all() {
		other := a.records.of(one)
		if !other.Incoming || other.ended() {
			continue
		}
		incoming++
		if slices.Contains(other.Family, r.SessionID) {
			return api.Errorf(api.KindConflict, "this host already expects that session: cancel the other move first")
		}
	}
	if incoming >= maxIncoming {
		return api.Errorf(api.KindUnavailable, "this host already expects %d sessions: wait until they have arrived, or cancel some", incoming)
	}
	// The data is stored twice for a moment, and the disk must not be full then.
	if free, known := freeSpace(a.paths.Home); known && free < 2*uint64(r.total())+reserve {
		return api.Errorf(api.KindUnavailable, "the other machine has not enough free space: the move needs %d MiB there", (2*r.total()+reserve)>>20)
	}
	return nil
}

// reserve is what must remain free on the disk.
const reserve = 64 << 20

// admit makes the source a client for this move, and registers it.
func (a *admission) admit(r record) error {
	if err := a.checkClient(r); err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(a.records.folder(r.ID), 0o700); err != nil {
		return fmt.Errorf("moves: creating a folder: %w", err)
	}
	if _, err := a.records.add(r); err != nil {
		return err
	}
	return a.admitClient(r)
}

// checkClient refuses keys that belong to another client.
func (a *admission) checkClient(r record) error {
	client, known := a.clients.Get(r.Client)
	if known && !slices.Equal(client.Grants, []api.Grant{api.GrantMove}) {
		return api.Errorf(api.KindConflict, "the keys of the other machine are those of a client of this host")
	}
	return nil
}

func (a *admission) admitClient(r record) error {
	if err := a.checkClient(r); err != nil {
		return err
	}
	label := r.Offer.Label
	if wire.CheckLabel(label) != nil {
		label = "another machine"
	}
	_, err := a.clients.Admit(state.Client{ID: r.Client, Public: ident.Public(r.Offer.Client), Label: label, Grants: []api.Grant{api.GrantMove}})
	if err != nil {
		return err
	}
	a.refresh(r.Client)
	return nil
}

// release removes the source from the list of clients, unless it moves another session here.
func (a *admission) release(ctx context.Context, r record) error {
	if !r.Incoming {
		return nil
	}
	a.deciding.Lock()
	defer a.deciding.Unlock()
	for _, one := range a.records.all() {
		if other := a.records.of(one); other.Incoming && other.Client == r.Client && other.ID != r.ID {
			return nil
		}
	}
	client, known := a.clients.Get(r.Client)
	if !known || !slices.Equal(client.Grants, []api.Grant{api.GrantMove}) {
		return nil
	}
	return a.remove(ctx, r.Client)
}

// releaseForgotten removes clients with the grant of a move that is not known any more: the host
// was killed between the end of the move and their removal.
func (a *admission) releaseForgotten(ctx context.Context) {
	for _, client := range a.clients.List() {
		if !slices.Equal(client.Grants, []api.Grant{api.GrantMove}) {
			continue
		}
		if err := a.release(ctx, record{Incoming: true, Client: client.ID}); err != nil {
			a.logger.Warn("removing the client of a move that has ended", "client", client.ID, "error", err)
		}
	}
}
