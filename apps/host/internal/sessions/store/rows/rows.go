// Package rows keeps sessions as rows of an SQL database, whichever: packages
// postgres and mysql say how theirs differs (Dialect). It keeps the contract of
// store.Provider.
//
// A session is a row of scorel_sessions and, for each line of its file, a row of
// scorel_entries with the line's bytes. entry_seq counts the lines from 1 and never
// changes; the bytes are the truth, and what else a row holds is made from them for
// people and queries. So a session reads exactly as its file would, damage and odd
// lines included: what is read is put together as a file and given to
// session.ReadFile.
//
// Two things keep a session to one writer. A lock of the database, held by a
// connection, says that its holder lives: it ends with the connection. A lease, a
// random text in the session's row, says whose turn it is: each append is a
// transaction that first finds its own lease and its own count of lines there. A
// host that lost its lock without knowing is thereby refused as soon as another one
// has opened the session, and an append that was repeated because its answer got
// lost finds that it is done.
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
	// settleTimeout is how long an append whose answer got lost tries to learn
	// what became of it: long enough for a server that starts again.
	settleTimeout = 15 * time.Second
	// attempts is how often a call is made whose connection ends: a pool may hold
	// several that ended while nobody looked.
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

// New takes over a database whose schema is up to date.
func New(d *Dialect, dbs Databases) *Provider {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Provider{d: d, dbs: dbs, locks: newLocker(d, dbs), settle: settleTimeout, cancel: cancel}
	go p.locks.run(ctx)
	return p
}

// SettleWithin changes how long an append whose answer got lost tries to learn what
// became of it. It is called before the provider is used.
func (p *Provider) SettleWithin(d time.Duration) { p.settle = d }

// Place names the database for people, without any secret.
func (p *Provider) Place() string { return p.d.Place }

// Close implements store.Provider.
func (p *Provider) Close() error {
	p.cancel()
	<-p.locks.done
	if err := p.dbs.Close(); err != nil {
		return fmt.Errorf("closing the database %s: %w", p.d.Place, err)
	}
	return nil
}

// fail says what was being done and what the error of the database means.
func (p *Provider) fail(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, p.d.Explain(err))
}

// within runs f in a transaction, and again where the connection or the server gave
// up before it was done. f must be harmless to repeat, even when it was committed.
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
		_ = tx.Rollback() // the first error is the one to tell
		return err
	}
	if err := tx.Commit(); err != nil {
		return &commitError{err}
	}
	return nil
}

// commitError is an error of a commit: nobody knows whether it was done.
type commitError struct{ cause error }

func (e *commitError) Error() string { return e.cause.Error() }
func (e *commitError) Unwrap() error { return e.cause }

// ours marks an error that is not the database's, and is told as it is.
type ours struct{ error }

func (e ours) Unwrap() error { return e.error }

// Transactions that read see one state. Those that write see what was committed
// before each statement, and lock no more rows than they change.
var (
	reading = sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
	writing = sql.TxOptions{Isolation: sql.LevelReadCommitted}
)

// lease is a turn at writing a session.
type lease struct{ token, holder string }

func newLease() lease {
	holder, _ := json.Marshal(store.ThisProcess()) // it has no value that JSON cannot hold
	return lease{rand.Text(), string(holder)}
}

// inUse tells who has a session, as far as its row says.
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
	_ = json.Unmarshal([]byte(record), &inUse.Holder) // a holder that does not read is one that is not known
	return inUse
}
