package cli

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// isSessionID reports whether a name is the id of a session and not a file.
func isSessionID(name string) bool {
	if _, err := os.Stat(name); err == nil {
		return false
	}
	return len(name) == 36 && strings.Count(name, "-") == 4
}

// inspectLive prints what the model of a session would be sent.
func inspectLive(ctx context.Context, to *target, id string, asJSON bool) error {
	r, err := ask(ctx, to, api.GetSnapshot, api.SessionRequest{SessionID: id})
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(to.con.stdout, r)
	}
	if r.Hole != "" {
		fmt.Fprintf(to.con.stderr, "note: the path to the leaf is incomplete: %s\n", printable(r.Hole))
	}
	now := r.RuntimeContext
	rows := [][]string{
		{"session", r.Session.ID, ""}, {"name", printable(r.Session.Name), ""}, {"model", now.Model.Name, ""}, {"entries", strconv.Itoa(r.Entries), ""},
	}
	for _, part := range now.System {
		name := part.Name
		if name == "" {
			name = "(beginning)"
		}
		rows = append(rows, []string{"system", printable(name), strconv.Itoa(part.Tokens)})
	}
	for _, tool := range now.Tools {
		rows = append(rows, []string{"tool", printable(tool.Name), strconv.Itoa(tool.Tokens)})
	}
	if now.Omitted > 0 {
		rows = append(rows, []string{"messages", fmt.Sprintf("(%d earlier ones)", now.Omitted), ""})
	}
	for _, m := range now.Messages {
		rows = append(rows, []string{string(m.Role), clip(printable(m.Content.Plain()+imageLines(m.Content)), 60), strconv.Itoa(m.Tokens)})
	}
	window := ""
	if now.ContextWindow > 0 {
		window = fmt.Sprintf("of %d", now.ContextWindow)
	}
	rows = append(rows, []string{"total", window, strconv.Itoa(now.Tokens)})
	return printTable(to.con.stdout, []string{"WHAT", "VALUE", "TOKENS"}, rows)
}
