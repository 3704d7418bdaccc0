package relay

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// AdmissionMode says whom a relay lets in.
type AdmissionMode string

const (
	AdmitAnybody  AdmissionMode = "open"       // the default
	AdmitByInvite AdmissionMode = "invite"     // who is in the store, and newcomers with an invite
	AdmitListed   AdmissionMode = "allow-list" // the ids that are listed, and nobody else
)

// Admission is whom a relay lets in, of those who prove who they are.
type Admission struct {
	Mode  AdmissionMode // "" is AdmitAnybody
	Allow []ident.ID    // for AdmitListed
}

// admission is an Admission that can be asked. It is not changed after it is made.
type admission struct {
	mode  AdmissionMode
	allow map[ident.ID]bool
}

// Check tells what is wrong with an Admission, or nil.
func (a Admission) Check() error {
	_, err := newAdmission(a)
	return err
}

func newAdmission(a Admission) (*admission, error) {
	out := &admission{mode: a.Mode, allow: make(map[ident.ID]bool, len(a.Allow))}
	switch a.Mode {
	case "":
		out.mode = AdmitAnybody
	case AdmitAnybody, AdmitByInvite, AdmitListed:
	default:
		return nil, fmt.Errorf("relay: admission %q is unknown: it is open, invite or allow-list", a.Mode)
	}
	if len(a.Allow) > 0 && out.mode != AdmitListed {
		return nil, fmt.Errorf("relay: ids are listed, but the admission is %q: make it allow-list, or leave them out", out.mode)
	}
	for _, id := range a.Allow {
		out.allow[id] = true
	}
	return out, nil
}

// lists tells whether the mode has an id on its list, if it has one.
func (a *admission) lists(id ident.ID) bool { return a.mode != AdmitListed || a.allow[id] }

// SetAdmission changes whom the relay lets in. Who is no longer on the list is shut
// out at once; the other modes leave everybody in who is in.
func (r *Relay) SetAdmission(a Admission) error {
	next, err := newAdmission(a)
	if err != nil {
		return err
	}
	before := r.admission.Swap(next)
	if before.mode == next.mode && maps.Equal(before.allow, next.allow) {
		return nil
	}
	r.log.Info("admission has changed", "mode", next.mode, "listed", len(next.allow))
	return r.dir.do(func() {
		for id, p := range r.dir.parties {
			if next.lists(id) {
				continue
			}
			for _, c := range p.conns {
				c.end(wire.ReasonLoginFailed, ws.StatusPolicy, asFrame(errNotListed(id)), &wire.Goodbye{Reason: wire.ReasonLoginFailed})
			}
		}
	})
}

func errNotListed(id ident.ID) *wire.Error {
	return wire.Errorf(wire.KindNotAdmitted, "this relay serves only those whom its operator has listed; ask the operator to add %s", id)
}

func asFrame(err *wire.Error) *wire.ErrorFrame {
	return &wire.ErrorFrame{Kind: err.Kind, Message: err.Message}
}

// checkAdmission tells why a peer that proved who it is may not come in, or nil. A
// store that does not answer admits nobody.
func (c *conn) checkAdmission(invite string) *wire.Error {
	r := c.relay
	a := r.admission.Load()
	if !a.lists(c.id) {
		return errNotListed(c.id)
	}
	if a.mode != AdmitByInvite {
		return nil
	}
	// A text that is no invite hashes to nothing that the store knows, and is asked
	// for all the same: who is known needs none.
	hash, _ := store.HashInvite(invite)
	ctx, cancel := r.storeContext()
	defer cancel()
	err := r.cfg.Store.Admit(ctx, asParty(c.self), hash, time.Now())
	var refused *store.InviteError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		if invite != "" {
			r.guards.loginFailures.take(c.addr) // else invites could be tried without end
		}
		return errInvite(invite, refused.State)
	}
	r.storeFailed("admit", err)
	return wire.Errorf(wire.KindUnavailable, "the relay cannot check who may come in now; try again later")
}

func errInvite(invite string, state store.InviteState) *wire.Error {
	switch {
	case invite == "":
		return wire.Errorf(wire.KindInviteRequired, "this relay lets newcomers in by invite only; ask its operator for one and give it as the invite")
	case state == store.InviteUnknown:
		return wire.Errorf(wire.KindInviteRequired, "the invite is not known here; check for typing errors, or ask the relay's operator for one")
	}
	return wire.Errorf(wire.KindInviteRequired, "the invite is %s; ask the relay's operator for another", state)
}
