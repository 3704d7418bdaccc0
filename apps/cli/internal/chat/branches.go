package chat

import (
	"crypto/rand"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// branchFrom continues a session from another entry.
type branchFrom struct{ sessionID, leaf, target string }

// branchPicker lists the places of a session that it can continue from, on all branches.
func branchPicker(r remote, sessionID, leaf string) (*picker, tea.Cmd) {
	p := newPicker("Branches: continue from", "Nothing to go back to yet", func(r row) tea.Msg {
		return branchFrom{sessionID, leaf, r.value.(api.TreeNode).ID}
	})
	p.hint = "Enter: continue from here; the current version is kept as a branch"
	return p, p.load(func() ([]row, error) {
		tree, err := ask(r, api.GetTree, api.SessionRequest{SessionID: sessionID})
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

// moveLeaf continues a session from another entry.
func moveLeaf(r remote, to branchFrom) tea.Cmd {
	key := rand.Text()
	return func() tea.Msg {
		response, err := ask(r, api.NavigateSession, api.NavigateSessionRequest{
			SessionID: to.sessionID, ClientKey: key, ExpectedLeaf: to.leaf, TargetEntryID: to.target,
		})
		return moved{response, err}
	}
}

// copied brings a copy of a session.
type copied struct {
	summary api.SessionSummary
	err     error
}

// fork copies a session.
func fork(r remote, sessionID string) tea.Cmd {
	key := rand.Text()
	return func() tea.Msg {
		response, err := ask(r, api.ForkSession, api.ForkSessionRequest{SessionID: sessionID, ClientKey: key})
		return copied{response.Session, err}
	}
}
