// Package sqlite keeps a relay's durable state in one SQLite file. It is the
// default store: one node, no server to run.
package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

//go:embed migrations/*.sql
var migrations embed.FS

// maxConns bounds the connections to the file: when thousands of peers log in at
// once they queue for these instead of opening the file thousands of times.
const maxConns = 8

// DB is a store.Store in one file.
type DB struct{ db *sql.DB }

var _ store.Store = (*DB)(nil)

// Open opens or makes the file and brings its schema up to date.
func Open(ctx context.Context, path string) (*DB, error) {
	options := url.Values{
		"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		// A transaction that reads and then writes must take the write lock at
		// once: upgrading later fails with SQLITE_BUSY whatever the timeout.
		"_txlock": {"immediate"},
	}
	if err := reserve(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+options.Encode())
	if err != nil {
		return nil, fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	if err := migrate(ctx, db); err != nil {
		_ = db.Close() // the first error is the one to tell
		return nil, fmt.Errorf("sqlite: preparing %s: %w", path, err)
	}
	return &DB{db: db}, nil
}

// reserve makes the file before SQLite does, which would let others read who may
// reach whom. The write-ahead log gets the mode of the file.
func reserve(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("sqlite: opening %s: %w", path, err)
	}
	return file.Close()
}

func migrate(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, dir)
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// Close implements store.Store.
func (d *DB) Close() error { return d.db.Close() }

// Check implements store.Store.
func (d *DB) Check(ctx context.Context) error {
	var n int
	if err := d.db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM bindings LIMIT 1)`).Scan(&n); err != nil {
		return fmt.Errorf("sqlite: check: %w", err)
	}
	return nil
}

const (
	clientsOfDevice = `SELECT c.id, c.sign_key, c.seal_key, c.label FROM bindings b JOIN clients c ON c.id = b.client_id
		WHERE b.device_id = $1 AND b.revoked_at IS NULL`
	devicesOfClient = `SELECT d.id, d.sign_key, d.seal_key, d.label FROM bindings b JOIN devices d ON d.id = b.device_id
		WHERE b.client_id = $1 AND b.revoked_at IS NULL`
)

// Bindings implements store.Store.
func (d *DB) Bindings(ctx context.Context, id ident.ID) ([]store.Party, error) {
	query := clientsOfDevice
	if id.Kind() == ident.KindClient {
		query = devicesOfClient
	}
	rows, err := d.db.QueryContext(ctx, query, id.String())
	if err != nil {
		return nil, fmt.Errorf("sqlite: reading bindings: %w", err)
	}
	defer rows.Close()
	var out []store.Party
	for rows.Next() {
		party, err := scanParty(rows)
		if err != nil {
			return nil, fmt.Errorf("sqlite: reading bindings: %w", err)
		}
		out = append(out, party)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("sqlite: reading bindings: %w", err)
	}
	return out, nil
}

// scanParty reads one row and refuses a party whose keys are not those of its
// id: a damaged row must not become an authorization.
func scanParty(rows *sql.Rows) (store.Party, error) {
	var (
		text             string
		signKey, sealKey []byte
		party            store.Party
	)
	if err := rows.Scan(&text, &signKey, &sealKey, &party.Label); err != nil {
		return store.Party{}, err
	}
	id, err := ident.ParseID(text)
	if err != nil {
		return store.Party{}, err
	}
	party.ID = id
	if copy(party.Sign[:], signKey) != ident.KeyLen || copy(party.Seal[:], sealKey) != ident.KeyLen ||
		ident.NewID(id.Kind(), party.Public) != id {
		return store.Party{}, fmt.Errorf("keys of %s are damaged", id)
	}
	return party, nil
}

// Relabel implements store.Store.
func (d *DB) Relabel(ctx context.Context, id ident.ID, label string) error {
	query := `UPDATE devices SET label = $2 WHERE id = $1 AND label <> $2`
	if id.Kind() == ident.KindClient {
		query = `UPDATE clients SET label = $2 WHERE id = $1 AND label <> $2`
	}
	if _, err := d.db.ExecContext(ctx, query, id.String(), label); err != nil {
		return fmt.Errorf("sqlite: noting a label: %w", err)
	}
	return nil
}

// Bind implements store.Store.
func (d *DB) Bind(ctx context.Context, device, client store.Party, at time.Time) error {
	return d.inTx(ctx, "binding", func(tx *sql.Tx) error {
		if err := checkRoom(ctx, tx, device.ID, client.ID); err != nil {
			return err
		}
		if err := putParty(ctx, tx, "devices", device, at); err != nil {
			return err
		}
		if err := putParty(ctx, tx, "clients", client, at); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO bindings (device_id, client_id, created_at) VALUES ($1, $2, $3)
			ON CONFLICT (device_id, client_id) DO UPDATE SET created_at = excluded.created_at, revoked_at = NULL`,
			device.ID.String(), client.ID.String(), at.UnixMicro())
		if err != nil {
			return err
		}
		return putEvent(ctx, tx, store.Event{At: at, Action: store.ActionBound, Device: device.ID, Client: client.ID})
	})
}

