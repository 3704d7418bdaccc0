package chats

import (
	"errors"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// mayGive returns an error for a connection that may not give a chat or sender access until a
// time, 0 being forever.
func mayGive(conn *dispatch.Conn, until int64) error {
	access := api.ClientLimits{ExpiresAt: until}
	switch {
	case conn.May(api.GrantLocal):
		return nil
	case conn.IsToken():
		return api.Errorf(api.KindNotAllowed, "a token cannot give others access: use a paired client, or `scorel channel` on the host's machine")
	case access.Outlasts(conn.Access().ClientLimits):
		return api.Errorf(api.KindNotAllowed, "this connection's own access expires, and the chat's would last longer: choose an earlier expiry for the chat, or do it on the host's machine")
	}
	return nil
}

// gives reports whether what a client gave is still valid: it ends when the client is revoked.
// Chats of earlier versions do not say who connected them.
func (c *Chats) gives(by string) bool { return by == "" || c.Listed(by) }

func errGiverRevoked() error {
	return api.Errorf(api.KindNotAllowed, "the client that gave this access was revoked: ask at the machine for a new code")
}

// EndRevoked ends the access that revoked clients gave: the chats that they connected, and the
// senders that they allowed in others.
func (c *Chats) EndRevoked() {
	for _, r := range c.list() {
		r.endRevoked()
	}
}

func (r *running) endRevoked() {
	var ended []string
	senders := 0
	err := r.store.change(func(f *record) error {
		for _, b := range slices.Clone(f.Chats) {
			if !r.gives(b.By) {
				ended = append(ended, b.ClientID)
				f.removeChat(b.Chat.ID)
				continue
			}
			before := len(b.Senders)
			b.Senders = slices.DeleteFunc(b.Senders, func(s listed) bool { return !r.gives(s.By) })
			senders += before - len(b.Senders)
		}
		return nil
	})
	switch {
	case errors.Is(err, errRemoved):
	case err != nil: // the dispatcher refuses the chats, and the next start removes them
		r.Logger.Error("ending the access that a revoked client gave", "channel", r.store.read().ID, "error", err)
	case len(ended)+senders > 0:
		r.leave(ended...)
		r.Logger.Info("access that a revoked client gave has ended", "channel", r.store.read().ID, "chats", ended, "senders", senders)
	}
}

// leave ends the connections of chats that were removed from the file.
func (r *running) leave(clientIDs ...string) {
	for _, id := range clientIDs {
		r.Hub.EndClient(id, errChatRemoved)
		r.removed(id)
	}
	wake(r.arrived) // their goroutines end
	r.changed()
}
