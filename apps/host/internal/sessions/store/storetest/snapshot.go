package storetest

import (
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// snapshot is a session at one moment, to be compared with another.
type snapshot struct {
	Header     session.Header
	Name       string
	LeafID     string // "" before the first entry
	Entries    []session.Entry
	ActivePath []session.Entry
	Children   map[string][]string // parent id, "" for roots -> ids in the order of their timestamps
	Labels     []session.Label
	Context    session.Context // what a model sees at the leaf
	Damage     string          // why nothing can be added, or ""
}

// snapshotOf copies a session. Where the path to the leaf has a hole, the active path and
// the context are what lies below it, and Context.Hole says so.
func snapshotOf(s *store.Session) snapshot {
	tree := s.Tree()
	path, _ := tree.PathToHole(tree.Leaf()) // Context.Hole tells the error
	return snapshot{
		Header:     s.Header(),
		Name:       tree.Name(),
		LeafID:     tree.Leaf(),
		Entries:    append([]session.Entry{}, tree.Entries()...),
		ActivePath: append([]session.Entry{}, path...),
		Children:   children(tree),
		Labels:     append([]session.Label{}, tree.Labels()...),
		Context:    tree.LeafContext(),
		Damage:     s.Damage(),
	}
}

func children(tree *session.Tree) map[string][]string {
	forest, entries := tree.Forest(), tree.Entries()
	byParent := map[string][]string{}
	seen := map[int32]bool{}
	add := func(parent string, places []int32) (fresh []int32) {
		for _, place := range places {
			byParent[parent] = append(byParent[parent], entries[place].ID)
			if !seen[place] {
				seen[place] = true
				fresh = append(fresh, place)
			}
		}
		return fresh
	}
	for todo := add("", forest.Roots); len(todo) > 0; {
		place := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], add(entries[place].ID, forest.Children(place))...)
	}
	return byParent
}
