package rows

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// stored is a session as the database has it.
type stored struct {
	id, projectID string
	count         int64   // the recorded number of lines
	text          []byte  // as its file would be
	missing       []int64 // the entry_seq of missing lines, up to maxMissing
}

// maxMissing bounds how many missing lines are reported.
const maxMissing = 8

// file parses it as a session file.
func (s *stored) file() (*session.File, error) {
	file, err := session.ReadFile(s.text)
	if err != nil {
		return nil, err
	}
	if file.Migrated {
		file.Damage = append(file.Damage, session.Damage{Line: 1, What: fmt.Sprintf("the header does not have version %d", session.Version)})
	}
	for _, seq := range s.missing {
		file.Damage = append(file.Damage, session.Damage{Line: int(seq) + 1, What: "the database has no row for it"})
	}
	return file, nil
}

// load reads a session within a transaction.
func (p *Provider) load(ctx context.Context, tx *sql.Tx, id string) (*stored, error) {
	s := &stored{id: id}
	var header []byte
	err := tx.QueryRowContext(ctx, p.d.sql(`SELECT project_id, header, entry_count FROM scorel_sessions WHERE id = ?`), id).
		Scan(&s.projectID, &header, &s.count)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ours{store.ErrNotFound}
	}
	if err != nil {
		return nil, err
	}
	s.text = append(append(s.text, header...), '\n')
	found, err := tx.QueryContext(ctx, p.d.sql(`SELECT entry_seq, line FROM scorel_entries WHERE session_id = ? ORDER BY entry_seq`), id)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	next := int64(1)
	for ; found.Next(); next++ {
		var seq int64
		var line sql.RawBytes
		if err := found.Scan(&seq, &line); err != nil {
			return nil, err
		}
		s.skip(&next, seq)
		s.text = append(append(s.text, line...), '\n')
	}
	s.skip(&next, s.count+1)
	return s, found.Err()
}

// skip records the lines from next up to seq as missing.
func (s *stored) skip(next *int64, seq int64) {
	for ; *next < seq; *next++ {
		if len(s.missing) == maxMissing {
			*next = seq
			return
		}
		s.missing = append(s.missing, *next)
	}
}

// Open implements store.Provider.
func (p *Provider) Open(ctx context.Context, id string) (store.Log, error) {
	what := fmt.Sprintf("opening session %.140q", id)
	if store.CheckName(id) != nil {
		return nil, fmt.Errorf("%s: %w", what, store.ErrNotFound)
	}
	if err := p.lock(ctx, id); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	mine := newLease()
	var s *stored
	err := p.within(ctx, copyTimeout, &writing, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, p.d.sql(`UPDATE scorel_sessions SET lease = ?, holder = ? WHERE id = ?`), mine.token, mine.holder, id)
		if err != nil {
			return err
		}
		s, err = p.load(ctx, tx, id)
		return err
	})
	var log *Log
	if err == nil {
		log, err = p.open(s, mine.token)
	}
	if err != nil {
		p.locks.release(id)
		return nil, p.fail(what, err)
	}
	return log, nil
}

// lock acquires the lock of a session, or returns who holds it.
func (p *Provider) lock(ctx context.Context, id string) error {
	switch got, err := p.locks.acquire(ctx, id); {
	case err != nil:
		return p.d.Explain(err)
	case !got:
		return p.inUse(ctx, id)
	}
	return nil
}

// Read implements store.Provider.
func (p *Provider) Read(ctx context.Context, id string) (*session.File, error) {
	s, err := p.read(ctx, id)
	if err != nil {
		return nil, p.fail(fmt.Sprintf("reading session %.140q", id), err)
	}
	return s.file()
}

func (p *Provider) read(ctx context.Context, id string) (s *stored, err error) {
	if store.CheckName(id) != nil {
		return nil, ours{store.ErrNotFound}
	}
	err = p.within(ctx, copyTimeout, &reading, func(ctx context.Context, tx *sql.Tx) error {
		s, err = p.load(ctx, tx, id)
		return err
	})
	return s, err
}

// Export implements store.Provider.
func (p *Provider) Export(ctx context.Context, id string) (projectID string, data []byte, err error) {
	s, err := p.read(ctx, id)
	if err == nil && len(s.missing) > 0 {
		err = ours{&store.DamageError{What: fmt.Sprintf("line %d: the database has no row for it", s.missing[0]+1)}}
	}
	if err != nil {
		return "", nil, p.fail(fmt.Sprintf("reading session %.140q", id), err)
	}
	return s.projectID, s.text, nil
}

// List implements store.Provider.
func (p *Provider) List(ctx context.Context) ([]store.Info, error) {
	var list []store.Info
	err := p.within(ctx, callTimeout, &reading, func(ctx context.Context, tx *sql.Tx) error {
		list = nil
		found, err := tx.QueryContext(ctx, `SELECT id, project_id, header, entry_count, created_at, modified_at FROM scorel_sessions`)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var id string
			var header []byte
			var count, created, modified int64
			var info store.Info
			if err := found.Scan(&id, &info.ProjectID, &header, &count, &created, &modified); err != nil {
				return err
			}
			file, err := session.ReadFile(header)
			if err != nil || file.Header.ID != id {
				p.dbs.Logger.Error("a session cannot be listed; it is left as it is", "store", p.d.Name, "session", id, "error", err)
				continue
			}
			info.Header, info.Modified = file.Header, time.UnixMicro(modified)
			info.Revision = revisionOf(created, count)
			list = append(list, info)
		}
		return found.Err()
	})
	return list, p.fail("listing the sessions", err)
}
