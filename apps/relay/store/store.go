// Package store is the durable state of a relay: devices, clients, the bindings
// between them, an audit of how bindings came and went, and hashes of invites.
// Nothing else is ever stored: no project, prompt, record or code.
//
// The relay asks the store when a peer logs in, when a pairing completes and when
// a binding is revoked; never for a record.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

var (
	// ErrNotFound is wrapped when what is to be ended is not there: a valid binding,
	// or an invite.
	ErrNotFound = errors.New("store: no such thing")
	// ErrLimit is wrapped by Bind when one side has wire.MaxBindings already.
	ErrLimit = errors.New("store: too many bindings")
	// ErrUnreachable is wrapped when no connection to the store can be made. The
	// sentence that wraps it names the place.
	ErrUnreachable = errors.New("cannot be reached")
)

// Party is a device or a client as the store knows it.
type Party struct {
	ID ident.ID
	ident.Public
	Label string // as at its last login
}

// Action names what an Event records.
type Action string

const (
	ActionBound   Action = "bound"   // a pairing completed, or renewed a binding
	ActionRevoked Action = "revoked" // one side ended the binding
)

// Event is one line of the audit.
type Event struct {
	At     time.Time // microseconds, UTC
	Action Action
	Device ident.ID
	Client ident.ID
	Actor  ident.ID // who revoked; zero for a pairing, which both sides made
}

// Store keeps parties and bindings. It is safe for concurrent use. An error that
// wraps none of the above means that the store could not answer: the caller
// treats that as a no.
type Store interface {
	// Bindings returns the other sides of the valid bindings of id, in any order.
	Bindings(ctx context.Context, id ident.ID) ([]Party, error)
	// Relabel notes the label of a party that is known; others are left unknown.
	Relabel(ctx context.Context, id ident.ID, label string) error
	// Admit makes a party known. One that is known already stays as it is and costs
	// nothing; a new one takes a use of the invite, in one step with being written
	// down. An *InviteError tells why the invite lets nobody in.
	Admit(ctx context.Context, p Party, invite InviteHash, at time.Time) error
	// Bind writes a valid binding and both parties. Binding again renews a binding
	// that exists, revoked or not.
	Bind(ctx context.Context, device, client Party, at time.Time) error
	// Revoke ends the binding at a time.
	Revoke(ctx context.Context, device, client, actor ident.ID, at time.Time) error
	// Audit returns the events that were written last, at most limit, the last one
	// first. Their times do not count: a clock that is wrong hides nothing.
	Audit(ctx context.Context, limit int) ([]Event, error)
	// Check tells whether the store can answer now.
	Check(ctx context.Context) error
	Close() error
}
