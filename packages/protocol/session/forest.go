package session

import (
	"cmp"
	"slices"
)

// Forest holds the children of every entry, by their places in Tree.Entries. If an
// id occurs twice, both occurrences have the place of the later one. A damaged file
// can make an entry its own descendant, so a traversal must remember the places it
// has visited.
type Forest struct {
	Roots []int32 // entries without a parent, and orphans, in file order
	begin []int32 // index in kids of the first child of each place, with one extra at the end
	kids  []int32
}

// Children returns the places of an entry's children in the order of their timestamps.
func (f *Forest) Children(place int32) []int32 { return f.kids[f.begin[place]:f.begin[place+1]] }

// Forest returns the forest of the entries.
func (t *Tree) Forest() *Forest {
	const none = -1
	f := &Forest{begin: make([]int32, len(t.entries)+1)}
	owners, roots := make([]int32, len(t.entries)), 0
	for i := range t.entries {
		parent, isRoot := t.owner(i)
		if isRoot {
			owners[i] = none
			roots++
			continue
		}
		owners[i] = int32(parent)
		f.begin[parent+1]++
	}
	for i := range t.entries {
		f.begin[i+1] += f.begin[i]
	}
	f.Roots, f.kids = make([]int32, 0, roots), make([]int32, len(t.entries)-roots)
	for i, parent := range owners {
		place, _ := t.place(t.entries[i].key())
		if parent == none {
			f.Roots = append(f.Roots, int32(place))
			continue
		}
		f.kids[f.begin[parent]] = int32(place)
		f.begin[parent]++ // the end of the range until all children are inserted
	}
	copy(f.begin[1:], f.begin)
	f.begin[0] = 0
	for i := range t.entries {
		if children := f.Children(int32(i)); len(children) > 1 {
			t.sortByTime(children)
		}
	}
	return f
}

// owner returns the place of the parent that the forest gives the entry at i.
func (t *Tree) owner(i int) (parent int, isRoot bool) {
	e := &t.entries[i]
	if e.parentForm == formNull {
		return 0, true
	}
	parent, ok := t.place(e.parentKey())
	return parent, !ok || e.parentKey() == e.key()
}

// sortByTime sorts places of entries by their timestamps. Entries with equal
// timestamps stay in file order, and those without a valid timestamp come last.
func (t *Tree) sortByTime(places []int32) {
	slices.SortStableFunc(places, func(a, b int32) int { return cmp.Compare(t.entries[a].date(), t.entries[b].date()) })
}

// date returns the entry's timestamp in Unix milliseconds, or unknownDate.
func (e *Entry) date() int64 { return parseDate(e.Timestamp) }
