package session

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Errors of the strict path function. They come in a PathError.
var (
	ErrNoEntry       = errors.New("session: no such entry")
	ErrMissingParent = errors.New("session: an entry names a parent that is not in the session")
	ErrCycle         = errors.New("session: the parents form a cycle")
)

// PathError says why there is no whole path to a leaf.
type PathError struct {
	Err error  // ErrNoEntry, ErrMissingParent or ErrCycle
	ID  string // the id that is not there, or that the path comes back to
}

func (e *PathError) Error() string { return fmt.Sprintf("%v: %q", e.Err, e.ID) }
func (e *PathError) Unwrap() error { return e.Err }

// Tree indexes the entries of one session. Entries are kept in file order; where
// an id occurs twice, the later entry wins. A parent may come later in the file
// than its children. A Tree is not safe for concurrent use.
type Tree struct {
	entries []Entry
	byID    places // of a key: of the last entry that has it
	leaf    int    // place of the entry that the next one hangs on; -1: none
	name    string
	labels  labels
}

// NewTree builds a tree from the entries of a file.
func NewTree(entries []Entry) *Tree { return newTree(slices.Clone(entries)) }

// newTree is NewTree that keeps the slice.
func newTree(entries []Entry) *Tree {
	t := &Tree{entries: entries, byID: makePlaces(len(entries)), leaf: -1}
	for i := range entries {
		t.index(i)
	}
	return t
}

// Add appends an entry, which becomes the leaf.
func (t *Tree) Add(e Entry) {
	t.entries = append(t.entries, e)
	t.index(len(t.entries) - 1)
}

func (t *Tree) index(i int) {
	e := &t.entries[i]
	t.byID.put(t.entries, i)
	t.leaf = i
	switch e.Type {
	case TypeSessionInfo:
		t.name = trim(memberString(e.Raw, "name"))
	case TypeLabel:
		t.labels.add(e)
	}
}

// place returns the place of the last entry with the key.
func (t *Tree) place(key string) (int, bool) { return t.byID.get(t.entries, key) }

// Entries returns all entries in file order. The caller does not change them.
func (t *Tree) Entries() []Entry { return t.entries }

// Leaf returns the id that the next entry hangs on; "" in an empty session.
func (t *Tree) Leaf() string {
	if t.leaf < 0 {
		return ""
	}
	return t.entries[t.leaf].ID
}

// Branch moves the leaf to an entry, so that the next one hangs on it; "" makes
// the next entry a root. The move is not stored: what is added next stores it.
func (t *Tree) Branch(id string) error {
	if id == "" {
		t.leaf = -1
		return nil
	}
	i, ok := t.place(id)
	if !ok {
		return &PathError{ErrNoEntry, id}
	}
	t.leaf = i
	return nil
}

// Name returns the last name given to the session on any branch, or "".
func (t *Tree) Name() string { return t.name }

// Get returns the entry with the given id.
func (t *Tree) Get(id string) (Entry, bool) {
	i, ok := t.place(id)
	if !ok {
		return Entry{}, false
	}
	return t.entries[i], true
}

// Path returns the entries from the root to leaf. It is strict: a missing leaf,
// a missing parent and a cycle are a *PathError. An empty leaf is an empty path.
func (t *Tree) Path(leaf string) ([]Entry, error) {
	path, err := t.PathToHole(leaf)
	if err != nil {
		return nil, err
	}
	return path, nil
}

// PathToHole is Path for reading a damaged session: it returns what hangs
// together below leaf, and the *PathError that ends it, if one does.
func (t *Tree) PathToHole(leaf string) ([]Entry, error) {
	if leaf == "" {
		return nil, nil
	}
	start, ok := t.place(leaf)
	if !ok {
		return nil, &PathError{ErrNoEntry, leaf}
	}
	places, err := t.walk(start)
	path := make([]Entry, len(places))
	for i, place := range places {
		path[i] = t.entries[place]
	}
	return path, err
}

// walk returns the places of the entries from the root to the one at start. It
// stops at a missing parent and where the path would come back to itself.
func (t *Tree) walk(start int) ([]int32, error) {
	path := make([]int32, 0, start+1) // most parents come before their children
	err := t.climb(start, func(place int) bool { path = append(path, int32(place)); return true })
	slices.Reverse(path)
	return path, err
}

// Up yields the entries from the leaf to the root, or to the hole that ends the path.
// Who needs only the end of a long session does not pay for the rest.
func (t *Tree) Up() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		// How it ends is not said: Context.Hole and CheckPath do.
		_ = t.climb(t.leaf, func(place int) bool { return yield(&t.entries[place]) })
	}
}

// climb visits the places of the entries from the one at start to the root, until visit
// is false.
func (t *Tree) climb(start int, visit func(place int) bool) error {
	seen := make([]uint64, len(t.entries)/64+1)
	for i := start; i >= 0; {
		if seen[i/64]&(1<<(i%64)) != 0 {
			return &PathError{ErrCycle, t.entries[i].ID}
		}
		seen[i/64] |= 1 << (i % 64)
		if !visit(i) {
			return nil
		}
		parent, found := t.parent(i)
		if !found {
			return &PathError{ErrMissingParent, t.entries[i].parentName()}
		}
		i = parent
	}
	return nil
}

// parent returns the place of the parent of the entry at i, or -1 at a root.
// found is false where the entry names a parent that is not there.
func (t *Tree) parent(i int) (place int, found bool) {
	e := &t.entries[i]
	if !e.hasParent() {
		return -1, true
	}
	// Most entries hang on the one before; where no id occurs twice that saves
	// the look-up.
	if i > 0 && e.parentForm == formString && t.byID.count == len(t.entries) && t.entries[i-1].ID == e.ParentID {
		return i - 1, true
	}
	return t.place(e.parentKey())
}

// CommonAncestor returns the id of the deepest entry that lies on the paths to
// both a and b; "" where there is none. Both paths are read up to a hole.
func (t *Tree) CommonAncestor(a, b string) (string, error) {
	pathA, err := t.PathToHole(a)
	if errors.Is(err, ErrNoEntry) {
		return "", err
	}
	pathB, err := t.PathToHole(b)
	if errors.Is(err, ErrNoEntry) {
		return "", err
	}
	on := make(map[string]bool, len(pathA))
	for i := range pathA {
		on[pathA[i].ID] = true
	}
	for _, e := range slices.Backward(pathB) {
		if on[e.ID] {
			return e.ID, nil
		}
	}
	return "", nil
}

// Messages returns the messages on the path to leaf, in order, compactions and
// edits left aside. Context is what a model sees.
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