// checkRoom counts the bindings with others: renewing one needs no room.
func checkRoom(ctx context.Context, tx *sql.Tx, device, client ident.ID) error {
	var ofDevice, ofClient int
	err := tx.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM bindings WHERE device_id = $1 AND client_id <> $2 AND revoked_at IS NULL),
		(SELECT count(*) FROM bindings WHERE client_id = $2 AND device_id <> $1 AND revoked_at IS NULL)`,
		device.String(), client.String()).Scan(&ofDevice, &ofClient)
	if err != nil {
		return err
	}
	if max(ofDevice, ofClient) >= wire.MaxBindings {
		return fmt.Errorf("%w: one side has %d", store.ErrLimit, max(ofDevice, ofClient))
	}
	return nil
}

// putParty writes a party to table, which is one of ours and no input.
func putParty(ctx context.Context, tx *sql.Tx, table string, p store.Party, at time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO `+table+` (id, sign_key, seal_key, label, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) DO UPDATE SET label = excluded.label`,
		p.ID.String(), p.Sign[:], p.Seal[:], p.Label, at.UnixMicro())
	return err
}

// Revoke implements store.Store.
func (d *DB) Revoke(ctx context.Context, device, client, actor ident.ID, at time.Time) error {
	return d.inTx(ctx, "revoking", func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, `UPDATE bindings SET revoked_at = $3
			WHERE device_id = $1 AND client_id = $2 AND revoked_at IS NULL`, device.String(), client.String(), at.UnixMicro())
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			return store.ErrNotFound
		}
		return putEvent(ctx, tx, store.Event{At: at, Action: store.ActionRevoked, Device: device, Client: client, Actor: actor})
	})
}

func putEvent(ctx context.Context, tx *sql.Tx, e store.Event) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO audit (at, action, device_id, client_id, actor_id) VALUES ($1, $2, $3, $4, $5)`,
		e.At.UnixMicro(), string(e.Action), e.Device.String(), e.Client.String(), e.Actor.String())
	return err
}

// Audit implements store.Store.
func (d *DB) Audit(ctx context.Context, limit int) ([]store.Event, error) {
	rows, err := d.db.QueryContext(ctx, `SELECT at, action, device_id, client_id, actor_id FROM audit ORDER BY id DESC LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("sqlite: reading the audit: %w", err)
	}
	defer rows.Close()
	var out []store.Event
	for rows.Next() {
		var (
			e                     store.Event
			at                    int64
			device, client, actor string
		)
		if err := rows.Scan(&at, &e.Action, &device, &client, &actor); err != nil {
			return nil, fmt.Errorf("sqlite: reading the audit: %w", err)
		}
		e.At = time.UnixMicro(at).UTC()
		for _, field := range []struct {
			id   *ident.ID
			text string
		}{{&e.Device, device}, {&e.Client, client}, {&e.Actor, actor}} {
			if err := field.id.UnmarshalText([]byte(field.text)); err != nil {
				return nil, fmt.Errorf("sqlite: reading the audit: %w", err)
			}
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("sqlite: reading the audit: %w", err)
	}
	return out, nil
}

func (d *DB) inTx(ctx context.Context, what string, f func(*sql.Tx) error) error {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("sqlite: %s: %w", what, err)
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the first error is the one to tell
		return fmt.Errorf("sqlite: %s: %w", what, err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("sqlite: %s: %w", what, err)
	}
	return nil
}
