package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSessionTree(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tree ID",
		Short: "Print the branches of a session as a tree",
		Long: `Print user messages, ends of turns, summaries and labeled entries of a session as a tree.
"*" marks the current path. The id in front of an entry is the argument of rewind, navigate,
fork and label.`,
		Example: "  scorel session tree ID\n  scorel session tree ID --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		tree, err := ask(cmd.Context(), to, api.GetTree, api.SessionRequest{SessionID: args[0]})
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, tree)
		}
		return printTree(a.stdout, tree)
	}
	return cmd
}

// printTree draws a tree; a chain without branches is not indented further.
func printTree(w io.Writer, tree api.GetTreeResponse) error {
	children := map[string][]api.TreeNode{}
	for _, node := range tree.Nodes {
		children[node.ParentID] = append(children[node.ParentID], node)
	}
	var b strings.Builder
	if tree.Truncated {
		b.WriteString("(older entries are left out)\n")
	}
	type place struct {
		node  api.TreeNode
		depth int
	}
	var todo []place
	push := func(parent string, depth int) {
		list := children[parent]
		if len(list) > 1 {
			depth++
		}
		for i := range list {
			todo = append(todo, place{list[len(list)-1-i], depth})
		}
	}
	push("", 0)
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		writeNode(&b, next.node, next.depth)
		push(next.node.ID, next.depth)
	}
	if len(tree.Nodes) == 0 {
		b.WriteString("the session is empty: `scorel send --session` sends a prompt to it\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeNode(b *strings.Builder, node api.TreeNode, depth int) {
	mark := " "
	if node.Active {
		mark = "*"
	}
	who := map[session.Role]string{session.RoleUser: "user", session.RoleAssistant: "agent", session.RoleToolResult: "tool"}[node.Role]
	label := ""
	if node.Label != "" {
		label = " [" + printable(node.Label) + "]"
	}
	fmt.Fprintf(b, "%s %s%s  %s%s: %s\n", mark, strings.Repeat("  ", depth), printable(node.ID), cmp.Or(who, printable(string(node.Type))), label, printable(clip(node.Text, 100)))
}
