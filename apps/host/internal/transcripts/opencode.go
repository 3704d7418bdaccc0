package transcripts

import (
	"context"
	"encoding/json"
	"errors"
	"os"
)

// openCodeSession is a session of opencode.
type openCodeSession struct {
	ID        string `json:"id"`
	ParentID  string `json:"parentID"`
	Directory string `json:"directory"`
	Title     string `json:"title"`
	Version   string `json:"version"`
	Time      struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated"`
	} `json:"time"`
}

func (s *openCodeSession) info() Info {
	return Info{
		Source: OpenCode, ID: s.ID, Parent: s.ParentID, Folder: s.Directory, Title: titleOf(s.Title), Named: s.Title != "", Version: s.Version,
		Created: millis(s.Time.Created), Updated: millis(s.Time.Updated),
	}
}

// openCodeRecord is a message or a part: its id and its JSON.
type openCodeRecord struct {
	id   string
	data json.RawMessage
}

// openCodeStore is one of the two forms in which opencode keeps sessions: a database since
// version 1.2, files of JSON before.
type openCodeStore interface {
	sessions(ctx context.Context) (list []openCodeSession, damaged int, err error)
	// messages calls fn with each message of a session and its parts, in order. It returns how
	// many records could not be read.
	messages(ctx context.Context, id string, fn func(message openCodeRecord, parts []openCodeRecord) error) (damaged int, err error)
	close() error
}

// openCodeStores opens what there is, the newer form first.
func (r *Reader) openCodeStores(ctx context.Context) ([]openCodeStore, error) {
	root, err := r.openRoot(OpenCode, ".")
	if root == nil {
		return nil, err
	}
	var stores []openCodeStore
	db, err := openCodeDatabase(ctx, root, r.homes[OpenCode])
	if db != nil {
		stores = append(stores, db)
	}
	err = errors.Join(err, root.Close())
	storage, openErr := r.openRoot(OpenCode, "storage")
	if storage != nil {
		stores = append(stores, &openCodeFiles{storage})
	}
	return stores, errors.Join(err, openErr)
}

// eachOpenCode calls fn for each store, until it returns true.
func (r *Reader) eachOpenCode(ctx context.Context, fn func(openCodeStore) (done bool, err error)) error {
	stores, err := r.openCodeStores(ctx)
	done := false
	for _, s := range stores {
		if err == nil && !done {
			done, err = fn(s)
		}
		err = errors.Join(err, s.close())
	}
	return err
}

func (r *Reader) listOpenCode(ctx context.Context) (list []Info, damaged int, err error) {
	seen := map[string]bool{}
	err = r.eachOpenCode(ctx, func(s openCodeStore) (bool, error) {
		sessions, bad, err := s.sessions(ctx)
		damaged += bad
		for _, session := range sessions {
			if session.ParentID == "" && !seen[session.ID] {
				seen[session.ID], list = true, append(list, session.info())
			}
		}
		return false, err
	})
	return list[:min(len(list), maxFiles)], damaged, err
}

func (r *Reader) readOpenCode(ctx context.Context, id string) (t Transcript, _ error) {
	found := false
	err := r.eachOpenCode(ctx, func(s openCodeStore) (bool, error) {
		sessions, _, err := s.sessions(ctx)
		if err != nil {
			return false, err
		}
		for _, session := range sessions {
			if session.ID == id && !found {
				found = true
				t, err = readOpenCodeSession(ctx, s, session)
			}
		}
		for _, session := range sessions {
			if err != nil || !found || session.ParentID != id || len(t.Children) == maxChildren {
				continue
			}
			var child Transcript
			if child, err = readOpenCodeSession(ctx, s, session); err == nil && len(child.Items) > 0 {
				t.Children = append(t.Children, child)
			}
		}
		return found, err
	})
	if err == nil && !found {
		err = ErrNotFound
	}
	if errors.Is(err, os.ErrNotExist) {
		err = ErrNotFound
	}
	return t, err
}

func readOpenCodeSession(ctx context.Context, s openCodeStore, described openCodeSession) (Transcript, error) {
	c := &openCode{builder: newBuilder(OpenCode)}
	damaged, err := s.messages(ctx, described.ID, c.message)
	if err == nil {
		err = c.end()
	}
	c.report.Damaged += damaged
	return Transcript{Info: described.info(), Items: c.items, Report: c.report}, err
}
