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

	seen bool // by the one walk that a forest was made for
}

// Forest returns the roots in file order: entries without a parent, and orphans.
// Children are in the order of their timestamps, and in file order where those
// are equal.
func (t *Tree) Forest() []*Node {
	nodes := make([]Node, len(t.entries))
	var roots []*Node
	for i := range t.entries {
		e := &t.entries[i]
		place, _ := t.place(e.key())
		node := &nodes[place]
		node.Entry = &t.entries[place]
		node.Label, _ = t.Label(e.ID)
		parent, ok := t.place(e.parentKey())
		if !ok || e.parentForm == formNull || e.parentKey() == e.key() {
			roots = append(roots, node)
			continue
		}
		nodes[parent].Children = append(nodes[parent].Children, node)
	}
	for i := range nodes {
		if len(nodes[i].Children) > 1 {
			sortNodes(nodes[i].Children)
		}
	}
	return roots
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

// sortNodes sorts by timestamp. A timestamp that is no date compares equal to
// all, which is no order: then the outcome depends on the steps of the sort, and
// these are the steps of a binary insertion as JavaScript engines do it on short
// lists.
func sortNodes(nodes []*Node) {
	dates := make(map[*Node]float64, len(nodes))
	undated := false
	for _, n := range nodes {
		dates[n] = n.Entry.date()
		undated = undated || math.IsNaN(dates[n])
	}
	if !undated || len(nodes) >= 64 {
		slices.SortStableFunc(nodes, func(a, b *Node) int {
			if math.IsNaN(dates[a]) || math.IsNaN(dates[b]) {
				return 0
			}
			return cmp.Compare(dates[a], dates[b])
		})
		return
	}
	for i := sortedRun(nodes, dates); i < len(nodes); i++ {
		pivot := nodes[i]
		left, right := 0, i
		for left < right {
			if middle := (left + right) / 2; dates[pivot] < dates[nodes[middle]] {
				right = middle
			} else {
				left = middle + 1
			}
		}
		copy(nodes[left+1:i+1], nodes[left:i])
		nodes[left] = pivot
	}
}

// sortedRun returns how many of the first nodes are in order; a run that falls is
// turned round.
func sortedRun(nodes []*Node, dates map[*Node]float64) int {
	falling := dates[nodes[1]] < dates[nodes[0]]
	n := 2
	for n < len(nodes) && (dates[nodes[n]] < dates[nodes[n-1]]) == falling {
		n++
	}
	if falling {
		slices.Reverse(nodes[:n])
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
