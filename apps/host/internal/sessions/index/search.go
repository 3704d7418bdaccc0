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
)

// Query is a search.
type Query struct {
	// Text is what people write: words that must all be there, "phrases", begin* and
	// -without.
	Text      string
	ProjectID string // "" is all projects
	Role      string // "" is all; else "user", "assistant" or one of the Role constants
	Limit     int    // at most so many hits; 0, or more than api.MaxHits, is api.MaxHits
}

// Hit is an entry that was found.
type Hit struct {
	SessionID, EntryID string
	Seq                uint64 // of the entry (session.Tree.Number)
	Role               string
	At                 int64 // Unix milliseconds
	Snippet            []api.SnippetPart

	id int64
}

const (
	// perSession is how many hits of one session are given, so that a long one does
	// not hide the others.
	perSession = 3
	// maxLooked bounds how many hits are looked at to find those of other sessions.
	maxLooked = 20_000
	// snippetTokens is the length of a snippet in words.
	snippetTokens = 28
)

// searchWithin bounds a search, so that one cannot keep the others waiting.
const searchWithin = 10 * time.Second

var errTooLong = errors.New("index: the search took too long")

// Search returns the newest entries that match, at most three of one session. What
// cannot be searched for is an *api.Error that says what to do.
func (x *Index) Search(ctx context.Context, q Query) ([]Hit, error) {
	var scope []string
	if q.ProjectID != "" {
		scope = append(scope, scopeWord('p', q.ProjectID))
	}
	if !validRole(q.Role) {
		return nil, api.Errorf(api.KindBadRequest, "nothing is said by %.40q: search what user, assistant, tool, summary, name or other said", q.Role)
	}
	if q.Role != "" {
		scope = append(scope, scopeWord('r', q.Role))
	}
	match, err := expression(q.Text, scope)
	if err != nil {
		return nil, err
	}
	if q.Limit <= 0 || q.Limit > api.MaxHits {
		q.Limit = api.MaxHits
	}
	x.dbMu.RLock()
	defer x.dbMu.RUnlock()
	ctx, cancel := context.WithTimeoutCause(ctx, searchWithin, errTooLong)
	defer cancel()
	hits, err := x.find(ctx, match, q.Limit)
	if err == nil {
		err = x.snippets(ctx, match, hits)
	}
	if err != nil && context.Cause(ctx) == errTooLong {
		return nil, api.Errorf(api.KindUnavailable, "the search took too long: give more letters or other words")
	}
	if err != nil {
		return nil, x.suspect(fmt.Errorf("index: searching: %w", err))
	}
	return hits, nil
}

// find returns the newest entries that match, without their snippets.
func (x *Index) find(ctx context.Context, match string, limit int) (hits []Hit, err error) {
	found, err := x.db.QueryContext(ctx, `
		SELECT e.id, e.session, e.entry, e.seq, e.role, e.at
		FROM words JOIN entries e ON e.id = words.rowid
		WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT ?`, match, maxLooked)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	count := map[string]int{}
	for len(hits) < limit && found.Next() {
		var h Hit
		var seq int64
		if err := found.Scan(&h.id, &h.SessionID, &h.EntryID, &seq, &h.Role, &h.At); err != nil {
			return nil, err
		}
		if count[h.SessionID]++; count[h.SessionID] <= perSession {
			h.Seq, h.Snippet = uint64(seq), []api.SnippetPart{}
			hits = append(hits, h)
		}
	}
	return hits, found.Err()
}

// snippets adds the text around what was found. It asks once for all hits: to begin
// a search for words that begin so is what costs most of it.
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
		text = cutText(strings.ReplaceAll(text, string(joint), ""), maxSnippet-size)
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

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:max(0, limit)], "")
}
