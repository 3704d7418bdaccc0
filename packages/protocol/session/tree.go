package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of the strict path function.
var (
	ErrNoEntry       = errors.New("session: no such entry")
	ErrMissingParent = errors.New("session: an entry names a parent that is not in the session")
	ErrCycle         = errors.New("session: the parents form a cycle")
)

// Tree indexes the entries of one session. Entries are kept in file order; where
// an id occurs twice, the later entry wins.
type Tree struct {
	entries []Entry
	byID    map[string]int
	leaf    string
	name    string
}

// NewTree builds a tree from the entries of a file.
func NewTree(entries []Entry) *Tree {
	t := &Tree{byID: make(map[string]int, len(entries))}
	for _, e := range entries {
		t.Add(e)
	}
	return t
}

// Add appends an entry, which becomes the leaf.
func (t *Tree) Add(e Entry) {
	t.byID[e.ID] = len(t.entries)
	t.entries = append(t.entries, e)
	t.leaf = e.ID
	if info, ok := e.AsSessionInfo(); ok {
		t.name = strings.TrimSpace(info.Name)
	}
}

// Entries returns all entries in file order. The caller does not change them.
func (t *Tree) Entries() []Entry { return t.entries }

// Leaf returns the id that the next entry hangs on; "" in an empty session.
func (t *Tree) Leaf() string { return t.leaf }

// Name returns the last name given to the session, or "".
func (t *Tree) Name() string { return t.name }

// Get returns the entry with the given id.
func (t *Tree) Get(id string) (Entry, bool) {
	i, ok := t.byID[id]
	if !ok {
		return Entry{}, false
	}
	return t.entries[i], true
}

// Path returns the entries from the root to leaf. It is strict: a missing leaf,
// a missing parent and a cycle are errors. An empty leaf is an empty path.
func (t *Tree) Path(leaf string) ([]Entry, error) {
	var path []Entry
	for id := leaf; id != ""; {
		e, ok := t.Get(id)
		switch {
		case !ok && id == leaf:
			return nil, fmt.Errorf("%w: %s", ErrNoEntry, id)
		case !ok:
			return nil, fmt.Errorf("%w: %s", ErrMissingParent, id)
		case len(path) > len(t.entries):
			return nil, ErrCycle
		}
		path = append(path, e)
		id = e.ParentID
	}
	slices.Reverse(path)
	return path, nil
}

// Messages returns the messages on the path to leaf, in order.
func (t *Tree) Messages(leaf string) ([]Message, error) {
	path, err := t.Path(leaf)
	if err != nil {
		return nil, err
	}
	var messages []Message
	for _, e := range path {
		if m, ok := e.AsMessage(); ok {
			messages = append(messages, m.Message)
		}
	}
	return messages, nil
}
