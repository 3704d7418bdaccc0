package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newHook(a *app) *cobra.Command {
	return group("hook", "List, allow and test the commands that run at events of sessions",
		"  scorel hook list\n  scorel hook allow --all\n  scorel hook test 3f9c",
		newHookList(a), newHookDecide(a, "allow", true), newHookDecide(a, "deny", false), newHookTest(a))
}

func newHookList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hooks of a project, where they come from and whether they run",
		Long: `List the hooks of config.toml and those that the project brings in .scorel/hooks.toml,
.claude/settings.json and .claude/settings.local.json, with the last result of each since the
host started. A hook of a project runs only after it was allowed. With --json, each line is
one hook.`,
		Example: "  scorel hook list\n  scorel hook list --project ~/code/site --json\n  scorel hook list --user",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := &scopeFlags{}
	f.add(a, cmd, "list the hooks of config.toml only")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.on(cmd.Context(), func(c *client.Client, projectID string) error {
			response, err := client.Call(cmd.Context(), c, api.ListHooks, api.ListHooksRequest{ProjectID: projectID})
			if err != nil {
				return err
			}
			sayNotes(a.stderr, response.Problems)
			return printList(a.stdout, f.asJSON, response.Hooks, listing[api.Hook]{
				none:   "there are no hooks: see docs/hooks.md for how to add one",
				header: []string{"ID", "EVENT", "FROM", "STATE", "LAST RUN", "COMMAND"},
				row:    hookRow,
			})
		})
	}
	return cmd
}

func hookRow(_ int, h api.Hook) []string {
	state := string(h.State)
	if h.Reason != "" {
		state += ": " + clip(h.Reason, 100)
	}
	last := "-"
	if h.Last != nil {
		last = fmt.Sprintf("%s (%d ms)", h.Last.Outcome, h.Last.DurationMs)
	}
	event := string(h.Event)
	if h.Matcher != "" {
		event += " of " + h.Matcher
	}
	command := clip(strings.Join(strings.Fields(h.Command), " "), 200)
	if h.Name != "" {
		command = h.Name + ": " + command
	}
	return []string{h.ID, event, h.Source, state, last, command}
}

// findHooks returns the hooks that ids name. An id may be shortened, and a name will do.
func findHooks(hooks []api.Hook, ids []string) (found []api.Hook, err error) {
	all := named[api.Hook]{what: "hook", list: "scorel hook list", ids: func(h api.Hook) (id, name string) { return h.ID, h.Name }}
	for _, id := range ids {
		hook, err := all.find(hooks, id)
		if err != nil {
			return nil, err
		}
		found = append(found, hook)
	}
	return found, nil
}

func newHookDecide(a *app, verb string, allow bool) *cobra.Command {
	var asJSON, all bool
	short := map[bool]string{
		true:  "Allow hooks of the project to run, as they are now",
		false: "Deny hooks of the project",
	}[allow]
	cmd := &cobra.Command{
		Use:   verb + " [ID...]",
		Short: short,
		Long: short + `.
Each is printed with its command. If it changes later, or a script of the project that its
command names does, it needs a new decision.`,
		Example: "  scorel hook " + verb + " 3f9c1d20a7be\n  scorel hook " + verb + " --all --project ~/code/site",
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "all hooks of the project that wait for a decision")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		if all == (len(ids) > 0) {
			return usagef("give the ids of hooks, or --all")
		}
		return project.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			hooks, err := hooksToDecide(cmd.Context(), c, projectID, ids)
			if err != nil {
				return err
			}
			return decideHooks(cmd.Context(), a.console, c, projectID, hooks, allow, asJSON)
		})
	}
	return cmd
}

// hooksToDecide returns the hooks with the given ids, or without ids those that wait.
func hooksToDecide(ctx context.Context, c *client.Client, projectID string, ids []string) ([]api.Hook, error) {
	response, err := client.Call(ctx, c, api.ListHooks, api.ListHooksRequest{ProjectID: projectID})
	if err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		return findHooks(response.Hooks, ids)
	}
	var waiting []api.Hook
	for _, h := range response.Hooks {
		if h.Hash != "" && (h.State == api.HookNeedsConsent || h.State == api.HookUntrusted) {
			waiting = append(waiting, h)
		}
	}
	if len(waiting) == 0 {
		return nil, usagef("no hook of the project waits for a decision: `scorel hook list` shows all hooks")
	}
	return waiting, nil
}

func decideHooks(ctx context.Context, con console, c *client.Client, projectID string, hooks []api.Hook, allow, asJSON bool) error {
	for _, h := range hooks {
		decided, err := client.Call(ctx, c, api.DecideHook, api.DecideHookRequest{ProjectID: projectID, ID: h.ID, Hash: h.Hash, Allow: allow})
		if err != nil {
			return err
		}
		if asJSON {
			if err := printJSON(con.stdout, decided.Hook); err != nil {
				return err
			}
			continue
		}
		said := map[bool]string{true: "allowed", false: "denied"}[allow]
		if decided.Hook.State == api.HookUntrusted {
			fmt.Fprintln(con.stderr, "scorel: it will not run until the folder is trusted: `scorel project trust` trusts it")
		}
		if err := printf(con.stdout, "%s: %s (%s, %s): %s\n", said, h.ID, h.Event, h.Source, h.Command); err != nil {
			return err
		}
	}
	return nil
}

func newHookTest(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test ID",
		Short: "Run a hook once with an example of its event",
		Long: `Run a hook once with an example of its event, and print its outcome and the JSON that it
read. It denies and adds nothing. Only a hook that may run can be tested.`,
		Example: "  scorel hook test 3f9c1d20a7be\n  scorel hook test guard --project ~/code/site --json",
		Args:    argCount(1, 1, "the id of one hook"),
	}
	var asJSON bool
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return project.within(cmd.Context(), false, func(c *client.Client, projectID string) error {
			response, err := client.Call(cmd.Context(), c, api.ListHooks, api.ListHooksRequest{ProjectID: projectID})
			if err != nil {
				return err
			}
			hooks, err := findHooks(response.Hooks, args)
			if err != nil {
				return err
			}
			tested, err := client.Call(cmd.Context(), c, api.TestHook, api.TestHookRequest{ProjectID: projectID, ID: hooks[0].ID})
			if err != nil {
				return err
			}
			return printHookTest(a.stdout, asJSON, tested)
		})
	}
	return cmd
}

func printHookTest(stdout io.Writer, asJSON bool, tested api.TestHookResponse) error {
	if asJSON {
		return printJSON(stdout, tested)
	}
	text := printable(string(tested.Run.Outcome))
	if tested.Run.Text != "" {
		text += ": " + printableLines(tested.Run.Text)
	}
	took := time.Duration(tested.Run.DurationMs) * time.Millisecond
	_, err := fmt.Fprintf(stdout, "%s\n(%s) It read: %s\n", text, took, strings.TrimSpace(printable(tested.Input)))
	return err
}
