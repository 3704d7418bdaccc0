package moves

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxIncoming bounds the moves that a host expects at once.
const maxIncoming = 8

// acceptMove has this host expect a session. The source becomes a client that may do nothing
// but this.
func (m *Moves) acceptMove(_ context.Context, c *dispatch.Conn, request api.AcceptMoveRequest) (response api.AcceptMoveResponse, err error) {
	if !c.May(api.GrantPrompt) { // its queue runs here
		return response, c.Lacks(api.GrantPrompt, "accepting a session also")
	}
	project, err := m.Projects.Find(request.ProjectID)
	if err != nil {
		return response, err
	}
	r, err := m.expected(request.Offer, project.ID)
	if err != nil {
		return response, err
	}
	if _, moved := treeOf(r); moved {
		if err := m.Trees.CheckProject(project); err != nil {
			return response, err
		}
	}
	if err := m.expect(r); err != nil {
		return response, err
	}
	now := time.Now().UnixMilli()
	m.reached("accepted")
	return api.AcceptMoveResponse{
		Keys: api.DeviceKeys(m.Keys.Public()), Paths: m.ListPaths(), Proof: api.BindingProof{SignedAt: now, Signature: wire.SignBinding(m.Keys, r.Client, now)},
	}, nil
}

// expect registers an incoming move. One that is known already changes nothing.
func (m *Moves) expect(r record) error {
	m.admitting.Lock()
	defer m.admitting.Unlock()
	m.mu.Lock()
	one, known := m.moves[r.ID]
	m.mu.Unlock()
	if known {
		before := m.recordOf(one)
		if !before.Incoming || !reflect.DeepEqual(before.Offer, r.Offer) {
			return api.Errorf(api.KindConflict, "this host knows another move with that id")
		}
		if before.ended() {
			return nil
		}
		return m.admitClient(r) // the host may have been killed before
	}
	if _, err := m.Projects.Find(r.ProjectID); err != nil { // it may have been removed in the meantime
		return err
	}
	if err := m.checkRoom(r); err != nil {
		return err
	}
	return m.admit(r)
}

// WhileUnexpected calls do unless a session is about to arrive in the project. Until do
// returns, no such move is accepted.
func (m *Moves) WhileUnexpected(projectID string, do func() error) error {
	m.admitting.Lock()
	defer m.admitting.Unlock()
	for _, one := range m.all() {
		if r := m.recordOf(one); r.Incoming && !r.ended() && r.ProjectID == projectID {
			return api.Errorf(api.KindProjectInUse, "a session is being moved to the project: wait until it has arrived, or cancel its move")
		}
	}
	return do()
}

// checkRoom refuses a session that this host has already, and one for which there is no space.
func (m *Moves) checkRoom(r record) error {
	for _, one := range m.all() {
		other := m.recordOf(one)
		if !other.Incoming && other.active() && slices.Contains(other.Family, r.SessionID) { // what is removed late must not be the session that returns
			return api.Errorf(api.KindUnavailable, "this host has not finished moving that session away: try again in a moment")
		}
	}
	for _, id := range r.Family {
		if _, exists := m.sessions.ProjectOf(id); exists {
			return api.Errorf(api.KindConflict, "this host has a session with the id %s already: delete it first", id)
		}
	}
	incoming := 0
	for _, one := range m.all() {
		other := m.recordOf(one)
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
	if free, known := freeSpace(m.Paths.Home); known && free < 2*uint64(r.total())+reserve {
		return api.Errorf(api.KindUnavailable, "the other machine has not enough free space: the move needs %d MiB there", (2*r.total()+reserve)>>20)
	}
	return nil
}

// reserve is what must remain free on the disk.
const reserve = 64 << 20

// admit makes the source a client for this move, and registers it.
func (m *Moves) admit(r record) error {
	if err := m.checkClient(r); err != nil {
		return err
	}
	if err := atomicfile.MkdirAll(m.folder(r.ID), 0o700); err != nil {
		return fmt.Errorf("moves: creating a folder: %w", err)
	}
	if _, err := m.add(r); err != nil {
		return err
	}
	return m.admitClient(r)
}

// checkClient refuses keys that belong to another client.
func (m *Moves) checkClient(r record) error {
	client, known := m.Clients.Get(r.Client)
	if known && !slices.Equal(client.Grants, []api.Grant{api.GrantMove}) {
		return api.Errorf(api.KindConflict, "the keys of the other machine are those of a client of this host")
	}
	return nil
}

func (m *Moves) admitClient(r record) error {
	if err := m.checkClient(r); err != nil {
		return err
	}
	label := r.Offer.Label
	if wire.CheckLabel(label) != nil {
		label = "another machine"
	}
	_, err := m.Clients.Admit(state.Client{ID: r.Client, Public: ident.Public(r.Offer.Client), Label: label, Grants: []api.Grant{api.GrantMove}})
	if err != nil {
		return err
	}
	m.Refresh(r.Client)
	return nil
}

// release removes the source from the list of clients, unless it moves another session here.
func (m *Moves) release(ctx context.Context, r record) error {
	if !r.Incoming {
		return nil
	}
	m.admitting.Lock()
	defer m.admitting.Unlock()
	for _, one := range m.all() {
		if other := m.recordOf(one); other.Incoming && other.Client == r.Client && other.ID != r.ID {
			return nil
		}
	}
	client, known := m.Clients.Get(r.Client)
	if !known || !slices.Equal(client.Grants, []api.Grant{api.GrantMove}) {
		return nil
	}
	return m.Remove(ctx, r.Client)
}

// releaseForgotten removes clients with the grant of a move that is not known any more: the host
// was killed between the end of the move and their removal.
func (m *Moves) releaseForgotten(ctx context.Context) {
	for _, client := range m.Clients.List() {
		if !slices.Equal(client.Grants, []api.Grant{api.GrantMove}) {
			continue
		}
		if err := m.release(ctx, record{Incoming: true, Client: client.ID}); err != nil {
			m.Logger.Warn("removing the client of a move that has ended", "client", client.ID, "error", err)
		}
	}
}
