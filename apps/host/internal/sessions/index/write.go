package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

const (
	// gatherFor is how long a change waits for others, so that one transaction writes them
	// together.
	gatherFor = 200 * time.Millisecond
	// batchSessions and batchBytes bound a transaction, so that a search never waits long for
	// the database and little is repeated after a failure.
	batchSessions = 64
	batchBytes    = 8 << 20
	// retryAfter is the pause before failed changes are retried.
	retryAfter = 30 * time.Second
	// closeWithin bounds how long Close writes pending changes.
	closeWithin = 3 * time.Second
)

// run is the goroutine that writes to the index.
func (x *Index) run(ctx context.Context) {
	defer close(x.ended)
	var retry <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
			defer cancel()
			x.flush(last)
			return
		case <-x.wake:
		case <-retry:
		}
		if !x.gather(ctx) {
			continue
		}
		retry = nil
		if x.flush(ctx) {
			retry = time.After(retryAfter)
		}
	}
}

// gather waits for more changes, unless a caller of Settle waits. It returns false if ctx has
// ended.
func (x *Index) gather(ctx context.Context) bool {
	timer := time.NewTimer(gatherFor)
	defer timer.Stop()
	for {
		x.mu.Lock()
		hurry := len(x.settled) > 0
		x.mu.Unlock()
		if hurry {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-x.wake:
		}
	}
}

// flush writes all pending changes. It returns true if some of them need a retry.
func (x *Index) flush(ctx context.Context) (again bool) {
	x.mu.Lock()
	work, settled := x.waiting, x.settled
	corrupt := x.corrupt
	x.waiting, x.settled, x.corrupt, x.taken = map[string]change{}, nil, nil, len(work)
	x.mu.Unlock()
	if corrupt != nil {
		work = x.renew(ctx, corrupt, work)
	}
	failed := x.writeAll(ctx, work)
	x.mu.Lock()
	for id, c := range failed {
		if _, newer := x.waiting[id]; !newer {
			x.waiting[id] = c
		}
	}
	x.taken, again = 0, len(failed) > 0 || x.corrupt != nil
	x.mu.Unlock()
	for _, done := range settled {
		close(done)
	}
	return again
}

// writeAll writes changes in batches and returns those that failed.
func (x *Index) writeAll(ctx context.Context, work map[string]change) (failed map[string]change) {
	failed = map[string]change{}
	renewed := false
	ids := slices.Sorted(maps.Keys(work)) // ids increase with their time of creation
	for len(ids) > 0 {
		n, err := x.writeBatch(ctx, ids, work)
		for _, id := range ids[:n] {
			if err != nil {
				failed[id] = work[id]
			}
		}
		ids = ids[n:]
		x.mu.Lock()
		x.taken = len(ids)
		x.mu.Unlock()
		switch {
		case err == nil || ctx.Err() != nil:
		case isCorrupt(err) && !renewed:
			renewed = true
			work, failed = x.renew(ctx, err, work), map[string]change{}
			ids = slices.Sorted(maps.Keys(work))
		default:
			x.logger.Error("writing to the session index; it is retried", "error", err)
		}
	}
	return failed
}

// writeBatch writes some of the changes in one transaction and returns how many,
// at least one.
func (x *Index) writeBatch(ctx context.Context, ids []string, work map[string]change) (n int, err error) {
	if err := ctx.Err(); err != nil {
		return len(ids), err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return min(len(ids), batchSessions), fmt.Errorf("beginning: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // no effect after the commit
	b := &batch{x: x, tx: tx}
	if err := b.prepare(ctx); err != nil {
		return min(len(ids), batchSessions), err
	}
	for n < min(len(ids), batchSessions) && b.bytes < batchBytes {
		id := ids[n]
		n++
		if err := b.write(ctx, id, work[id]); err != nil {
			return n, fmt.Errorf("session %.140q: %w", id, err)
		}
	}
	return n, tx.Commit()
}

// renew sets a corrupt index aside and creates an empty one. It returns what has to be written
// then: all sessions, and the changes that were pending.
func (x *Index) renew(ctx context.Context, cause error, work map[string]change) map[string]change {
	x.logger.Warn("the session index is corrupt; it is set aside and rebuilt", "file", x.path, "aside", x.path+brokenEnding, "error", cause)
	x.dbMu.Lock()
	err := errors.Join(x.db.Close(), putAside(x.path))
	if err == nil {
		var db *sql.DB
		if db, err = openFile(ctx, x.path); err == nil {
			x.db = db
		}
	}
	x.dbMu.Unlock()
	var list []store.Info
	if err == nil {
		list, err = x.provider.List(ctx)
	}
	if err != nil {
		x.logger.Error("rebuilding the session index failed; it is retried", "error", err)
		x.mu.Lock()
		x.corrupt = cause
		x.mu.Unlock()
		return work
	}
	all := make(map[string]change, len(list))
	for _, info := range list {
		all[info.Header.ID] = change{projectID: info.ProjectID}
	}
	maps.Copy(all, work)
	return all
}
