// Package store defines the durable state of a relay: devices, clients, the
// bindings between them, an audit of changes to bindings, and hashes of invites.
// Nothing else is ever stored: no project, prompt, record or code.
//
// The relay uses the store when a peer logs in, when a pairing completes and when a
// binding is revoked; never for a record.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

var (
	// ErrNotFound is wrapped if there is no valid binding, or no invite, to revoke, and by
	// Party for an unknown party.
	ErrNotFound = errors.New("store: not found")
	// ErrRevoked is wrapped by Claim if the binding was revoked after it was signed.
	ErrRevoked = errors.New("store: revoked since it was signed")
	// ErrLimit is wrapped by Bind if one side already has wire.MaxBindings.
	ErrLimit = errors.New("store: too many bindings")
	// ErrUnreachable is wrapped if the store cannot be connected to. The error that
	// wraps it names the place.
	ErrUnreachable = errors.New("cannot be reached")
)

// Party is a device or a client as the store knows it.
type Party struct {
	ID ident.ID
	ident.Public
	Label string // from its last login
}

// Action is the kind of an Event.
type Action string

const (
	ActionBound   Action = "bound"   // a pairing or a claim made or renewed a binding
	ActionRevoked Action = "revoked" // one side ended the binding
)

// Event is one entry of the audit.
type Event struct {
	At     time.Time // microseconds, UTC
	Action Action
	Device ident.ID
	Client ident.ID
	// Actor is the party that revoked, or the client that claimed a binding; zero for a
	// pairing, which both sides made.
	Actor ident.ID
}

// Store stores parties and bindings. It is safe for concurrent use. An error that
// wraps none of the above means that the store could not answer: the caller then
// refuses the request.
type Store interface {
	// Bindings returns the other sides of the valid bindings of id, in any order.
	Bindings(ctx context.Context, id ident.ID) ([]Party, error)
	// Relabel updates the label of a known party; it does not add unknown ones.
	Relabel(ctx context.Context, id ident.ID, label string) error
	// Admit makes a party known. One that is already known is unchanged and uses no
	// invite; a new one uses the invite once, in the same transaction that stores
	// it. An *InviteError says why the invite is not valid.
	Admit(ctx context.Context, p Party, invite InviteHash, at time.Time) error
	// Bind writes a valid binding and both parties. Binding again renews a binding
	// that exists, revoked or not.
	Bind(ctx context.Context, device, client Party, at time.Time) error
	// Claim is Bind for a binding that the device signed earlier, at signed. It reports
	// whether it wrote a binding: one that is valid is unchanged. If the two had a binding
	// that was revoked at or after signed, it returns ErrRevoked and writes nothing.
	Claim(ctx context.Context, device, client Party, signed, at time.Time) (bool, error)
	// Party returns a known party.
	Party(ctx context.Context, id ident.ID) (Party, error)
	// Revoke ends the binding at a time.
	Revoke(ctx context.Context, device, client, actor ident.ID, at time.Time) error
	// Audit returns the events that were written last, at most limit, newest first.
	// Their times do not matter: a wrong clock hides nothing.
	Audit(ctx context.Context, limit int) ([]Event, error)
	// Check returns an error if the store cannot answer at the moment.
	Check(ctx context.Context) error
	Close() error
}
