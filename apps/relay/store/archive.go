package store

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

var (
	// ErrDamaged is wrapped for an invalid row: its keys do not match its id, or a
	// field cannot be read.
	ErrDamaged = errors.New("store: damaged row")
	// ErrConflict is wrapped by Merge if two rows contradict each other.
	ErrConflict = errors.New("store: rows contradict each other")
	// ErrSchema is wrapped if the schema is not the one that this program needs.
	ErrSchema = errors.New("store: wrong schema")
)

// Row is a PartyRow, a BindingRow, an Event or an Invite: everything that a store
// holds.
type Row interface{ isRow() }

// PartyRow is a device or a client, depending on its id.
type PartyRow struct {
	Party
	Created time.Time // microseconds, UTC
}

// BindingRow is a binding, valid or ended.
type BindingRow struct {
	Device  ident.ID
	Client  ident.ID
	Created time.Time // microseconds, UTC
	Revoked time.Time // zero while it is valid
}

func (PartyRow) isRow()   {}
func (BindingRow) isRow() {}
func (Event) isRow()      {}
func (Invite) isRow()     {}

// Counts counts rows by kind.
type Counts struct {
	Devices  int64 `json:"devices"`
	Clients  int64 `json:"clients"`
	Bindings int64 `json:"bindings"`
	Events   int64 `json:"events"`
	Invites  int64 `json:"invites"`
}

// Add counts n more rows of the kind of row.
func (c *Counts) Add(row Row, n int64) {
	switch r := row.(type) {
	case PartyRow:
		if r.ID.Kind() == ident.KindClient {
			c.Clients += n
		} else {
			c.Devices += n
		}
	case BindingRow:
		c.Bindings += n
	case Event:
		c.Events += n
	case Invite:
		c.Invites += n
	}
}

// Archive is a store that can be maintained: its schema, and all of its rows at
// once. A running relay needs none of it.
type Archive interface {
	Store
	Inviter
	// Schema returns the current version of the schema, 0 for none, and the one
	// that this program needs. It changes nothing.
	Schema(ctx context.Context) (have, need int64, err error)
	// Migrate migrates the schema to the version that this program needs. Several
	// programs may do so at once. A newer schema is refused with ErrSchema.
	Migrate(ctx context.Context) error
	// Rows calls each for every row as of one moment: devices and clients, then
	// bindings, then events from the oldest on, then invites. It stops at the first
	// error.
	Rows(ctx context.Context, each func(Row) error) error
	// Merge adds rows in one transaction and counts those that changed something. A
	// party must come before its bindings. Existing rows stay, except that of two
	// states of a binding the later wins, and the ended one if both have the same
	// time: so merging again changes nothing, and the order of merges does not
	// matter. For an invite the greater number of uses and the earlier end win. Two
	// different invites with one id or one hash fail with ErrConflict. The limit of
	// bindings applies as in Bind.
	Merge(ctx context.Context, rows iter.Seq2[Row, error]) (Counts, error)
}
