package session

import (
	"cmp"
	"math"
	"slices"
)

// Node is an entry in the forest. Where an id occurs twice, both occurrences are
// the same node, so a damaged file can make a node its own descendant: whoever
// walks down remembers where they were.
type Node struct {
	Entry    *Entry
	Children []*Node
	Label    Label // without text where the entry has none
}

// Forest returns the roots in file order: entries without a parent, and orphans.
// Children are in the order of their timestamps, and in file order where those
// are equal.
func (t *Tree) Forest() []*Node {
	s := t.shape()
	nodes := make([]Node, len(t.entries))
	list := func(places []int32) []*Node {
		if len(places) == 0 {
			return nil
		}
		out := make([]*Node, len(places))
		for i, place := range places {
			out[i] = &nodes[place]
		}
		return out
	}
	for i := range nodes {
		label, _ := t.Label(t.entries[i].ID)
		nodes[i] = Node{&t.entries[i], list(s.children(i)), label}
	}
	return list(s.roots)
}

// Roots returns how many roots the forest has.
func (t *Tree) Roots() (n int) {
	for i := range t.entries {
		if _, isRoot := t.owner(i); isRoot {
			n++
		}
	}
	return n
}

// shape is the forest by the places of its entries: a file of millions of tiny lines
// costs some bytes for each.
type shape struct {
	roots []int32
	begin []int32 // where the children of the entry at a place begin in kids; one more at the end
	kids  []int32
}

func (s *shape) children(place int) []int32 { return s.kids[s.begin[place]:s.begin[place+1]] }

// owner returns the place of the parent that the forest gives the entry at i.
func (t *Tree) owner(i int) (parent int, isRoot bool) {
	e := &t.entries[i]
	if e.parentForm == formNull {
		return 0, true
	}
	parent, ok := t.place(e.parentKey())
	return parent, !ok || e.parentKey() == e.key()
}

func (t *Tree) shape() *shape {
	const none = -1
	s := &shape{begin: make([]int32, len(t.entries)+1)}
	owners, roots := make([]int32, len(t.entries)), 0
	for i := range t.entries {
		parent, isRoot := t.owner(i)
		if isRoot {
			owners[i] = none
			roots++
			continue
		}
		owners[i] = int32(parent)
		s.begin[parent+1]++
	}
	for i := range t.entries {
		s.begin[i+1] += s.begin[i]
	}
	s.roots, s.kids = make([]int32, 0, roots), make([]int32, len(t.entries)-roots)
	for i, parent := range owners {
		place, _ := t.place(t.entries[i].key())
		if parent == none {
			s.roots = append(s.roots, int32(place))
			continue
		}
		s.kids[s.begin[parent]] = int32(place)
		s.begin[parent]++ // where it ends, until all have been put in
	}
	copy(s.begin[1:], s.begin)
	s.begin[0] = 0
	for i := range t.entries {
		if children := s.children(i); len(children) > 1 {
			t.sortByTime(children)
		}
	}
	return s
}

// Children returns the entries whose parent is the given one, in the order in
// which their ids came up in the file; "" gives the roots that name no parent.
func (t *Tree) Children(parentID string) []Entry {
	var children []Entry
	seen := map[string]bool{}
	for i := range t.entries {
		key := t.entries[i].key()
		if t.byID.count != len(t.entries) {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		place, _ := t.place(key)
		if e := t.entries[place]; e.ParentID == parentID && (parentID != "" || !e.hasParent()) {
			children = append(children, e)
		}
	}
	return children
}

// dated is an entry with its timestamp in Unix milliseconds, or NaN.
type dated struct {
	place int32
	date  float64
}

// sortByTime sorts places of entries by their timestamps. A timestamp that is no date
// compares equal to all, which is no order: then the outcome depends on the steps of
// the sort, and these are the steps of a binary insertion as JavaScript engines do it
// on short lists.
func (t *Tree) sortByTime(places []int32) {
	list := make([]dated, len(places))
	undated := false
	for i, place := range places {
		list[i] = dated{place, t.entries[place].date()}
		undated = undated || math.IsNaN(list[i].date)
	}
	if !undated || len(list) >= 64 {
		slices.SortStableFunc(list, func(a, b dated) int {
			if math.IsNaN(a.date) || math.IsNaN(b.date) {
				return 0
			}
			return cmp.Compare(a.date, b.date)
		})
	} else {
		insertByTime(list)
	}
	for i := range list {
		places[i] = list[i].place
	}
}

func insertByTime(list []dated) {
	for i := sortedRun(list); i < len(list); i++ {
		pivot := list[i]
		left, right := 0, i
		for left < right {
			if middle := (left + right) / 2; pivot.date < list[middle].date {
				right = middle
			} else {
				left = middle + 1
			}
		}
		copy(list[left+1:i+1], list[left:i])
		list[left] = pivot
	}
}

// sortedRun returns how many at the beginning are in order; a run that falls is
// turned round.
func sortedRun(list []dated) int {
	falling := list[1].date < list[0].date
	n := 2
	for n < len(list) && (list[n].date < list[n-1].date) == falling {
		n++
	}
	if falling {
		slices.Reverse(list[:n])
	}
	return n
}

// date returns the entry's timestamp in Unix milliseconds, or NaN.
func (e *Entry) date() float64 {
	if e.Timestamp != "" {
		return parseDate(e.Timestamp)
	}
	return dateOf(member(e.Raw, "timestamp"))
}
