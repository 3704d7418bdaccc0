package store

import "github.com/scorel/scorel/packages/protocol/session"

// Snapshot is a session at one moment. Its parts do not change with the session.
type Snapshot struct {
	Header     session.Header
	Name       string
	LeafID     string // "" before the first entry
	Entries    []session.Entry
	ActivePath []session.Entry
	Children   map[string][]string // parent id, "" for roots -> ids in the order of their timestamps
	Labels     []session.Label
	Context    session.Context // what a model sees at the leaf
	InFlight   []InFlight
	Damage     string // why nothing can be added, or ""
}

// Snapshot copies the session. Where the path to the leaf has a hole, the active
// path and the context are what lies below it, and Context.Hole says so.
func (s *Session) Snapshot() Snapshot {
	tree := s.Tree()
	path, _ := tree.PathToHole(tree.Leaf()) // Context.Hole tells the error
	return Snapshot{
		Header:     s.Header(),
		Name:       tree.Name(),
		LeafID:     tree.Leaf(),
		Entries:    append([]session.Entry{}, tree.Entries()...),
		ActivePath: append([]session.Entry{}, path...),
		Children:   children(tree),
		Labels:     append([]session.Label{}, tree.Labels()...),
		Context:    tree.LeafContext(),
		InFlight:   s.InFlight(),
		Damage:     s.Damage(),
	}
}

// ActivePath returns the entries from the root to the leaf. It is strict: the error
// is a *session.PathError.
func (s *Session) ActivePath() ([]session.Entry, error) { return s.Tree().Path(s.Tree().Leaf()) }

func children(tree *session.Tree) map[string][]string {
	byParent := map[string][]string{}
	seen := map[*session.Node]bool{}
	add := func(parent string, nodes []*session.Node) (fresh []*session.Node) {
		for _, node := range nodes {
			byParent[parent] = append(byParent[parent], node.Entry.ID)
			if !seen[node] {
				seen[node] = true
				fresh = append(fresh, node)
			}
		}
		return fresh
	}
	for todo := add("", tree.Forest()); len(todo) > 0; {
		node := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], add(node.Entry.ID, node.Children)...)
	}
	return byParent
}
