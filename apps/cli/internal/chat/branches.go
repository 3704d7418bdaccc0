package chat

import (
	"crypto/rand"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// pickBranch lists the places of the session that it can continue from, on all branches.
func (m *Model) pickBranch() tea.Cmd {
	id, leaf := m.session.Summary.ID, m.session.Leaf()
	if id == "" {
		m.notice.say("A new session has no branches")
		return nil
	}
	r := m.conn.remote()
	p := newPicker("Branches: continue from", "Nothing to go back to yet", func(r row) tea.Cmd {
		node := r.value.(api.TreeNode)
		return m.moveTo(id, leaf, node.ID)
	})
	p.hint = "Enter: continue from here; the current version is kept as a branch"
	return m.load(p, func() ([]row, error) {
		tree, err := ask(r, api.GetTree, api.SessionRequest{SessionID: id})
		var rows []row
		for _, node := range tree.Nodes {
			if !node.Target {
				continue
			}
			rows = append(rows, row{title: nodeTitle(node), detail: nodeDetail(node), current: node.Active, value: node})
		}
		return rows, err
	})
}

func nodeTitle(node api.TreeNode) string {
	text := node.Text
	if node.Label != "" {
		text = "[" + node.Label + "] " + text
	}
	if node.Role == session.RoleUser {
		return "❯ " + text
	}
	return "  " + text
}

func nodeDetail(node api.TreeNode) string {
	var parts []string
	if node.Role == session.RoleUser {
		parts = append(parts, "Edit and resend")
	}
	if !node.Active {
		parts = append(parts, "Other branch")
	}
	return strings.Join(parts, " · ")
}

// moved is the answer to a move of the leaf.
type moved struct {
	response api.MoveLeafResponse
	err      error
}

func (m *Model) moveTo(sessionID, leaf, target string) tea.Cmd {
	r, key := m.conn.remote(), rand.Text()
	return func() tea.Msg {
		response, err := ask(r, api.NavigateSession, api.NavigateSessionRequest{
			SessionID: sessionID, ClientKey: key, ExpectedLeaf: leaf, TargetEntryID: target,
		})
		return moved{response, err}
	}
}

// wasMoved puts the prompt of the target into the field, to be changed and sent again.
func (m *Model) wasMoved(msg moved) {
	if msg.err != nil {
		m.notice.fail(msg.err)
		return
	}
	if msg.response.Text != "" && m.editor.Empty() {
		m.editor.Set(msg.response.Text)
	}
}

// fork copies the session and opens the copy.
func (m *Model) fork() tea.Cmd {
	id, r, key := m.session.Summary.ID, m.conn.remote(), rand.Text()
	if id == "" {
		m.notice.say("A new session cannot be forked")
		return nil
	}
	return func() tea.Msg {
		response, err := ask(r, api.ForkSession, api.ForkSessionRequest{SessionID: id, ClientKey: key})
		return opened{response.Session, err}
	}
}
