// Package sqlstore implements the store in SQL that both SQLite and PostgreSQL
// accept: parameters are $1, $2, times are Unix microseconds in BIGINT. A database
// contributes a DB, which is all that differs, and its migrations.
package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Rows is the result of a query. Close may be called twice.
type Rows interface {
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close()
}

// Statement is SQL with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

// Querier runs statements, alone or in a transaction.
type Querier interface {
	Query(ctx context.Context, s Statement) (Rows, error)
	// Exec runs statements in order and returns how many rows each changed.
	Exec(ctx context.Context, statements ...Statement) ([]int64, error)
}

// Mode is the kind of a transaction.
type Mode int

const (
	Write     Mode = iota // reads and writes
	Snapshot              // reads, all as of one moment
	Exclusive             // a Write that excludes other Exclusive ones
)

// DB is a database. It is safe for concurrent use.
type DB interface {
	Querier
	// InTx runs f in a transaction, which is committed if f returns nil.
	InTx(ctx context.Context, mode Mode, f func(Querier) error) error
}

// Store implements store.Store, and the rows of store.Archive, over a database.
type Store struct {
	db   DB
	name string // kind of database, for errors
}

// New returns a store on db whose schema is up to date.
func New(db DB, name string) *Store { return &Store{db: db, name: name} }

func (s *Store) fail(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s: %w", s.name, what, err)
}

// Check implements store.Store.
func (s *Store) Check(ctx context.Context) error {
	_, err := one[int64](ctx, s.db, sql(`SELECT count(*) FROM (SELECT 1 FROM bindings LIMIT 1) AS first`))
	return s.fail("check", err)
}

// Bindings implements store.Store.
func (s *Store) Bindings(ctx context.Context, id ident.ID) ([]store.Party, error) {
	query := clientsOfDevice
	if id.Kind() == ident.KindClient {
		query = devicesOfClient
	}
	parties, err := collect(ctx, s.db, sql(query, id.String()), scanParty)
	return parties, s.fail("reading bindings", err)
}

// Relabel implements store.Store.
func (s *Store) Relabel(ctx context.Context, id ident.ID, label string) error {
	_, err := s.db.Exec(ctx, sql(`UPDATE `+tableOf(id)+` SET label = $2 WHERE id = $1 AND label <> $2`, id.String(), label))
	return s.fail("storing a label", err)
}

// Bind implements store.Store. The parties are written first: that locks their
// rows, so that concurrent calls for the same party count one after another.
func (s *Store) Bind(ctx context.Context, device, client store.Party, at time.Time) error {
	err := s.db.InTx(ctx, Write, func(tx Querier) error {
		if _, err := tx.Exec(ctx, putParty(device, at), putParty(client, at)); err != nil {
			return err
		}
		if err := checkRoom(ctx, tx, device.ID, client.ID); err != nil {
			return err
		}
		_, err := tx.Exec(ctx,
			sql(`INSERT INTO bindings (device_id, client_id, created_at) VALUES ($1, $2, $3)
				ON CONFLICT (device_id, client_id) DO UPDATE SET created_at = excluded.created_at, revoked_at = NULL`,
				device.ID.String(), client.ID.String(), at.UnixMicro()),
			putEvent(store.Event{At: at, Action: store.ActionBound, Device: device.ID, Client: client.ID}))
		return err
	})
	return s.fail("binding", err)
}

// checkRoom counts the other bindings: renewing one needs no room.
func checkRoom(ctx context.Context, tx Querier, device, client ident.ID) error {
	for _, side := range []Statement{
		sql(`SELECT count(*) FROM bindings WHERE device_id = $1 AND client_id <> $2 AND revoked_at IS NULL`, device.String(), client.String()),
		sql(`SELECT count(*) FROM bindings WHERE client_id = $1 AND device_id <> $2 AND revoked_at IS NULL`, client.String(), device.String()),
	} {
		n, err := one[int64](ctx, tx, side)
		if err != nil {
			return err
		}
		if n >= wire.MaxBindings {
			return fmt.Errorf("%w: one side has %d", store.ErrLimit, n)
		}
	}
	return nil
}

// Revoke implements store.Store.
func (s *Store) Revoke(ctx context.Context, device, client, actor ident.ID, at time.Time) error {
	err := s.db.InTx(ctx, Write, func(tx Querier) error {
		n, err := tx.Exec(ctx, sql(`UPDATE bindings SET revoked_at = $3
			WHERE device_id = $1 AND client_id = $2 AND revoked_at IS NULL`, device.String(), client.String(), at.UnixMicro()))
		if err != nil {
			return err
		}
		if n[0] == 0 {
			return store.ErrNotFound
		}
		_, err = tx.Exec(ctx, putEvent(store.Event{At: at, Action: store.ActionRevoked, Device: device, Client: client, Actor: actor}))
		return err
	})
	return s.fail("revoking", err)
}

// Audit implements store.Store.
func (s *Store) Audit(ctx context.Context, limit int) ([]store.Event, error) {
	events, err := collect(ctx, s.db, sql(selectEvents+` ORDER BY id DESC LIMIT $1`, limit), scanEvent)
	return events, s.fail("reading the audit", err)
}
