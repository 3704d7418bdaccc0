// Package index is a copy of what the sessions of a host contain, for lists and for search.
// The sessions are authoritative: deleting the index loses nothing, and a missing, stale or
// corrupt index is rebuilt from them.
//
// It guarantees:
//
//   - Touch never blocks and never fails. It only marks a session as extended; one
//     goroutine reads the end of the session from the provider and writes it to the
//     index, many sessions in one transaction. A session that is touched a thousand
//     times in between is read once, so the number of pending changes is bounded by the
//     number of sessions, and nothing is lost while the index is behind.
//   - A row of the list names the revision of the session that it was made from. Readers
//     of the list compare it with the provider (Stale), and touch sessions that differ.
//   - Search sees what is written to the index by then; Behind returns how many sessions
//     wait.
//   - An index that turns out to be corrupt is logged, set aside as <path>.broken, and
//     rebuilt.
//
// Text is indexed per entry: what people and models wrote, arguments and results of tools,
// summaries, and the names of sessions; not the thinking of models, and of each entry only
// the first MaxText bytes. Words match regardless of case and accents. Scripts without
// spaces between words (Chinese, Japanese, Thai and others) are indexed character by
// character, so that every part of a text can be found without a second table.
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

// ErrClosed means that the index was closed.
var ErrClosed = errors.New("index: closed")

// Index is open until Close. It is safe for concurrent use.
type Index struct {
	// Static after Open.
	path     string
	provider store.Provider
	logger   *slog.Logger
	wake     chan struct{} // holds one
	cancel   context.CancelFunc
	ended    chan struct{} // closed when the goroutine has ended

	dbMu sync.RWMutex // held while the file is set aside
	db   *sql.DB

	mu      sync.Mutex
	waiting map[string]change // pending changes by session id
	taken   int               // how many are being written
	settled []chan struct{}   // each closed when everything touched before it is written
	corrupt error             // the error of a reader that found the index corrupt
}

// change is a pending change of a session.
type change struct {
	projectID string
	removed   bool
}

// Open opens the index in a file, or creates it. The provider supplies the sessions and
// outlives the index.
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

// Touch marks a session of a project as new or extended.
func (x *Index) Touch(sessionID, projectID string) { x.note(sessionID, change{projectID: projectID}) }

// Remove marks a session as deleted.
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

// Behind returns how many sessions wait to be indexed.
func (x *Index) Behind() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.waiting) + x.taken
}

// Settle waits until everything touched before is written or has failed.
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

// Close writes pending changes, for at most a few seconds, and closes the file. Sessions that
// were not written are stale at the next start.
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
