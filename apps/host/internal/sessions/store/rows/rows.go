// Package rows stores sessions as rows of an SQL database and implements store.Provider. A
// Dialect, as in packages postgres and mysql, describes the differences between databases.
//
// A session is a row of scorel_sessions and, for each line of its file, a row of scorel_entries
// with the line's bytes. entry_seq counts the lines from 1 and never changes. The bytes are
// authoritative; the other columns are derived from them for people and queries. A session
// reads exactly as its file would, including damage and unusual lines: the rows are joined to a
// file for session.ReadFile.
//
// Two things keep a session to one writer. A lock of the database, held by a connection, shows
// that its holder is alive, and ends with the connection. A lease, a random text in the
// session's row, identifies the writer: each append is a transaction that first verifies its
// own lease and line count. So a host that lost its lock without noticing is rejected as soon
// as another one has opened the session, and an append that is retried after a lost answer
// detects that it was done.
package rows

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// Times that bound what the database may take.
const (
	// callTimeout bounds one transaction.
	callTimeout = 20 * time.Second
	// copyTimeout bounds one that moves a whole session.
	copyTimeout = 5 * time.Minute
	// settleTimeout is how long an append with a lost answer tries to learn the outcome: long
	// enough for a restart of the server.
	settleTimeout = 15 * time.Second
	// attempts is how often a call is made if its connection ends: a pool may contain several
	// connections that ended unnoticed.
	attempts = 8
)

// Provider keeps sessions in a database.
type Provider struct {
	d      *Dialect
	dbs    Databases
	locks  *locker
	settle time.Duration
	cancel context.CancelFunc
}

var _ store.Provider = (*Provider)(nil)

// New takes ownership of a database whose schema is up to date.
func New(d *Dialect, dbs Databases) *Provider {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{d: d, dbs: dbs, locks: newLocker(d, dbs), settle: settleTimeout, cancel: cancel}
	go p.locks.run(ctx)
	return p
}

// SettleWithin changes how long an append with a lost answer tries to learn the outcome. It is
// called before the provider is used.
func (p *Provider) SettleWithin(d time.Duration) { p.settle = d }

// Ping returns nil if the database responds. It does not wait for a connection of the pool,
// which long transactions may occupy.
func (p *Provider) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return p.d.Explain(p.dbs.Locks.PingContext(ctx))
}

// Close implements store.Provider.
func (p *Provider) Close() error {
	p.cancel()
	<-p.locks.done
	if err := p.dbs.Close(); err != nil {
		return fmt.Errorf("closing the database %s: %w", p.d.Place, err)
	}
	return nil
}

// fail wraps an error of the database with the operation and an explanation.
func (p *Provider) fail(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, p.d.Explain(err))
}

// within runs f in a transaction, and again if the connection or the server failed. f must be
// safe to repeat, even after a commit.
func (p *Provider) within(ctx context.Context, timeout time.Duration, options *sql.TxOptions, f func(context.Context, *sql.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for n := 1; ; n++ {
		err := p.once(ctx, options, f)
		if err == nil || n == attempts || ctx.Err() != nil {
			return err
		}
		if class := p.classOf(err); class != Again && class != Cut {
			return err
		}
	}
}

func (p *Provider) classOf(err error) Class {
	if errors.As(err, new(ours)) {
		return Refused
	}
	return p.d.ClassOf(err)
}

// once is within without a second attempt.
func (p *Provider) once(ctx context.Context, options *sql.TxOptions, f func(context.Context, *sql.Tx) error) error {
	tx, err := p.dbs.Pool.BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := f(ctx, tx); err != nil {
		_ = tx.Rollback() // the first error is the one to return
		return err
	}
	if err := tx.Commit(); err != nil {
		return &commitError{err}
	}
	return nil
}

// commitError is a failed commit whose outcome is unknown.
type commitError struct{ cause error }

func (e *commitError) Error() string { return e.cause.Error() }
func (e *commitError) Unwrap() error { return e.cause }

// ours marks an error that is not from the database and is returned unchanged.
type ours struct{ error }

func (e ours) Unwrap() error { return e.error }

// Transactions that read see one state. Those that write see what was committed before each
// statement, and lock only the rows that they change.
var (
	reading = sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	writing = sql.TxOptions{Isolation: sql.LevelReadCommitted}
)

// lease is the right to write a session.
type lease struct{ token, holder string }

func newLease() lease {
	holder, _ := json.Marshal(store.ThisProcess()) // it contains no value that JSON cannot encode
	return lease{rand.Text(), string(holder)}
}

// inUse returns who has a session, according to its row.
func (p *Provider) inUse(ctx context.Context, id string) error {
	var record string
	err := p.within(ctx, callTimeout, &reading, func(ctx context.Context, tx *sql.Tx) error {
		return tx.QueryRowContext(ctx, p.d.sql(`SELECT holder FROM scorel_sessions WHERE id = ?`), id).Scan(&record)
	})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound
	case err != nil:
		return p.d.Explain(err)
	}
	inUse := &store.InUseError{ID: id}
	_ = json.Unmarshal([]byte(record), &inUse.Holder) // a holder that does not decode is unknown
	return inUse
}
