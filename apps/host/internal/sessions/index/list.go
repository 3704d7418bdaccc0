package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Page is a part of the list, newest first.
type Page struct {
	ProjectID string // "" means all projects
	// After is the last session of the previous page; nil starts at the beginning.
	After *Session
	Limit int // 0 means no limit
}

const selectSessions = `SELECT project, revision, mark, record FROM sessions`

// List returns sessions in the state in which they were last indexed.
func (x *Index) List(ctx context.Context, page Page) ([]Session, error) {
	updated, id, limit := int64(1<<62), "", -1
	if page.After != nil {
		updated, id = page.After.UpdatedAt(), page.After.Header.ID
	}
	if page.Limit > 0 {
		limit = page.Limit
	}
	x.dbMu.RLock()
	defer x.dbMu.RUnlock()
	var found *sql.Rows
	var err error
	if page.ProjectID == "" {
		found, err = x.db.QueryContext(ctx, selectSessions+
			` WHERE (updated, id) < (?, ?) ORDER BY updated DESC, id DESC LIMIT ?`, updated, id, limit)
	} else {
		found, err = x.db.QueryContext(ctx, selectSessions+
			` WHERE project = ? AND (updated, id) < (?, ?) ORDER BY updated DESC, id DESC LIMIT ?`, page.ProjectID, updated, id, limit)
	}
	if err != nil {
		return nil, x.suspect(fmt.Errorf("index: listing: %w", err))
	}
	list, err := scanSessions(found)
	if err != nil {
		return nil, x.suspect(fmt.Errorf("index: listing: %w", err))
	}
	return list, nil
}

// suspect makes the writer check an index that a reader found corrupt.
func (x *Index) suspect(err error) error {
	if isCorrupt(err) {
		x.mu.Lock()
		x.corrupt = err
		x.mu.Unlock()
		x.rouse()
	}
	return err
}

func scanSessions(found *sql.Rows) (list []Session, err error) {
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var row Session
		var text []byte
		if err := found.Scan(&row.ProjectID, &row.Revision, &row.mark, &text); err != nil {
			return nil, err
		}
		var r record
		if err := json.Unmarshal(text, &r); err != nil {
			return nil, fmt.Errorf("reading a row: %w", err)
		}
		row.Header, row.Digest, row.Damage = r.Header, r.Digest, r.Damage
		list = append(list, row)
	}
	return list, found.Err()
}

// record holds the parts of a row that have no column of their own.
type record struct {
	Header session.Header `json:"header"`
	Digest Digest         `json:"digest"`
	Damage string         `json:"damage,omitempty"`
}
