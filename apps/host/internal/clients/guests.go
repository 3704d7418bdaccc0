package clients

import (
	"context"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// createGuestLink admits a client that sees one session. Whoever asks has generated its keys:
// the host never learns the secret of a link.
func (c *Clients) createGuestLink(_ context.Context, conn *dispatch.Conn, r api.CreateGuestLinkRequest) (response api.CreateGuestLinkResponse, err error) {
	guest, err := c.newGuest(conn, r)
	if err != nil {
		return response, err
	}
	admitted, err := c.list.AdmitNew(guest, func(list []state.Client) error { return checkGuests(list, time.Now()) })
	switch {
	case err != nil:
		return response, err
	case admitted.SessionID != r.SessionID:
		return response, api.Errorf(api.KindConflict, "these keys belong to another client: create the link with new keys")
	case admitted.Expired(time.Now()):
		return response, api.Errorf(api.KindConflict, "this guest link has expired: create another")
	}
	c.log.Info("guest link created", "client", admitted.ID, "session", admitted.SessionID, "expiresAt", admitted.ExpiresAt, "by", conn.ClientID())
	c.Refresh(admitted.ID)
	now, device := time.Now().UnixMilli(), c.keys.Public()
	return api.CreateGuestLinkResponse{
		Client: c.listed(admitted), DeviceSignKey: device.Sign.String(), DeviceSealKey: device.Seal.String(),
		Proof: api.BindingProof{SignedAt: now, Signature: wire.SignBinding(c.keys, admitted.ID, now)},
	}, nil
}

// newGuest checks what someone chose for a guest link.
func (c *Clients) newGuest(conn *dispatch.Conn, r api.CreateGuestLinkRequest) (guest state.Client, err error) {
	label, limits := strings.TrimSpace(r.Label), api.ClientLimits{ExpiresAt: r.ExpiresAt}
	var keys ident.Public
	now := time.Now()
	switch {
	case conn.IsToken():
		return guest, api.Errorf(api.KindNotAllowed, "a token cannot give others access: use a paired client, or `scorel session share` on the host's machine")
	case !c.exists(r.SessionID):
		return guest, state.UnknownSession(r.SessionID)
	case wire.CheckLabel(label) != nil:
		return guest, api.Errorf(api.KindBadRequest, "the name of a guest link must have 1 to %d bytes of printable text", wire.MaxLabel)
	case keys.Sign.UnmarshalText([]byte(r.SignKey)) != nil || keys.Seal.UnmarshalText([]byte(r.SealKey)) != nil:
		return guest, api.Errorf(api.KindBadRequest, "signKey and sealKey must be public keys as unpadded base64url")
	case r.ExpiresAt <= now.UnixMilli():
		return guest, api.Errorf(api.KindBadRequest, "the guest link would have expired already: choose a later time, by this host's clock")
	case r.ExpiresAt > now.Add(api.MaxGuestTime+wire.MaxClaimAhead).UnixMilli():
		return guest, api.Errorf(api.KindBadRequest, "a guest link is valid for at most %d days: choose an earlier time", api.MaxGuestTime/(24*time.Hour))
	case !conn.May(api.GrantLocal) && limits.Outlasts(conn.Access().ClientLimits):
		return guest, errOutlasts()
	}
	return state.Client{
		ID: ident.NewID(ident.KindClient, keys), Public: keys, Label: label,
		Grants: []api.Grant{api.GrantView}, ClientLimits: limits, SessionID: r.SessionID,
	}, nil
}

// checkGuests returns an error if there are as many guest links as there may be.
func checkGuests(list []state.Client, now time.Time) error {
	guests := 0
	for _, client := range list {
		if client.SessionID != "" && !client.Expired(now) {
			guests++
		}
	}
	if guests >= api.MaxGuests {
		return api.Errorf(api.KindConflict, "this host has %d guest links: revoke one that is no longer needed", guests)
	}
	return nil
}

// EndSession ends the guest links of a session that was deleted.
func (c *Clients) EndSession(sessionID string) {
	for _, client := range c.list.List() {
		if client.SessionID == sessionID {
			c.endGuest(client.ID)
		}
	}
}

// endGuest removes a guest. The relays are asked to end the binding by Expire, because one that
// does not read must not hold up the caller.
func (c *Clients) endGuest(id ident.ID) {
	if _, err := c.Remove(id); err != nil {
		c.log.Error("removing a guest link", "client", id, "error", err)
		return
	}
	c.mu.Lock()
	c.unbind = append(c.unbind, id)
	c.mu.Unlock()
	c.wake()
}

// removedGuests returns the guests that were removed since the last call.
func (c *Clients) removedGuests() []ident.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := c.unbind
	c.unbind = nil
	return ids
}
