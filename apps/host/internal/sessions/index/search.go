package index

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Query is a search.
type Query struct {
	// Text is what people write: words that must all occur, "phrases", begin* and -without.
	Text      string
	ProjectID string // "" means all projects
	// Projects are the projects that are searched, at least one; nil means all.
	Projects []string
	Role     string // "" means all; otherwise "user", "assistant" or one of the Role constants
	Limit    int    // maximum number of hits; 0, or more than api.MaxHits, means api.MaxHits
	Skip     int    // how many of the newest hits are left out
}

// match returns the expression that finds what is searched for.
func (q Query) match() (string, error) {
	var scope [][]string
	if q.Projects != nil {
		words := make([]string, len(q.Projects))
		for i, id := range q.Projects {
			words[i] = scopeWord('p', id)
		}
		scope = append(scope, words)
	}
	if q.ProjectID != "" {
		scope = append(scope, []string{scopeWord('p', q.ProjectID)})
	}
	if !validRole(q.Role) {
		return "", api.Errorf(api.KindBadRequest, "the role %.40q is unknown: it must be user, assistant, tool, summary, name or other", q.Role)
	}
	if q.Role != "" {
		scope = append(scope, []string{scopeWord('r', q.Role)})
	}
	return expression(q.Text, scope)
}

// Hit is an entry that matches.
type Hit struct {
	SessionID, EntryID string
	Seq                uint64 // of the entry (session.Tree.Number)
	Role               string
	At                 int64 // Unix milliseconds
	Snippet            []api.SnippetPart

	id int64
}

const (
	// perSession bounds the hits of one session, so that a long one does not hide the others.
	perSession = 3
	// maxLooked bounds the hits that are examined to find those of other sessions.
	maxLooked = 20_000
	// snippetTokens is the length of a snippet in words.
	snippetTokens = 28
)

// searchWithin bounds a search, so that it does not keep others waiting.
const searchWithin = 10 * time.Second

var errTooLong = errors.New("index: the search took too long")

// Search returns the newest entries that match, at most three of one session, and whether there
// are older ones. An invalid search is an *api.Error that says what to do.
func (x *Index) Search(ctx context.Context, q Query) (hits []Hit, more bool, err error) {
	match, err := q.match()
	if err != nil {
		return nil, false, err
	}
	if q.Limit <= 0 || q.Limit > api.MaxHits {
		q.Limit = api.MaxHits
	}
	err = x.bounded(ctx, func(ctx context.Context) (err error) {
		if hits, more, err = x.find(ctx, match, q.Skip, q.Limit); err == nil {
			err = x.snippets(ctx, match, hits)
		}
		return err
	})
	return hits, more, err
}

// SearchSession returns the newest entries of one session that match, without snippets, and how
// many there are in all. 0, or a limit of more than api.MaxSessionHits, means api.MaxSessionHits.
func (x *Index) SearchSession(ctx context.Context, id string, q Query) (hits []Hit, total int, err error) {
	match, err := q.match()
	if err != nil {
		return nil, 0, err
	}
	if q.Limit <= 0 || q.Limit > api.MaxSessionHits {
		q.Limit = api.MaxSessionHits
	}
	err = x.bounded(ctx, func(ctx context.Context) (err error) {
		hits, total, err = x.findIn(ctx, id, match, q.Limit)
		return err
	})
	return hits, total, err
}

// bounded runs a search, and explains why it failed.
func (x *Index) bounded(ctx context.Context, search func(context.Context) error) error {
	x.dbMu.RLock()
	defer x.dbMu.RUnlock()
	ctx, cancel := context.WithTimeoutCause(ctx, searchWithin, errTooLong)
	defer cancel()
	err := search(ctx)
	switch {
	case err == nil:
		return nil
	case context.Cause(ctx) == errTooLong:
		return api.Errorf(api.KindUnavailable, "the search took too long: give more letters or other words")
	default:
		return x.suspect(fmt.Errorf("index: searching: %w", err))
	}
}

