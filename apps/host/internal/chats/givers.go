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
func (c *Chats) gives(by string) bool {
	if by == "" {
		return true
	}
	_, listed := c.Giver(by)
	return listed
}

// accessOf returns what a chat may do now: nothing that the client that connected it may not do any
// more, and for no longer. It is false if the access has ended.
func (c *Chats) accessOf(b *bound) (dispatch.Access, bool) {
	access := dispatch.Access{Grants: b.Grants, ClientLimits: api.ClientLimits{Projects: []string{b.ProjectID}, ExpiresAt: b.ExpiresAt}}
	if b.By != "" {
		giver, listed := c.Giver(b.By)
		if !listed || len(giver.Projects) > 0 && !slices.Contains(giver.Projects, b.ProjectID) {
			return dispatch.Access{}, false
		}
		if access.Outlasts(giver.ClientLimits) {
			access.ExpiresAt = giver.ExpiresAt
		}
		access.Grants = slices.DeleteFunc(slices.Clone(b.Grants), func(g api.Grant) bool { return !slices.Contains(giver.Grants, g) })
	}
	if access.ExpiresAt != 0 && c.Now().UnixMilli() >= access.ExpiresAt {
		return dispatch.Access{}, false
	}
	return access, true
}

// allows reports whether a chat has a sender on its list that someone allowed whose own access has not
// ended.
func (c *Chats) allows(b *bound, senderID string) bool {
	i := slices.IndexFunc(b.Senders, func(s listed) bool { return s.ID == senderID })
	if i < 0 || b.Senders[i].By == "" {
		return i >= 0
	}
	giver, listed := c.Giver(b.Senders[i].By)
	return listed && (giver.ExpiresAt == 0 || c.Now().UnixMilli() < giver.ExpiresAt) && (len(giver.Projects) == 0 || slices.Contains(giver.Projects, b.ProjectID))
}

func errGiverRevoked() error {
	return api.Errorf(api.KindNotAllowed, "the client that gave this access was revoked: ask at the machine for a new code")
}

// Recheck applies what clients may do now to what they gave. That of revoked clients ends: the chats that
// they connected, and the senders that they allowed in others.
func (c *Chats) Recheck() {
	for _, r := range c.list() {
		r.endRevoked()
		for _, b := range r.store.read().Chats {
			c.Hub.RefreshAccess(b.ClientID)
		}
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
