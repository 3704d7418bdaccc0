package session

import (
	"errors"
	"fmt"
	"iter"
	"slices"
)

// Errors of the strict path functions. They are wrapped in a PathError.
var (
	ErrNoEntry       = errors.New("session: no such entry")
	ErrMissingParent = errors.New("session: an entry names a parent that is not in the session")
	ErrCycle         = errors.New("session: the parents form a cycle")
)

// PathError is the reason why there is no complete path to a leaf.
type PathError struct {
	Err error  // ErrNoEntry, ErrMissingParent or ErrCycle
	ID  string // the missing id, or the id at which a cycle closes
}

func (e *PathError) Error() string { return fmt.Sprintf("%v: %q", e.Err, e.ID) }
func (e *PathError) Unwrap() error { return e.Err }

// Tree indexes the entries of one session. Entries are kept in file order; if an id
// occurs twice, the later entry wins. A parent may come later in the file than its
// children. A Tree is not safe for concurrent use.
type Tree struct {
	entries []Entry
	byID    places // key -> place of the last entry with it
	leaf    int    // place of the parent of the next entry; -1: none
	name    string
	labels  labels
}

// NewTree builds a tree from the entries of a file.
func NewTree(entries []Entry) *Tree { return newTree(slices.Clone(entries)) }

// newTree is NewTree that takes ownership of the slice.
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

// Entries returns all entries in file order. The caller must not modify them.
func (t *Tree) Entries() []Entry { return t.entries }

// Leaf returns the id of the next entry's parent; "" in an empty session.
func (t *Tree) Leaf() string {
	if t.leaf < 0 {
		return ""
	}
	return t.entries[t.leaf].ID
}

// Branch moves the leaf to an entry, which becomes the parent of the next one; ""
// makes the next entry a root. The move itself is not stored: the next entry added
// stores it.
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

// Path returns the entries from the root to leaf. It is strict: a missing leaf, a
// missing parent and a cycle are a *PathError. An empty leaf is an empty path.
func (t *Tree) Path(leaf string) ([]Entry, error) {
	path, err := t.PathToHole(leaf)
	if err != nil {
		return nil, err
	}
	return path, nil
}

// PathToHole is Path for reading a damaged session: it returns the connected part
// of the path above leaf, and the *PathError that ends it, if any.
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
// stops at a missing parent and before closing a cycle.
func (t *Tree) walk(start int) ([]int32, error) {
	path := make([]int32, 0, start+1) // most parents come before their children
	err := t.climb(start, func(place int) bool { path = append(path, int32(place)); return true })
	slices.Reverse(path)
	return path, err
}

// Up iterates over the entries from the leaf to the root, or to the hole that ends
// the path. A caller that needs only the end of a long session does not pay for the
// rest.
func (t *Tree) Up() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		// The error is not reported here: Context.Hole and CheckPath report it.
		_ = t.climb(t.leaf, func(place int) bool { return yield(&t.entries[place]) })
	}
}

// climb visits the places of the entries from the one at start to the root, until
// visit returns false.
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

// parent returns the place of the parent of the entry at i, or -1 at a root. found
// is false if the entry names a missing parent.
func (t *Tree) parent(i int) (place int, found bool) {
	e := &t.entries[i]
	if !e.hasParent() {
		return -1, true
	}
	// Most entries have the previous one as their parent; if no id occurs twice,
	// that saves the lookup.
	if i > 0 && e.parentForm == formString && t.byID.count == len(t.entries) && t.entries[i-1].ID == e.ParentID {
		return i - 1, true
	}
	return t.place(e.parentKey())
}

// CommonAncestor returns the id of the deepest entry on the paths to both a and b;
// "" if there is none. Both paths are read up to a hole.
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
