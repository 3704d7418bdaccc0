package cli

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newSessionRename(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "rename ID NAME",
		Short:   `Rename a session; "" restores the name made from its first prompt`,
		Example: "  scorel session rename ID \"the login bug\"",
		Args:    argCount(2, 2, "the id of one session and its new name, in quotes"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		done, err := ask(cmd.Context(), to, api.RenameSession, api.RenameSessionRequest{SessionID: args[0], Name: args[1]})
		if err != nil || !asJSON {
			return err
		}
		return printJSON(a.stdout, done)
	}
	return cmd
}

func newSessionLabel(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "label ID ENTRY [LABEL]",
		Short:   "Label an entry of a session; without LABEL, remove its label",
		Example: "  scorel session label ID 1a2b3c4d \"before the rewrite\"",
		Args:    argCount(2, 3, "the ids of one session and of one of its entries, and the label in quotes"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request := api.SetLabelRequest{SessionID: args[0], ClientKey: rand.Text(), EntryID: args[1]}
		if len(args) == 3 {
			request.Label = args[2]
		}
		done, err := ask(cmd.Context(), to, api.SetLabel, request)
		if err != nil || !asJSON {
			return err
		}
		return printJSON(a.stdout, done)
	}
	return cmd
}

// moveFlags are the flags of commands that move the leaf.
type moveFlags struct {
	to     *target
	expect string
	asJSON bool
}

func (a *app) moveFlags(cmd *cobra.Command) *moveFlags {
	f := &moveFlags{to: a.targetFlag(cmd)}
	cmd.Flags().StringVar(&f.expect, "expect", "", "fail unless this is still the last entry (default: the last entry now)")
	addJSON(cmd, &f.asJSON)
	return f
}

// expected returns the leaf that the session must still have.
func (f *moveFlags) expected(ctx context.Context, c *client.Client, id string) (string, error) {
	if f.expect != "" {
		return f.expect, nil
	}
	tree, err := client.Call(ctx, c, api.GetTree, api.SessionRequest{SessionID: id})
	return tree.LeafID, err
}

func printMove(con console, f *moveFlags, r api.MoveLeafResponse) error {
	if f.asJSON {
		return printJSON(con.stdout, r)
	}
	if r.Text != "" {
		fmt.Fprintln(con.stderr, "scorel: the session is now before this message, which you can send again:")
		_, err := fmt.Fprintln(con.stdout, printableLines(r.Text))
		return err
	}
	return nil
}

func newSessionRewind(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rewind ID ENTRY",
		Short: "Rewind a session to an earlier entry",
		Long: `Go back on the current path of a session: to the end of a turn, or to the point before a
user message, whose text is printed. Later entries are kept as a branch: session tree shows it,
and session navigate returns to it. A rewind cannot go past a compaction.`,
		Example: "  scorel session tree ID\n  scorel session rewind ID 1a2b3c4d",
		Args:    argCount(2, 2, "the ids of one session and of one of its entries"),
	}
	f := a.moveFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.to.use(cmd.Context(), func(c *client.Client) error {
			expected, err := f.expected(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			response, err := client.Call(cmd.Context(), c, api.RewindSession, api.RewindSessionRequest{
				SessionID: args[0], ClientKey: rand.Text(), ExpectedLeaf: expected, TargetEntryID: args[1],
			})
			if err != nil {
				return err
			}
			return printMove(a.console, f, response)
		})
	}
	return cmd
}

func newSessionFork(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "fork ID [ENTRY]",
		Short: "Fork a session into a new one",
		Long: `Create a session from the path to an entry, chosen as for rewind, or to the last entry, and
print its id. The original session is not changed.`,
		Example: "  scorel session fork ID\n  scorel session fork ID 1a2b3c4d --json",
		Args:    argCount(1, 2, "the id of one session, and of one of its entries"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request := api.ForkSessionRequest{SessionID: args[0], ClientKey: rand.Text()}
		if len(args) == 2 {
			request.EntryID = args[1]
		}
		response, err := ask(cmd.Context(), to, api.ForkSession, request)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(a.stdout, response)
		}
		if response.Text != "" {
			fmt.Fprintf(a.stderr, "scorel: the new session ends before this message, which you can send again:\n%s\n", printableLines(response.Text))
		}
		_, err = fmt.Fprintln(a.stdout, printable(response.Session.ID))
		return err
	}
	return cmd
}
