package host

import (
	"cmp"
	"context"

	"github.com/scorel/scorel/apps/host/internal/moves"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// makeMoves makes what moves sessions, whose records were loaded before the sessions.
func (w *wiring) makeMoves() {
	options := moves.Options{
		Logger: w.log, Paths: w.paths, Keys: w.keys, Label: w.name.Current, Clients: w.clients, Projects: w.projects, Sessions: w.sessions, Hub: w.hub,
		Trees: w.worktrees, Closed: w.fileAPI.Closed,
		ListPaths: func() []api.Path { return w.uplinks.Paths() }, Refresh: func(id ident.ID) { w.clientAPI.Refresh(id) },
		Remove: w.removeMover, Step: w.cfg.MoveStep,
	}
	if urls := w.relayURLs(); len(urls) > 0 {
		options.Invite, options.InviteURL = cmp.Or(w.cfg.Invite, w.config.Invite), urls[0]
	}
	w.moves = moves.New(w.moveRecords, options)
}

// removeMover removes another host that moved a session here from the list of clients.
func (w *wiring) removeMover(ctx context.Context, id ident.ID) error {
	if _, err := w.clientAPI.Remove(id); err != nil {
		return err
	}
	w.uplinks.Revoke(ctx, id)
	return nil
}
