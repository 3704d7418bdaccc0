// Package index is a copy of what the sessions of a host hold, made for lists and
// for search. The sessions are the truth: deleting the index loses nothing, and a
// missing, stale or corrupt one is built again from them.
//
// What it promises:
//
//   - Touch never blocks and never fails. It only notes that a session has grown;
//     one goroutine reads the end of it from the provider and writes it to the
//     index, many sessions in one transaction. A session that is touched a thousand
//     times meanwhile is read once, so what waits is bounded by the number of
//     sessions, and nothing is lost when the index is behind.
//   - A row of the list says of which revision of its session it is made. Who reads
//     the list compares that with the provider (Stale), and touches what differs.
//   - Search sees what is written to the index by then; Behind tells how many
//     sessions wait.
//   - An index that turns out to be corrupt is put aside as <path>.broken, with a
//     line in the log, and begins anew.
//
// The text is held by entry: what people and models said, what tools were called
// with and answered, summaries, and the names of sessions; not what a model
// thought, and of each entry only the first MaxText bytes. Words are found without
// regard to case and accents. Writing without spaces between words (Chinese,
// Japanese, Thai and others) is taken character by character, so that every part of
// it is found, and there is no second table for it.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// ErrClosed says that the index was closed.
var ErrClosed = errors.New("index: it is closed")

// Index is open until Close. It is safe for concurrent use.
type Index struct {
	// Static after Open.
	path     string
	provider store.Provider
	logger   *slog.Logger
	wake     chan struct{} // holds one
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the goroutine has ended

	dbMu sync.RWMutex // held while the file is put aside
	db   *sql.DB

	mu      sync.Mutex
	waiting map[string]change // session id -> what is to be done
	taken   int               // how many are being written now
	settled []chan struct{}   // closed when all that was touched before is written
	corrupt error             // what a reader stumbled over
}

// change is what is to be done about a session.
type change struct {
	projectID string
	removed   bool
}

// Open opens the index in a file, or makes it. The provider is where the sessions
// are read from; it outlives the index.
func Open(ctx context.Context, path string, provider store.Provider, logger *slog.Logger) (*Index, error) {
	x := &Index{
		path: path, provider: provider, logger: logger,
		wake: make(chan struct{}, 1), ended: make(chan struct{}), waiting: map[string]change{},
	}
	var err error
	if x.db, err = openOrRenew(ctx, path, logger); err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x.cancel = cancel
	go x.run(run)
	return x, nil
}

// Touch notes that a session of a project is new or has grown.
func (x *Index) Touch(sessionID, projectID string) { x.note(sessionID, change{projectID: projectID}) }

// Remove notes that a session is no more.
func (x *Index) Remove(sessionID string) { x.note(sessionID, change{removed: true}) }

func (x *Index) note(sessionID string, c change) {
	x.mu.Lock()
	x.waiting[sessionID] = c
	x.mu.Unlock()
	x.rouse()
}

func (x *Index) rouse() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Behind returns how many sessions wait to be written to the index.
func (x *Index) Behind() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.waiting) + x.taken
}

// Settle waits until all that was touched before is written, or could not be.
func (x *Index) Settle(ctx context.Context) error {
	done := make(chan struct{})
	x.mu.Lock()
	x.settled = append(x.settled, done)
	x.mu.Unlock()
	x.rouse()
	select {
	case <-done:
		return nil
	case <-x.ended:
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close writes what waits, for at most a few seconds, and closes the file. What
// was not written is found stale at the next start.
func (x *Index) Close() error {
	x.cancel()
	<-x.ended
	x.dbMu.Lock()
	defer x.dbMu.Unlock()
	if err := x.db.Close(); err != nil {
		return fmt.Errorf("index: closing: %w", err)
	}
	return nil
}
