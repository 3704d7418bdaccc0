package relay

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/directory"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// AdmissionMode says which peers a relay admits.
type AdmissionMode string

const (
	AdmitAnybody  AdmissionMode = "open"       // the default
	AdmitByInvite AdmissionMode = "invite"     // parties in the store, and new ones with an invite
	AdmitListed   AdmissionMode = "allow-list" // only the listed ids
)

// Admission says which peers with a proven identity a relay admits.
type Admission struct {
	Mode  AdmissionMode // "" is AdmitAnybody
	Allow []ident.ID    // for AdmitListed
	// Device, if set, is the only device that the relay admits: it runs beside that one's
	// host. The mode decides about clients.
	Device ident.ID
}

// admission is a checked Admission. It is never changed.
type admission struct {
	mode   AdmissionMode
	allow  map[ident.ID]bool
	device ident.ID
}

// Check returns an error if an Admission is invalid.
func (a Admission) Check() error {
	_, err := newAdmission(a)
	return err
}

func newAdmission(a Admission) (*admission, error) {
	out := &admission{mode: a.Mode, device: a.Device, allow: make(map[ident.ID]bool, len(a.Allow))}
	switch a.Mode {
	case "":
		out.mode = AdmitAnybody
	case AdmitAnybody, AdmitByInvite, AdmitListed:
	default:
		return nil, fmt.Errorf("relay: unknown admission %q: use open, invite or allow-list", a.Mode)
	}
	if len(a.Allow) > 0 && out.mode != AdmitListed {
		return nil, fmt.Errorf("relay: ids are listed, but the admission is %q: set it to allow-list, or remove the ids", out.mode)
	}
	for _, id := range a.Allow {
		out.allow[id] = true
	}
	return out, nil
}

// lists reports whether an id is admitted as far as lists decide: the one device, or the
// list of the mode, if it has one.
func (a *admission) lists(id ident.ID) bool {
	if id.Kind() == ident.KindDevice && !a.device.IsZero() {
		return id == a.device
	}
	return a.mode != AdmitListed || a.allow[id]
}

// SetAdmission changes which peers the relay admits. It disconnects peers that are
// no longer listed; in the other modes all connected peers stay.
func (r *Relay) SetAdmission(a Admission) error {
	next, err := newAdmission(a)
	if err != nil {
		return err
	}
	before := r.admission.Swap(next)
	if before.mode == next.mode && before.device == next.device && maps.Equal(before.allow, next.allow) {
		return nil
	}
	r.log.Info("admission has changed", "mode", next.mode, "listed", len(next.allow))
	return r.loop.Do(func() {
		r.dir.Each(func(id ident.ID, conns []*conn.Conn) {
			if next.lists(id) {
				return
			}
			refused := errNotListed(id)
			for _, c := range conns {
				c.Goodbye(wire.ReasonLoginFailed, ws.StatusPolicy,
					&wire.ErrorFrame{Kind: refused.Kind, Message: refused.Message}, &wire.Goodbye{Reason: wire.ReasonLoginFailed})
			}
		})
	})
}

func errNotListed(id ident.ID) *wire.Error {
	return wire.Errorf(wire.KindNotAdmitted, "this relay serves only listed ids; ask its operator to add %s", id)
}

// checkAdmission returns an error if a peer that proved its identity is not admitted. A
// store that does not answer admits no one.
func (r *Relay) checkAdmission(c *conn.Conn, invite string) *wire.Error {
	a := r.admission.Load()
	if !a.lists(c.ID()) {
		return errNotListed(c.ID())
	}
	if a.mode != AdmitByInvite {
		return nil
	}
	// The store is checked even if the text is not an invite: known parties need
	// none.
	hash, _ := store.HashInvite(invite)
	ctx, cancel := r.store.Context()
	defer cancel()
	err := r.store.Admit(ctx, directory.AsParty(c.Self()), hash, time.Now())
	var refused *store.InviteError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		if invite != "" {
			r.guards.LoginFailed(c.Addr()) // otherwise invites could be guessed without limit
		}
		return errInvite(invite, refused.State)
	}
	r.store.Failed("admit", err)
	return wire.Errorf(wire.KindUnavailable, "the relay cannot check admission now; try again later")
}

func errInvite(invite string, state store.InviteState) *wire.Error {
	switch {
	case invite == "":
		return wire.Errorf(wire.KindInviteRequired, "this relay admits new ids by invite only; ask its operator for an invite")
	case state == store.InviteUnknown:
		return wire.Errorf(wire.KindInviteRequired, "this relay does not know the invite; check it for typos, or ask the relay's operator for a new one")
	}
	return wire.Errorf(wire.KindInviteRequired, "the invite is %s; ask the relay's operator for a new one", state)
}
