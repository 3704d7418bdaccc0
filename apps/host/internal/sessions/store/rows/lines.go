package rows

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	// maxID is the longest id that is stored in a column, in bytes: longer ones exceed the
	// limit of an index.
	maxID = 512
	// maxType is the longest type that is stored in a column, in bytes.
	maxType = 128
	// chunkRows and chunkBytes bound one INSERT, because servers limit the size of statements.
	// A larger line is sent alone.
	chunkRows  = 256
	chunkBytes = 1 << 20
)

// row is a row of scorel_entries without session and seq.
type row struct {
	id, parent sql.NullString // NULL if the line has none that fits
	kind       string
	line       []byte
}

// rowsOf converts lines to rows. Only the first line with an id has it in the column; a file
// may contain more, so later ones are stored without. taken are the ids that exist already.
func rowsOf(lines []json.RawMessage, taken map[string]bool) []row {
	list := make([]row, len(lines))
	seen := make(map[string]bool, len(lines))
	for i, line := range lines {
		list[i].line = line
		entry, err := session.ParseEntry(line)
		if err != nil || entry.Type == session.TypeSession {
			continue // it is stored, but is not an entry
		}
		list[i].parent = column(entry.ParentID)
		if len(entry.Type) <= maxType && column(string(entry.Type)).Valid {
			list[i].kind = string(entry.Type)
		}
		if !seen[entry.ID] && !taken[entry.ID] {
			list[i].id = column(entry.ID)
		}
		seen[entry.ID] = true
	}
	return list
}

// column is the value of an id column.
func column(id string) sql.NullString {
	fits := id != "" && len(id) <= maxID && utf8.ValidString(id) && !strings.Contains(id, "\x00")
	return sql.NullString{String: id, Valid: fits}
}

// insert inserts rows after the first count ones of a session.
func (p *Provider) insert(ctx context.Context, tx *sql.Tx, id string, count int64, list []row) error {
	for len(list) > 0 {
		n, size := 0, 0
		for n < len(list) && n < chunkRows && (n == 0 || size+len(list[n].line) <= chunkBytes) {
			size += len(list[n].line)
			n++
		}
		args := make([]any, 0, 6*n)
		for i, r := range list[:n] {
			args = append(args, id, count+int64(i)+1, r.id, r.parent, r.kind, r.line)
		}
		statement := `INSERT INTO scorel_entries (session_id, entry_seq, entry_id, parent_id, type, line) VALUES (?, ?, ?, ?, ?, ?)` +
			strings.Repeat(`, (?, ?, ?, ?, ?, ?)`, n-1)
		if _, err := tx.ExecContext(ctx, p.d.sql(statement), args...); err != nil {
			return err
		}
		count += int64(n)
		list = list[n:]
	}
	return nil
}

// fit rejects lines that the database does not support.
func (p *Provider) fit(lines []json.RawMessage) error {
	for _, line := range lines {
		if len(line) > p.d.MaxLine {
			return fmt.Errorf("the database %s %w: it has %d bytes", p.d.Place, p.d.TooLarge, len(line))
		}
	}
	return nil
}

// takenOf returns which of the lines' ids exist in the session.
func (p *Provider) takenOf(ctx context.Context, id string, lines []json.RawMessage) (map[string]bool, error) {
	args := []any{id}
	for _, r := range rowsOf(lines, nil) {
		if r.id.Valid {
			args = append(args, r.id.String)
		}
	}
	taken := map[string]bool{}
	if len(args) == 1 {
		return taken, nil
	}
	statement := `SELECT entry_id FROM scorel_entries WHERE session_id = ? AND entry_id IN (?` + strings.Repeat(`, ?`, len(args)-2) + `)`
	err := p.within(ctx, callTimeout, &reading, func(ctx context.Context, tx *sql.Tx) error {
		found, err := tx.QueryContext(ctx, p.d.sql(statement), args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var entryID string
			if err := found.Scan(&entryID); err != nil {
				return err
			}
			taken[entryID] = true
		}
		return found.Err()
	})
	return taken, err
}
