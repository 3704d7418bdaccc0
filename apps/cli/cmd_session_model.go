package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// thinkingLevels returns the levels that a person can choose; "" keeps the current one.
func thinkingLevels() []string {
	return []string{"", "off", "minimal", "low", "medium", "high", api.ThinkingConfigured}
}

func checkThinking(level string) error {
	if slices.Contains(thinkingLevels(), level) {
		return nil
	}
	return usagef("--thinking %q is not a level: give off, minimal, low, medium, high or configured", level)
}

func checkMode(mode string) error {
	if slices.Contains(api.Modes(), api.Mode(mode)) {
		return nil
	}
	return usagef("%q is not a mode: give one of %s", clip(mode, 40), api.ModeNames())
}

func newSessionModel(a *app) *cobra.Command {
	var (
		thinking string
		asJSON   bool
	)
	cmd := &cobra.Command{
		Use:   "model ID [MODEL]",
		Short: "Set the model or the reasoning level of a session",
		Long: `Set the model and the reasoning level that the next turn of a session uses. MODEL is a name
that "scorel model list" shows. If the model does not support the level, the nearest one is
used.`,
		Example: "  scorel session model ID large\n  scorel session model ID --thinking high",
		Args:    argCount(1, 2, "the id of one session, and the name of a model"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&thinking, "thinking", "", "reasoning level: off, minimal, low, medium, high, or configured for that of the model's settings")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request := api.SetModelRequest{SessionID: args[0], Thinking: thinking}
		if len(args) == 2 {
			request.Model = args[1]
		}
		if request.Model == "" && thinking == "" {
			return usagef("nothing to change: give the name of a model, or --thinking")
		}
		if err := checkThinking(thinking); err != nil {
			return err
		}
		now, err := changeSession(cmd.Context(), to, api.SetModel, request, args[0])
		if err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, now, "the next turn uses %s, thinking: %s",
			printable(now.Model), cmp.Or(printable(now.Thinking), "the provider's default"))
	}
	return cmd
}

func newSessionMode(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "mode ID MODE",
		Short: "Set what a session may do without asking",
		Long: `Set the permission mode of a session: plan, ask, accept-edits, auto or bypass. It applies at
once, also to approvals that wait. The host limits which modes other machines can set.`,
		Example: "  scorel session mode ID accept-edits\n  scorel session mode ID plan --device dev_...",
		Args:    argCount(2, 2, "the id of one session and a mode"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkMode(args[1]); err != nil {
			return err
		}
		now, err := changeSession(cmd.Context(), to, api.SetMode, api.SetModeRequest{SessionID: args[0], Mode: api.Mode(args[1])}, args[0])
		if err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, now, "the mode is %s", now.Mode)
	}
	return cmd
}

// changeSession sends a request that returns nothing, and returns the session after it.
func changeSession[Request any](ctx context.Context, to *target, change api.Definition[Request, api.Empty], request Request, id string) (now api.SessionSummary, _ error) {
	c, err := to.connect(ctx)
	if err != nil {
		return now, err
	}
	defer func() { _ = c.Close() }() // everything was received
	if _, err := client.Call(ctx, c, change, request); err != nil {
		return now, err
	}
	response, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id, Unattended: true})
	return response.Session, err
}
