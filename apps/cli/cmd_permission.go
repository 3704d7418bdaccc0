package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newPermission(a *app) *cobra.Command {
	return group("permission", "See and change the rules that say what an agent may do",
		"  scorel permission list\n  scorel permission add 'bash(go test *)'\n  scorel permission remove 'bash(go test *)'",
		newPermissionList(a), newPermissionAdd(a), newPermissionRemove(a))
}

func newPermissionList(a *app) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the rules that hold in a project",
		Long: `List the rules that calls of tools are judged by: those of the project, then those of
the user, which hold in every project. What denies beats what asks, what asks beats
what allows. Those of config.toml are changed in that file, the others by add and
remove. What holds commands back besides, the sandbox, is said on the standard error
output. With --json each line is one rule.`,
		Example: "  scorel permission list\n  scorel permission list --project ~/code/site --json\n  scorel permission list --all",
		Args:    argCount(0, 0, "no arguments"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "the rules of every project")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var (
			response api.ListRulesResponse
			about    api.HostInfo
		)
		err := project.within(cmd.Context(), all, func(c *client.Client, projectID string) (err error) {
			if response, err = client.Call[api.ListRulesResponse](cmd.Context(), c, "list_rules", api.ListRulesRequest{ProjectID: projectID}); err != nil {
				return err
			}
			about, err = getHost(cmd.Context(), c)
			return err
		})
		if err != nil {
			return err
		}
		if !asJSON {
			a.sayNotes([]string{"what a rule allows runs with this sandbox: " + strings.Join(doctor.Sandbox(about), "; ")})
		}
		return printList(a, asJSON, response.Rules, listing[api.PermissionRule]{
			none:   "there is no rule: `scorel permission add` adds one, and so does the answer \"always\"",
			header: []string{"WHAT", "WHERE", "FROM", "RULE"},
			row: func(_ int, r api.PermissionRule) []string {
				scope := string(r.Scope)
				if all && r.ProjectID != "" {
					scope = r.ProjectID
				}
				text := r.Rule
				if r.Problem != "" {
					text += "  (does not count: " + clip(r.Problem, 100) + ")"
				}
				return []string{string(r.Kind), scope, r.Source, text}
			},
		})
	}
	return cmd
}

// within connects and runs a request about the project, or about every one.
func (p *projectFlag) within(ctx context.Context, every bool, run func(c *client.Client, projectID string) error) error {
	c, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // used to the end
	if every {
		return run(c, "")
	}
	project, err := p.find(ctx, c)
	if err != nil {
		return err
	}
	return run(c, project.ID)
}

// ruleFlags name a rule that is kept.
type ruleFlags struct {
	*projectFlag
	ask, deny, user, asJSON bool
}

func (a *app) ruleFlags(cmd *cobra.Command) *ruleFlags {
	f := &ruleFlags{projectFlag: a.projectFlag(cmd)}
	cmd.Flags().BoolVar(&f.ask, "ask", false, "a rule that asks instead of one that allows")
	cmd.Flags().BoolVar(&f.deny, "deny", false, "a rule that denies instead of one that allows")
	cmd.Flags().BoolVar(&f.user, "user", false, "in every project, not only in this one")
	addJSON(cmd, &f.asJSON)
	return f
}

// on runs a request about the rules of the project, or with --user of every one.
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
		Short: "Add a rule that allows, asks or denies, from the next call on",
		Long: `Adds a rule for the project, or with --user for every project. Without --ask and --deny
it allows. A rule is a tool, or a tool with a pattern: bash(go test *), write_file(docs/**),
fetch_url(domain:example.com), mcp__server__*. Put it in quotes.

Over --device a rule is refused that allows all calls of a tool, or commands that run
whatever they are given: add it on the machine itself.`,
		Example: "  scorel permission add 'bash(go test *)'\n  scorel permission add --deny --user 'read_file(.env)'",
		Args:    argCount(1, 1, "one rule, in quotes"),
	}
	f := a.ruleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var response api.AddRuleResponse
		err := f.on(cmd.Context(), func(c *client.Client, projectID string) (err error) {
			response, err = client.Call[api.AddRuleResponse](cmd.Context(), c, "add_rule", api.RuleRequest{Rule: args[0], Kind: f.kind(), ProjectID: projectID})
			return err
		})
		if err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(a.stdout, response.Rule)
		}
		_, err = fmt.Fprintf(a.stdout, "%s: %s (%s)\n", response.Rule.Kind, printable(response.Rule.Rule), response.Rule.Scope)
		return err
	}
	return cmd
}

func newPermissionRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove RULE",
		Short:   "Take a rule back, word for word as it is listed",
		Long:    "Takes back a rule that was added, or allowed with \"always\". Rules of config.toml are removed in that file.",
		Example: "  scorel permission list\n  scorel permission remove 'bash(go test *)'\n  scorel permission remove --deny --user 'read_file(.env)'",
		Args:    argCount(1, 1, "one rule, in quotes"),
	}
	f := a.ruleFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var response api.RemoveRuleResponse
		err := f.on(cmd.Context(), func(c *client.Client, projectID string) (err error) {
			response, err = client.Call[api.RemoveRuleResponse](cmd.Context(), c, "remove_rule", api.RuleRequest{Rule: args[0], Kind: f.kind(), ProjectID: projectID})
			return err
		})
		switch {
		case err != nil:
			return err
		case f.asJSON:
			return printJSON(a.stdout, response)
		case !response.Removed:
			return usagef("there is no such rule that %ss: `scorel permission list` shows them", f.kind())
		}
		_, err = fmt.Fprintf(a.stdout, "removed: %s\n", printable(args[0]))
		return err
	}
	return cmd
}
