package rows

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Log is a session that is open for writing.
type Log struct {
	p     *Provider
	id    string
	lease string
	file  *session.File
	count int64 // stored lines
	stop  error // why nothing can be appended anymore
}

var _ store.Log = (*Log)(nil)

// open returns the log of a session that was just claimed or created.
func (p *Provider) open(s *stored, token string) (*Log, error) {
	file, err := s.file()
	if err != nil {
		return nil, err
	}
	l := &Log{p: p, id: s.id, lease: token, file: file, count: s.count}
	if what := store.Damage(file); what != "" {
		l.stop = &store.DamageError{What: what}
	}
	return l, nil
}

// File implements store.Log.
func (l *Log) File() *session.File { return l.file }

// Append implements store.Log. If the answer of the database is lost, it retries until the
// outcome is known, for up to Provider.settle.
func (l *Log) Append(ctx context.Context, lines ...json.RawMessage) error {
	err := l.stop
	if err == nil {
		err = store.CheckLines(lines)
	}
	if err == nil {
		err = l.p.fit(lines)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && len(lines) > 0 {
		err = l.store(context.WithoutCancel(ctx), lines)
	}
	if err != nil {
		return fmt.Errorf("appending to session %s: %w", l.id, err)
	}
	return nil
}

func (l *Log) store(ctx context.Context, lines []json.RawMessage) error {
	var taken map[string]bool
	unsure := false // an earlier attempt may have been committed
	deadline := time.Now().Add(l.p.settle)
	for n := 1; ; n++ {
		err := l.attempt(ctx, rowsOf(lines, taken), unsure)
		if err == nil {
			l.count += int64(len(lines))
			return nil
		}
		class, late := l.p.classOf(err), time.Now().After(deadline)
		unsure = unsure || class != Refused && errors.As(err, new(*commitError))
		switch {
		case l.stop != nil:
			return err
		case class == Duplicate && taken == nil:
			if taken, err = l.p.takenOf(ctx, l.id, lines); err != nil && !unsure {
				return l.p.d.Explain(err)
			}
		case unsure && late:
			l.stop = store.ErrLost
			return fmt.Errorf("%w (%w)", store.ErrLost, l.p.d.Explain(err))
		case unsure:
			if err := pause(ctx, n); err != nil {
				return err
			}
		case (class == Again || class == Cut) && n < attempts && !late:
		default:
			return l.p.d.Explain(err)
		}
	}
}

// pause waits longer after each attempt, up to a second.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(min(time.Second, time.Duration(n)*20*time.Millisecond))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// attempt stores the rows in one transaction. If unsure is true, an earlier attempt may have
// stored them, which attempt detects.
func (l *Log) attempt(ctx context.Context, list []row, unsure bool) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return l.p.once(ctx, &writing, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, l.p.d.sql(`UPDATE scorel_sessions SET entry_count = ?, modified_at = ?
			WHERE id = ? AND lease = ? AND entry_count = ?`),
			l.count+int64(len(list)), time.Now().UnixMicro(), l.id, l.lease, l.count)
		if err != nil {
			return err
		}
		changed, err := result.RowsAffected()
		if err != nil {
			return err
		}
		if changed == 1 {
			return l.p.insert(ctx, tx, l.id, l.count, list)
		}
		return l.settled(ctx, tx, int64(len(list)), unsure)
	})
}

// settled explains why the session's row is not as this log left it: nil if the earlier attempt
// succeeded, otherwise an error that another host has the session.
func (l *Log) settled(ctx context.Context, tx *sql.Tx, added int64, unsure bool) error {
	var token, record string
	var count int64
	err := tx.QueryRowContext(ctx, l.p.d.sql(`SELECT lease, holder, entry_count FROM scorel_sessions WHERE id = ?`), l.id).Scan(&token, &record, &count)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		l.stop = fmt.Errorf("%w: it was deleted elsewhere", store.ErrNotFound)
		return ours{l.stop}
	case err != nil:
		return err
	case token == l.lease && unsure && count == l.count+added:
		return nil
	}
	inUse := &store.InUseError{ID: l.id}
	_ = json.Unmarshal([]byte(record), &inUse.Holder) // a holder that does not decode is unknown
	l.stop = fmt.Errorf("%w: %w", store.ErrLost, inUse)
	return ours{l.stop}
}

// Close implements store.Log. It releases the lock even if the database cannot be reached.
func (l *Log) Close() error {
	if errors.Is(l.stop, store.ErrClosed) {
		return nil
	}
	l.stop = store.ErrClosed
	err := l.p.within(context.Background(), callTimeout, &writing, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, l.p.d.sql(`UPDATE scorel_sessions SET lease = '', holder = '' WHERE id = ? AND lease = ?`), l.id, l.lease)
		return err
	})
	l.p.locks.release(l.id)
	if err != nil {
		l.p.dbs.Logger.Warn("a session was closed while its database was unavailable", "store", l.p.d.Name, "session", l.id, "error", l.p.d.Explain(err))
	}
	return nil
}
