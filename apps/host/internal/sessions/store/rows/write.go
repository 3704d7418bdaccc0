package rows

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// Create implements store.Provider.
func (p *Provider) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	h, err := store.CheckCreate(ctx, projectID, header, lines)
	if err != nil {
		return nil, err
	}
	what := "creating session " + h.ID
	mine := newLease()
	if err := p.make(ctx, h.ID, projectID, header, lines, mine); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	text := append(append([]byte{}, header...), '\n')
	for _, line := range lines {
		text = append(append(text, line...), '\n')
	}
	log, err := p.open(&stored{id: h.ID, projectID: projectID, count: int64(len(lines)), text: text}, mine.token)
	if err != nil {
		p.locks.release(h.ID)
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return log, nil
}

// Import implements store.Provider.
func (p *Provider) Import(ctx context.Context, projectID string, data []byte) error {
	parts, err := store.CheckImport(ctx, projectID, data)
	if err != nil {
		return err
	}
	id := parts.Header.ID
	if err := p.make(ctx, id, projectID, parts.First, parts.Lines, newLease()); err != nil {
		return fmt.Errorf("importing session %s: %w", id, err)
	}
	p.locks.release(id) // its lease is unused from here on
	return nil
}

// make locks an id and stores a whole session under it. After an error the lock is not held.
func (p *Provider) make(ctx context.Context, id, projectID string, header []byte, lines []json.RawMessage, mine lease) error {
	if err := p.fit(lines); err != nil {
		return err
	}
	switch got, err := p.locks.acquire(ctx, id); {
	case err != nil:
		return p.d.Explain(err)
	case !got:
		if err := p.inUse(ctx, id); !errors.Is(err, store.ErrInUse) {
			return err // another host is creating or deleting it
		}
		return store.ErrExists
	}
	list := rowsOf(lines, nil)
	err := p.within(ctx, copyTimeout, &writing, func(ctx context.Context, tx *sql.Tx) error {
		var token string
		switch err := tx.QueryRowContext(ctx, p.d.sql(`SELECT lease FROM scorel_sessions WHERE id = ?`), id).Scan(&token); {
		case err == nil && token == mine.token:
			return nil // an earlier attempt did it
		case err == nil:
			return ours{store.ErrExists}
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		now := time.Now().UnixMicro()
		_, err := tx.ExecContext(ctx, p.d.sql(`INSERT INTO scorel_sessions
			(id, project_id, header, entry_count, created_at, modified_at, lease, holder) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
			id, projectID, header, len(lines), now, now, mine.token, mine.holder)
		if err != nil {
			return err
		}
		return p.insert(ctx, tx, id, 0, list)
	})
	if err != nil {
		p.locks.release(id)
		return p.d.Explain(err)
	}
	return nil
}

// Delete implements store.Provider.
func (p *Provider) Delete(ctx context.Context, id string) error {
	what := fmt.Sprintf("deleting session %.140q", id)
	if store.CheckName(id) != nil {
		return fmt.Errorf("%s: %w", what, store.ErrNotFound)
	}
	if err := p.lock(ctx, id); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer p.locks.release(id)
	gone := false // an earlier attempt may have done it
	err := p.within(ctx, copyTimeout, &writing, func(ctx context.Context, tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, p.d.sql(`DELETE FROM scorel_sessions WHERE id = ?`), id) // its lines are deleted with it
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err == nil && n == 0 && !gone {
			return ours{store.ErrNotFound}
		}
		gone = true
		return err
	})
	return p.fail(what, err)
}
