package read

import (
	"bytes"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxPreview bounds the text that a tree shows of an entry, in runes.
const maxPreview = 160

// Outline returns a short form of the tree: user messages, ends of turns, summaries, labeled
// entries, and where branches begin and end; at most the last api.MaxTreeNodes.
func Outline(tree *session.Tree) api.GetTreeResponse {
	o := outliner{tree: tree, active: map[string]bool{}, children: map[string]int{}, shown: map[string]bool{}}
	path, _ := tree.PathToHole(tree.Leaf()) // of a damaged session, show the connected part
	for _, entry := range path {
		o.active[entry.ID] = true
	}
	for _, entry := range tree.Entries() {
		if matters(entry) {
			o.children[entry.ParentID]++
		}
	}
	var notable []session.Entry
	for _, entry := range tree.Entries() {
		if entry.ID != "" && o.notable(entry) {
			notable = append(notable, entry)
		}
	}
	response := api.GetTreeResponse{LeafID: tree.Leaf(), Nodes: []api.TreeNode{}}
	if more := len(notable) - api.MaxTreeNodes; more > 0 {
		notable, response.Truncated = notable[more:], true
	}
	for _, entry := range notable {
		o.shown[entry.ID] = true
	}
	for _, entry := range notable {
		response.Nodes = append(response.Nodes, o.node(entry))
	}
	return response
}

type outliner struct {
	tree          *session.Tree
	active, shown map[string]bool
	children      map[string]int // by parent; only entries that matter
}

// matters reports whether an entry forms a branch of the tree; the host's notes beside a branch
// do not.
func matters(entry session.Entry) bool {
	switch entry.Type {
	case session.TypeMessage, session.TypeCompaction, session.TypeBranchSummary, session.TypeCustomMessage:
		return true
	}
	return entry.CustomType == session.CustomLeaf
}

func (o *outliner) notable(entry session.Entry) bool {
	if _, labeled := o.tree.Label(entry.ID); labeled {
		return true
	}
	switch entry.Type {
	case session.TypeMessage:
		return entry.Role() != session.RoleToolResult && (entry.Role() != session.RoleAssistant || TurnEnded(o.tree, entry.ID)) || o.children[entry.ID] > 1
	case session.TypeCompaction, session.TypeBranchSummary, session.TypeCustomMessage:
		return true
	}
	return false
}

func (o *outliner) node(entry session.Entry) api.TreeNode {
	node := api.TreeNode{
		ID: entry.ID, ParentID: o.above(entry), Type: entry.Type, Role: entry.Role(), Text: preview(entry),
		Timestamp: entry.Timestamp, Active: o.active[entry.ID],
	}
	if label, ok := o.tree.Label(entry.ID); ok {
		node.Label = label.Text
	}
	node.Target = isTarget(o.tree, entry)
	return node
}

// above returns the nearest shown ancestor; "" if there is none.
func (o *outliner) above(entry session.Entry) string {
	for range len(o.tree.Entries()) { // bounded, in case of a cycle
		parent, ok := o.tree.Get(entry.ParentID)
		if !ok || o.shown[parent.ID] {
			return parent.ID
		}
		entry = parent
	}
	return ""
}

// preview returns the beginning of an entry in one line.
func preview(entry session.Entry) string {
	text := entry.Text("summary")
	if m, ok := entry.AsMessage(); ok {
		if text = m.Message.Content.Plain(); strings.TrimSpace(text) == "" {
			text = m.Message.ErrorMessage
		}
	}
	return visible.Shorten(strings.Join(strings.Fields(visible.Head(text, 8*maxPreview)), " "), maxPreview)
}

// steered reports whether a user message was sent to a running turn.
func steered(entry session.Entry) bool {
	if !bytes.Contains(entry.Raw, []byte(`"steer"`)) { // a fast check: most entries have no such key
		return false
	}
	m, ok := entry.AsMessage()
	return ok && m.Steer
}
