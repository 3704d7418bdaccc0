package read

import (
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Place is the leaf that a chosen target leads to.
type Place struct {
	Leaf string // "" means before the first entry
	Text string // of the chosen user message, for editing
	// Content is the message's content if it has images, which are named by their hash.
	Content session.Content
}

// PlaceFor returns the place of a target. A user message means the place before it; any other
// target is the place itself and must be at the end of a turn. "" means before the first entry.
// The error is an *api.Error: not_found, damaged or bad_request.
func PlaceFor(tree *session.Tree, target string) (Place, error) {
	var p Place
	if target == "" {
		return p, nil
	}
	entry, ok := tree.Get(target)
	if !ok {
		return p, api.Errorf(api.KindNotFound, "this session has no entry %.64q: request its tree to see the ids", target)
	}
	p.Leaf = target
	if entry.Role() == session.RoleUser {
		p.Leaf = entry.ParentID
		if m, ok := entry.AsMessage(); ok {
			p.Text = m.Message.Content.Plain()
			if m.Message.Content.HasImage() {
				p.Content = m.Message.Content.References()
			}
		}
	}
	if err := tree.CheckPath(p.Leaf); err != nil {
		return p, api.Errorf(api.KindDamaged, "the path to that entry is broken (%v): choose another", err)
	}
	if !isTarget(tree, entry) {
		return p, api.Errorf(api.KindBadRequest, "that entry is inside a turn: choose the message that began the turn, or the last one of a turn")
	}
	return p, nil
}

// isTarget reports whether a person may choose the entry: a user message that began a turn,
// when all earlier turns had ended.
func isTarget(tree *session.Tree, entry session.Entry) bool {
	if entry.Role() == session.RoleUser {
		return !steered(entry)
	}
	return TurnEnded(tree, entry.ID)
}

// TurnEnded reports whether no turn is open at an entry.
func TurnEnded(tree *session.Tree, id string) bool {
	for range len(tree.Entries()) { // bounded, in case of a cycle
		entry, ok := tree.Get(id)
		if !ok {
			return true
		}
		id = entry.ParentID
		if entry.Type == session.TypeCustom && entry.CustomType == session.CustomTurn {
			return true
		}
		if entry.Type != session.TypeMessage {
			continue
		}
		switch entry.Role() {
		case session.RoleAssistant:
			m, ok := entry.AsMessage()
			return !ok || m.Message.StopReason != session.StopToolUse && len(m.Message.Content.ToolCalls()) == 0
		case session.RoleUser, session.RoleToolResult:
			return false
		}
		return true // activity of a person or a program other than the agent
	}
	return true
}

// CheckRewind rejects a place that is not on the active path or is before its last compaction.
// The error is an *api.Error: damaged or bad_request.
func CheckRewind(tree *session.Tree, p Place) error {
	path, err := tree.Path(tree.Leaf())
	if err != nil {
		return api.Errorf(api.KindDamaged, "the path to the last entry is broken: %v", err)
	}
	last, at := -1, -1
	for i, entry := range path {
		if entry.Type == session.TypeCompaction {
			last = i
		}
		if entry.ID == p.Leaf {
			at = i
		}
	}
	switch {
	case at < 0 && p.Leaf != "":
		return api.Errorf(api.KindBadRequest, "that entry is on another branch: navigate to it instead")
	case at < last:
		return api.Errorf(api.KindBadRequest, "that entry is before the last compaction, which rewind cannot cross: fork the session there, or navigate to it")
	}
	return nil
}
