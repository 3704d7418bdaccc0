package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"hash/fnv"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// batch is one transaction of the writer.
type batch struct {
	x                       *Index
	tx                      *sql.Tx
	bytes                   int
	free, addEntry, addWord *sql.Stmt

	// The row of the previous entry, for entries of the same millisecond.
	first, base int64
}

func (b *batch) prepare(ctx context.Context) (err error) {
	for statement, text := range map[**sql.Stmt]string{
		&b.free:     `SELECT coalesce(max(id) + 1, ?1) FROM entries WHERE id >= ?1 AND id < ?2`,
		&b.addEntry: `INSERT INTO entries (id, session, entry, seq, role, at, scope, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		&b.addWord:  `INSERT INTO words (rowid, text, scope) VALUES (?, ?, ?)`,
	} {
		if *statement, err = b.tx.PrepareContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// write brings one session up to date. A session that cannot be read is logged and left as it
// is, so that it does not hold up the others.
func (b *batch) write(ctx context.Context, id string, c change) error {
	if c.removed {
		return b.remove(ctx, id)
	}
	row, err := b.load(ctx, id)
	if err != nil {
		return err
	}
	tail, err := store.ReadTail(ctx, b.x.provider, id, row.mark)
	if err == nil && tail.File == nil && (row.ProjectID != c.projectID || !row.follows(tail.Entries)) {
		tail, err = store.ReadTail(ctx, b.x.provider, id, "")
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return b.remove(ctx, id)
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		b.x.logger.Error("a session cannot be indexed", "session", id, "error", err)
		return nil
	}
	entries := tail.Entries
	if tail.File != nil {
		entries = tail.File.Tree.Entries()
		row = Session{Header: tail.File.Header, ProjectID: c.projectID, Digest: NewDigest(tail.File.Header), Damage: store.Trouble(tail.File)}
		if err := b.remove(ctx, id); err != nil {
			return err
		}
	}
	row.Revision, row.mark = tail.Revision, tail.Mark
	return b.add(ctx, id, row, entries)
}

// load returns the row of a session; an empty one if there is none.
func (b *batch) load(ctx context.Context, id string) (Session, error) {
	found, err := b.tx.QueryContext(ctx, selectSessions+` WHERE id = ?`, id)
	if err != nil {
		return Session{}, err
	}
	rows, err := scanSessions(found)
	if err != nil || len(rows) == 0 {
		return Session{}, err
	}
	return rows[0], nil
}

// remove removes a session. It first checks whether the session is indexed: any statement that
// deletes words makes FTS5 flush everything that it has buffered.
func (b *batch) remove(ctx context.Context, id string) error {
	var there bool
	const look = `SELECT EXISTS (SELECT 1 FROM entries WHERE session = ?1) OR EXISTS (SELECT 1 FROM sessions WHERE id = ?1)`
	if err := b.tx.QueryRowContext(ctx, look, id).Scan(&there); err != nil || !there {
		return err
	}
	for _, statement := range []string{
		`INSERT INTO words (words, rowid, text, scope) SELECT 'delete', id, text, scope FROM entries WHERE session = ?`,
		`DELETE FROM entries WHERE session = ?`,
		`DELETE FROM sessions WHERE id = ?`,
	} {
		if _, err := b.tx.ExecContext(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}

// add inserts entries into the tables, and replaces the row of the session.
func (b *batch) add(ctx context.Context, id string, row Session, entries []session.Entry) error {
	last := row.UpdatedAt()
	for _, e := range entries {
		row.Add(e)
		role, text := TextOf(e)
		if text = findable(text); text == "" {
			continue
		}
		if at := Millis(e.Timestamp); at > 0 {
			last = at
		}
		if err := b.addText(ctx, id, row, e.ID, role, last, text); err != nil {
			return err
		}
	}
	text, err := json.Marshal(record{row.Header, row.Digest, row.Damage})
	if err != nil {
		return err
	}
	_, err = b.tx.ExecContext(ctx, `INSERT OR REPLACE INTO sessions (id, project, updated, revision, mark, record) VALUES (?, ?, ?, ?, ?, ?)`,
		id, row.ProjectID, row.UpdatedAt(), row.Revision, row.mark, text)
	return err
}

// Row ids are milliseconds with room for the entries of each.
const (
	perMilli = 1 << 12
	maxMilli = 1 << 50
)

func (b *batch) addText(ctx context.Context, id string, row Session, entryID, role string, at int64, text string) error {
	// The position within the millisecond does not matter; a different one per session avoids
	// collisions.
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	first := min(max(at, 0), maxMilli)*perMilli + int64(h.Sum32()%(perMilli/2))
	rowID, err := b.freeRow(ctx, first)
	if err != nil {
		return err
	}
	scope := scopeWord('p', row.ProjectID) + " " + scopeWord('r', role)
	if _, err := b.addEntry.ExecContext(ctx, rowID, id, entryID, int64(row.Seq), role, at, scope, text); err != nil {
		return err
	}
	b.bytes += len(text)
	_, err = b.addWord.ExecContext(ctx, rowID, text, scope)
	return err
}

// freeRow finds the first free id from first on. Entries that share one time, as in imported
// sessions, spill into the following milliseconds.
func (b *batch) freeRow(ctx context.Context, first int64) (id int64, err error) {
	base := first
	if b.first == first {
		base = b.base
	}
	for ; ; base += perMilli {
		if err := b.free.QueryRowContext(ctx, base, base+perMilli/2).Scan(&id); err != nil {
			return 0, err
		}
		if id < base+perMilli/2 {
			b.first, b.base = first, base
			return id, nil
		}
	}
}
