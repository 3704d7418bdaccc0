package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newPermission(a *app) *cobra.Command {
	return group("permission", "Manage the rules for what the agent may do",
		"  scorel permission list\n  scorel permission add 'bash(go test *)'\n  scorel permission remove 'bash(go test *)'",
		newPermissionList(a), newPermissionAdd(a), newPermissionRemove(a))
}

func newPermissionList(a *app) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the permission rules of a project",
		Long: `List the rules for tool calls: those of the project, then those of the user, which apply
to all projects. Deny beats ask; ask beats allow. Edit config.toml to change its rules,
and use add and remove for the others. The limits of the sandbox are printed to standard
error. With --json, each line is one rule.`,
		Example: "  scorel permission list\n  scorel permission list --project ~/code/site --json\n  scorel permission list --all",
		Args:    argCount(0, 0, "no arguments"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "list the rules of all projects")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var (
			response api.ListRulesResponse
			about    api.HostInfo
		)
		err := project.within(cmd.Context(), all, func(c *client.Client, projectID string) (err error) {
			if response, err = client.Call(cmd.Context(), c, api.ListRules, api.ListRulesRequest{ProjectID: projectID}); err != nil {
				return err
			}
			about, err = getHost(cmd.Context(), c)
			return err
		})
		if err != nil {
			return err
		}
		if !asJSON {
			sayNotes(a.stderr, []string{"commands that a rule allows run with this sandbox: " + strings.Join(doctor.Sandbox(about), "; ")})
		}
		return printList(a.stdout, asJSON, response.Rules, listing[api.PermissionRule]{
			none:   "there are no rules: add one with `scorel permission add`, or answer \"always\" to an approval",
			header: []string{"WHAT", "WHERE", "FROM", "RULE"},
			row: func(_ int, r api.PermissionRule) []string {
				scope := string(r.Scope)
				if all && r.ProjectID != "" {
					scope = r.ProjectID
				}
				text := r.Rule
				if r.Problem != "" {
					text += "  (ignored: " + clip(r.Problem, 100) + ")"
				}
				return []string{string(r.Kind), scope, r.Source, text}
			},
		})
	}
	return cmd
}

// within connects and runs a request for the project, or for all projects.
func (p *projectFlag) within(ctx context.Context, every bool, run func(c *client.Client, projectID string) error) error {
	c, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	if every {
		return run(c, "")
	}
	project, err := p.find(ctx, c)
	if err != nil {
		return err
	}
	return run(c, project.ID)
}

// ruleFlags select a stored rule.
type ruleFlags struct {
	*projectFlag
	ask, deny, user, asJSON bool
}

func (a *app) ruleFlags(cmd *cobra.Command) *ruleFlags {
	f := &ruleFlags{projectFlag: a.projectFlag(cmd)}
	cmd.Flags().BoolVar(&f.ask, "ask", false, "a rule that asks before matching calls instead of allowing them")
	cmd.Flags().BoolVar(&f.deny, "deny", false, "a rule that denies matching calls instead of allowing them")
	cmd.Flags().BoolVar(&f.user, "user", false, "for all projects, not only this one")
	addJSON(cmd, &f.asJSON)
	return f
}

// on runs a request for the rules of the project or, with --user, of all projects.
func (f *ruleFlags) on(ctx context.Context, run func(c *client.Client, projectID string) error) error {
	switch {
	case f.ask && f.deny:
		return usagef("--ask and --deny: give one of them, or none for a rule that allows")
	case f.user && f.given != "":
		return usagef("--user and --project: give one of them")
	}
	return f.within(ctx, f.user, run)
}

func (f *ruleFlags) kind() api.RuleKind {
	switch {
	case f.ask:
		return api.RuleAsk
	case f.deny:
		return api.RuleDeny
	}
	return api.RuleAllow
}

func newPermissionAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add RULE",
		Short: "Add a rule that allows, asks about or denies calls",
		Long: `Add a rule for the project, or with --user for all projects. Without --ask and --deny it
allows. A rule is a tool, or a tool with a pattern: bash(go test *), write_file(docs/**),
fetch_url(domain:example.com), mcp__server__*. Quote it. It takes effect with the next call.

Broad rules must be confirmed, or passed with --yes: rules that allow every call of a
tool, programs that can run others or write anywhere (bash(tar *), bash(make *),
bash(git -c *)), deletions, files outside the project, or git's own files. With
--device this needs the grant "rules", which "scorel host clients grant" gives on the
host's machine.`,
		Example: "  scorel permission add 'bash(go test *)'\n  scorel permission add --yes 'bash(make *)'\n  scorel permission add --deny --user 'read_file(.env)'",
		Args:    argCount(1, 1, "one rule, in quotes"),
	}
	f := a.ruleFlags(cmd)
	var yes bool
	cmd.Flags().BoolVar(&yes, "yes", false, "confirm a broad rule")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var response api.AddRuleResponse
		err := f.on(cmd.Context(), func(c *client.Client, projectID string) (err error) {
			request := api.RuleRequest{Rule: args[0], Kind: f.kind(), ProjectID: projectID}
			if yes {
				request.Confirm = args[0]
			}
			response, err = client.Call(cmd.Context(), c, api.AddRule, request)
			var refused *api.Error
			if !errors.As(err, &refused) || refused.Kind != api.KindUnconfirmed {
				return err
			}
			if !confirmsRule(cmd.Context(), a.console, refused.Message) {
				return sayf(err, "%s: give --yes to add it anyway", printable(refused.Message))
			}
			request.Confirm = args[0]
			response, err = client.Call(cmd.Context(), c, api.AddRule, request)
			return err
		})
		if err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(a.stdout, response.Rule)
		}
		return printf(a.stdout, "%s: %s (%s)\n", response.Rule.Kind, response.Rule.Rule, response.Rule.Scope)
	}
	return cmd
}

// confirmsRule asks for confirmation of a broad rule. Without a terminal the answer is no.
func confirmsRule(ctx context.Context, con console, what string) bool {
	if !terminal.IsTerminal(con.stdin) {
		return false
	}
	yes, err := terminal.NewAsker(con.stdin, con.stderr).Ask(ctx, fmt.Sprintf("%s\nAdd it anyway? [y/N] ", printable(what)))
	return err == nil && yes
}

func newPermissionRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove RULE",
		Short:   "Remove a rule",
		Long:    "Remove a rule that was added, or that an approval saved. Give it exactly as it is listed,\nwith --ask or --deny for a rule of that kind. Edit config.toml to remove its rules.",
		Example: "  scorel permission list\n  scorel permission remove 'bash(go test *)'\n  scorel permission remove --deny --user 'read_file(.env)'",
		Args:    argCount(1, 1, "one rule, in quotes"),
	}
	f := a.ruleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var response api.RemoveRuleResponse
		err := f.on(cmd.Context(), func(c *client.Client, projectID string) (err error) {
			response, err = client.Call(cmd.Context(), c, api.RemoveRule, api.RuleRequest{Rule: args[0], Kind: f.kind(), ProjectID: projectID})
			return err
		})
		switch {
		case err != nil:
			return err
		case f.asJSON:
			return printJSON(a.stdout, response)
		case !response.Removed:
			return usagef("there is no such %s rule: `scorel permission list` shows all rules", f.kind())
		}
		_, err = fmt.Fprintf(a.stdout, "removed: %s\n", printable(args[0]))
		return err
	}
	return cmd
}
