package rows

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

var _ store.Tailer = (*Provider)(nil)

// revisionOf returns the revision of a session, which is also the mark of its end. Lines never
// change, so the creation time and the number of lines identify a state.
func revisionOf(created, count int64) string { return fmt.Sprintf("%d.%d", created, count) }

// Tail implements store.Tailer.
func (p *Provider) Tail(ctx context.Context, id, mark string) (tail store.Tail, err error) {
	what := fmt.Sprintf("reading the end of session %.140q", id)
	if store.CheckName(id) != nil {
		return tail, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	}
	var whole *stored
	err = p.within(ctx, copyTimeout, &reading, func(ctx context.Context, tx *sql.Tx) error {
		tail, whole = store.Tail{}, nil
		var created, count int64
		row := tx.QueryRowContext(ctx, p.d.sql(`SELECT created_at, entry_count FROM scorel_sessions WHERE id = ?`), id)
		switch err := row.Scan(&created, &count); {
		case errors.Is(err, sql.ErrNoRows):
			return ours{store.ErrNotFound}
		case err != nil:
			return err
		}
		tail.Revision = revisionOf(created, count)
		var was, from int64
		if n, err := fmt.Sscanf(mark, "%d.%d", &was, &from); n == 2 && err == nil && was == created && from >= 0 && from <= count {
			ok, err := p.linesBehind(ctx, tx, id, from, count, &tail)
			if ok || err != nil {
				return err
			}
		}
		whole, err = p.load(ctx, tx, id)
		return err
	})
	if err == nil && whole != nil {
		tail.Entries = nil
		if tail.File, err = whole.file(); err == nil && len(tail.File.Damage) == 0 {
			tail.Mark = tail.Revision
		}
	}
	return tail, p.fail(what, err)
}

// linesBehind reads the lines after one. It returns false if one is missing or is not an entry.
func (p *Provider) linesBehind(ctx context.Context, tx *sql.Tx, id string, from, count int64, tail *store.Tail) (bool, error) {
	found, err := tx.QueryContext(ctx, p.d.sql(`SELECT entry_seq, line FROM scorel_entries WHERE session_id = ? AND entry_seq > ? ORDER BY entry_seq`), id, from)
	if err != nil {
		return false, err
	}
	defer found.Close()
	for found.Next() {
		var seq int64
		var line sql.RawBytes
		if err := found.Scan(&seq, &line); err != nil {
			return false, err
		}
		entry, parseErr := session.ParseEntry(bytes.Clone(line))
		if from++; seq != from || parseErr != nil || entry.Type == session.TypeSession {
			return false, found.Close() // another query follows in this transaction
		}
		tail.Entries = append(tail.Entries, entry)
	}
	if err := found.Err(); err != nil || from != count {
		return false, err
	}
	tail.Mark = tail.Revision
	return true, nil
}