// findIn returns the newest entries of a session that match, and how many there are. The ids of a
// session's entries lie close together, so the search is limited to their range.
func (x *Index) findIn(ctx context.Context, id, match string, limit int) (hits []Hit, total int, err error) {
	found, err := x.db.QueryContext(ctx, `
		SELECT e.entry, e.seq, e.role, e.at
		FROM words JOIN entries e ON e.id = words.rowid
		WHERE words MATCH ? AND e.session = ?
			AND words.rowid BETWEEN (SELECT min(id) FROM entries WHERE session = ?) AND (SELECT max(id) FROM entries WHERE session = ?)
		ORDER BY words.rowid DESC`, match, id, id, id)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		h := Hit{SessionID: id, Snippet: []api.SnippetPart{}}
		var seq int64
		if err := found.Scan(&h.EntryID, &seq, &h.Role, &h.At); err != nil {
			return nil, 0, err
		}
		if total++; total <= limit {
			h.Seq = uint64(seq)
			hits = append(hits, h)
		}
	}
	return hits, total, found.Err()
}

// find returns the newest entries that match after skip others, without their snippets, and
// whether there are older ones.
func (x *Index) find(ctx context.Context, match string, skip, limit int) (hits []Hit, more bool, err error) {
	found, err := x.db.QueryContext(ctx, `
		SELECT e.id, e.session, e.entry, e.seq, e.role, e.at
		FROM words JOIN entries e ON e.id = words.rowid
		WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?`, match, maxLooked)
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	count := map[string]int{}
	for found.Next() {
		var h Hit
		var seq int64
		if err := found.Scan(&h.id, &h.SessionID, &h.EntryID, &seq, &h.Role, &h.At); err != nil {
			return nil, false, err
		}
		if count[h.SessionID]++; count[h.SessionID] > perSession {
			continue
		}
		switch {
		case skip > 0:
			skip--
		case len(hits) == limit:
			return hits, true, nil
		default:
			h.Seq, h.Snippet = uint64(seq), []api.SnippetPart{}
			hits = append(hits, h)
		}
	}
	return hits, false, found.Err()
}

// snippets adds the text around each match. One query fetches all of them, because starting a
// search for prefixes is the most expensive part.
func (x *Index) snippets(ctx context.Context, match string, hits []Hit) (err error) {
	if len(hits) == 0 {
		return nil
	}
	place := make(map[int64]int, len(hits))
	ids := make([]int64, len(hits))
	for i, h := range hits {
		place[h.id], ids[i] = i, h.id
	}
	wanted, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	found, err := x.db.QueryContext(ctx, `
		SELECT rowid, CASE WHEN rowid IN (SELECT value FROM json_each(?)) THEN snippet(words, 0, ?, ?, '…', ?) END
		FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC`,
		wanted, markBegin, markEnd, snippetTokens, match, ids[len(ids)-1], ids[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	for found.Next() {
		var id int64
		var text sql.NullString
		if err := found.Scan(&id, &text); err != nil {
			return err
		}
		if text.Valid {
			hits[place[id]].Snippet = snippetParts(text.String)
		}
	}
	return found.Err()
}

// maxSnippet bounds a snippet, in bytes: words can be long.
const maxSnippet = 1200

// snippetParts splits a snippet at its marks.
func snippetParts(text string) []api.SnippetPart {
	parts := []api.SnippetPart{}
	size := 0
	add := func(text string, found bool) {
		text = visible.Head(strings.ReplaceAll(text, string(joint), ""), maxSnippet-size)
		if text != "" {
			parts = append(parts, api.SnippetPart{Text: text, Found: found})
			size += len(text)
		}
	}
	for text != "" {
		before, rest, _ := strings.Cut(text, markBegin)
		marked, after, _ := strings.Cut(rest, markEnd)
		add(before, false)
		add(marked, true)
		text = after
	}
	return parts
}
