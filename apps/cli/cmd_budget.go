package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newBudget(a *app) *cobra.Command {
	return group("budget", "Show, set and lift limits on cost and tokens",
		"  scorel budget show\n  scorel budget set --day --cost 20\n  scorel budget lift --session SESSION --cost 5",
		newBudgetShow(a), newBudgetSet(a), newBudgetLift(a))
}

// budgetFlags select a budget and an amount.
type budgetFlags struct {
	*projectFlag
	session     string
	day, asJSON bool
	cost        float64
	tokens      int64
}

func (a *app) budgetFlags(cmd *cobra.Command) *budgetFlags {
	f := &budgetFlags{projectFlag: a.projectFlag(cmd)}
	cmd.Flags().StringVar(&f.session, "session", "", "the budget of the session with this id")
	addJSON(cmd, &f.asJSON)
	return f
}

func (f *budgetFlags) addAmount(cmd *cobra.Command, cost, tokens string) {
	cmd.Flags().BoolVar(&f.day, "day", false, "the budget of the day, for all sessions")
	cmd.Flags().Float64Var(&f.cost, "cost", 0, cost)
	cmd.Flags().Int64Var(&f.tokens, "tokens", 0, tokens)
}

// scope connects and returns the selected budget: that of a session, of the day, or of a project.
func (f *budgetFlags) scope(ctx context.Context, run func(c *client.Client, scope api.BudgetScope, id string) error) error {
	if f.session != "" && f.day || f.given != "" && (f.session != "" || f.day) {
		return usagef("--session, --project and --day: give one of them")
	}
	return f.within(ctx, f.session != "" || f.day, func(c *client.Client, projectID string) error {
		switch {
		case f.session != "":
			return run(c, api.BudgetSession, f.session)
		case f.day:
			return run(c, api.BudgetDay, "")
		}
		return run(c, api.BudgetProject, projectID)
	})
}

func newBudgetShow(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the budgets of a project or session and of the day, and what is used",
		Long: `Show the limits on cost and tokens of a project and of the day, or of a session with its project
and the day, and how much of them is used. A day begins at midnight in the time zone of the
machine. With --json, each line is one budget.`,
		Example: "  scorel budget show\n  scorel budget show --session SESSION --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.budgetFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.scope(cmd.Context(), func(c *client.Client, scope api.BudgetScope, id string) error {
			request := api.GetBudgetsRequest{ProjectID: id}
			if scope == api.BudgetSession {
				request = api.GetBudgetsRequest{SessionID: id}
			}
			response, err := client.Call(cmd.Context(), c, api.GetBudgets, request)
			if err != nil {
				return err
			}
			return printList(a.stdout, f.asJSON, response.Budgets, listing[api.Budget]{
				header: []string{"BUDGET", "USED", "LIMIT", "FROM", "STATE"}, row: budgetRow,
			})
		})
	}
	return cmd
}

func budgetRow(_ int, b api.Budget) []string {
	used := fmt.Sprintf("$%.2f, %d tokens", b.UsedCost, b.UsedTokens)
	if b.UnpricedTokens > 0 {
		used += fmt.Sprintf(" (%d without a price)", b.UnpricedTokens)
	}
	limit := "-"
	switch {
	case b.Cost > 0 && b.Tokens > 0:
		limit = fmt.Sprintf("$%.2f, %d tokens", b.Cost+b.ExtraCost, b.Tokens+b.ExtraTokens)
	case b.Cost > 0:
		limit = fmt.Sprintf("$%.2f", b.Cost+b.ExtraCost)
	case b.Tokens > 0:
		limit = fmt.Sprintf("%d tokens", b.Tokens+b.ExtraTokens)
	}
	state, from := "ok", b.Source
	switch {
	case b.Lifted:
		state = "lifted"
	case b.Exceeded:
		state = "used up"
	case b.Source == "":
		state, from = "no limit", "-"
	}
	return []string{string(b.Scope), used, limit, from, state}
}

func newBudgetSet(a *app) *cobra.Command {
	var reset, unlimited bool
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Set the limits of a session, a project or the day",
		Long: `Set the limits of a session, of a project per day, or of all sessions per day, in place of those
in config.toml. Of --cost and --tokens, one that is not given is no limit. With --unlimited
there is none, whatever config.toml says, and with --reset those of config.toml apply again. A
turn stops before the model call after the limit was reached.`,
		Example: "  scorel budget set --cost 5\n  scorel budget set --day --cost 20 --tokens 5000000\n  scorel budget set --session SESSION --unlimited\n  scorel budget set --session SESSION --reset",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.budgetFlags(cmd)
	f.addAmount(cmd, "limit in US dollars", "limit in tokens")
	cmd.Flags().BoolVar(&reset, "reset", false, "use the limits of config.toml again")
	cmd.Flags().BoolVar(&unlimited, "unlimited", false, "no limit on cost and tokens, whatever config.toml says")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		given := 0
		for _, one := range []bool{f.cost != 0 || f.tokens != 0, unlimited, reset} {
			if one {
				given++
			}
		}
		if given != 1 {
			return usagef("give --cost or --tokens, or --unlimited, or --reset")
		}
		return f.scope(cmd.Context(), func(c *client.Client, scope api.BudgetScope, id string) error {
			set, err := client.Call(cmd.Context(), c, api.SetBudget, api.SetBudgetRequest{Scope: scope, ID: id, Cost: f.cost, Tokens: f.tokens, Reset: reset})
			if err != nil {
				return err
			}
			return printBudget(a.stdout, f.asJSON, set.Budget)
		})
	}
	return cmd
}

func newBudgetLift(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lift",
		Short: "Add to a budget, or lift it",
		Long: `Add an amount to the budget of a session, of a project for today, or of today, or without an
amount lift it: for the session, or until the end of the day. Then send another prompt: the
agent continues where it stopped.`,
		Example: "  scorel budget lift --session SESSION --cost 5\n  scorel budget lift --day",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.budgetFlags(cmd)
	f.addAmount(cmd, "US dollars to add", "tokens to add")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.scope(cmd.Context(), func(c *client.Client, scope api.BudgetScope, id string) error {
			lifted, err := client.Call(cmd.Context(), c, api.LiftBudget, api.LiftBudgetRequest{Scope: scope, ID: id, Cost: f.cost, Tokens: f.tokens})
			if err != nil {
				return err
			}
			return printBudget(a.stdout, f.asJSON, lifted.Budget)
		})
	}
	return cmd
}

func printBudget(stdout io.Writer, asJSON bool, b api.Budget) error {
	if asJSON {
		return printJSON(stdout, b)
	}
	row := budgetRow(0, b)
	return printf(stdout, "budget of the %s: %s of %s (%s)\n", row[0], row[1], row[2], row[4])
}
