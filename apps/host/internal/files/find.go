package files

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

const (
	// findTime bounds one search: people type on, and the next search replaces it.
	findTime = 3 * time.Second
	// maxKept is how many matches are kept while the folder is walked. It is more than
	// api.MaxFound because the closed ones among them are left out at the end.
	maxKept = 4 * api.MaxFound
)

// findFiles finds what people name in a prompt. Files that are closed, or that .gitignore
// excludes, are left out.
func (f *Files) findFiles(ctx context.Context, _ *dispatch.Conn, r api.FindFilesRequest) (response api.FindFilesResponse, err error) {
	release, err := f.slot(ctx)
	if err != nil {
		return response, err
	}
	defer release()
	at, err := f.placeOf(r.Place)
	if err != nil {
		return response, err
	}
	ctx, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	best := search{query: strings.ToLower(r.Query)}
	response.Truncated, err = at.folder.Walk(ctx, best.add)
	if err != nil {
		return response, fileError("", err)
	}
	response.Files = []api.FoundFile{}
	for _, m := range best.sorted() {
		if len(response.Files) == api.MaxFound {
			response.Truncated = true
			break
		}
		if !at.closed(m.path) {
			response.Files = append(response.Files, api.FoundFile{Path: m.path, Kind: m.kind})
		}
	}
	response.Truncated = response.Truncated || best.dropped
	return response, nil
}

// match is a path that a query names; a lower rank is a better match.
type match struct {
	path string
	kind api.FileKind
	rank int
}

// search keeps the best matches of a walk.
type search struct {
	query   string // in lower case
	matches []match
	dropped bool // there were more
}

func (s *search) add(rel string, mode fs.FileMode) {
	kind := kindOf(mode)
	rank, matches := rankOf(s.query, rel)
	// A prompt is text: a name with a control character would not stay one line.
	if !matches || kind == api.FileOther || strings.ContainsFunc(rel, unicode.IsControl) {
		return
	}
	if s.matches = append(s.matches, match{rel, kind, rank}); len(s.matches) >= 2*maxKept {
		s.matches, s.dropped = s.sorted()[:maxKept], true
	}
}

func (s *search) sorted() []match {
	slices.SortFunc(s.matches, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(len(a.path), len(b.path)), strings.Compare(a.path, b.path))
	})
	return s.matches
}

// rankOf tells how well a query names a path, and whether it does at all. Without a query
// the content of the folder itself matches.
func rankOf(query, rel string) (rank int, matches bool) {
	if query == "" {
		return 0, !strings.Contains(rel, "/")
	}
	rel = strings.ToLower(rel)
	name := path.Base(rel)
	tests := []bool{
		name == query || rel == query,
		strings.HasPrefix(rel, query) && !strings.Contains(rel[len(query):], "/"),
		strings.HasPrefix(name, query),
		strings.Contains(name, query),
		strings.Contains(rel, query),
		inOrder(query, name),
		inOrder(query, rel),
	}
	rank = slices.Index(tests, true)
	return rank, rank >= 0
}

// inOrder reports whether the text has the characters of the query in their order.
func inOrder(query, text string) bool {
	for _, c := range query {
		at := strings.IndexRune(text, c)
		if at < 0 {
			return false
		}
		text = text[at+len(string(c)):]
	}
	return true
}
