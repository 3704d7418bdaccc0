package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionArchive(a *app) *cobra.Command {
	return a.sessionSwitch("archive", "Archive a session, which hides it in lists", func(r *api.UpdateSessionRequest, yes bool) { r.Archived = &yes }, true)
}

func newSessionUnarchive(a *app) *cobra.Command {
	return a.sessionSwitch("unarchive", "Restore a session from the archive", func(r *api.UpdateSessionRequest, yes bool) { r.Archived = &yes }, false)
}

func newSessionPin(a *app) *cobra.Command {
	return a.sessionSwitch("pin", "Pin a session to the top of lists", func(r *api.UpdateSessionRequest, yes bool) { r.Pinned = &yes }, true)
}

func newSessionUnpin(a *app) *cobra.Command {
	return a.sessionSwitch("unpin", "Unpin a session", func(r *api.UpdateSessionRequest, yes bool) { r.Pinned = &yes }, false)
}

// sessionSwitch returns a command that turns a property of a session on or off.
func (a *app) sessionSwitch(name, short string, set func(*api.UpdateSessionRequest, bool), on bool) *cobra.Command {
	var asJSON bool
	long := short + "."
	if strings.HasSuffix(name, "archive") {
		long += ` Sending a prompt restores an archived session.

The worktree of a session is removed when the session is archived, unless something in it is
not committed. Ignored files are removed too. Its branch stays if it has commits of its own.
Restoring the session makes the worktree again.`
	}
	cmd := &cobra.Command{
		Use: name + " ID", Short: short, Long: long,
		Example: "  scorel session " + name + " ID",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request := api.UpdateSessionRequest{SessionID: args[0]}
		set(&request, on)
		return updateSession(cmd, to, request, asJSON)
	}
	return cmd
}

func updateSession(cmd *cobra.Command, to *target, request api.UpdateSessionRequest, asJSON bool) error {
	r, err := ask(cmd.Context(), to, api.UpdateSession, request)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(to.con.stdout, r.Session)
	}
	if request.Archived != nil && *request.Archived {
		noteLeft(to.con.stderr, r.Session.Worktree)
	}
	return nil
}

func newSessionMeta(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "meta ID [KEY=VALUE...]",
		Short: "Show or set the metadata of a session",
		Long: `Show the metadata of a session, or change it: KEY=VALUE sets a key, KEY= removes it. Keys
consist of letters, digits, dots, hyphens and underscores; a session has at most 32.
"scorel session list --meta" finds sessions by them.`,
		Example: "  scorel session meta ID\n  scorel session meta ID ticket=42 reviewer=ada\n  scorel session meta ID ticket=",
		Args:    argCount(1, 1+api.MaxMeta, "the id of one session, and KEY=VALUE for each key"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		meta := map[string]string{}
		for _, arg := range args[1:] {
			key, value, ok := strings.Cut(arg, "=")
			if !ok || key == "" {
				return usagef("%q is not KEY=VALUE", arg)
			}
			meta[key] = value
		}
		r, err := ask(cmd.Context(), to, api.UpdateSession, api.UpdateSessionRequest{SessionID: args[0], Meta: meta})
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, r.Session)
		}
		if len(meta) > 0 {
			return nil
		}
		var rows [][]string
		for _, key := range slices.Sorted(maps.Keys(r.Session.Meta)) {
			rows = append(rows, []string{key, printable(r.Session.Meta[key])})
		}
		if len(rows) == 0 {
			return nil
		}
		return printTable(a.stdout, []string{"KEY", "VALUE"}, rows)
	}
	return cmd
}

// withMeta returns the sessions whose metadata matches a filter, KEY or KEY=VALUE, or all
// if it is empty.
func withMeta(list []api.SessionSummary, filter string) []api.SessionSummary {
	if filter == "" {
		return list
	}
	key, value, exact := strings.Cut(filter, "=")
	return slices.DeleteFunc(list, func(s api.SessionSummary) bool {
		have, ok := s.Meta[key]
		return !ok || exact && have != value
	})
}
