package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newModel(a *app) *cobra.Command {
	return group("model", "List, add, change and test models, and save API keys",
		"  scorel model list\n  scorel model add llama --provider ollama --id llama3.2\n  scorel model test llama",
		newModelList(a), newModelAdd(a), newModelEdit(a), newModelRemove(a), newModelDefault(a), newModelTest(a), newModelProvider(a), newModelKey(a))
}

func newModelList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the configured models",
		Long: `List the models of config.toml and those that were added, or the built-in one. New sessions use
the primary model; the auxiliary model, if configured, writes summaries. The list shows which
keys are saved, or set in this shell; the host needs these in its own environment. With --device, list the models of
that machine's host. With --json, each line is one model.`,
		Example: "  scorel model list\n  scorel model list --device dev_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !to.local() {
			return listModelsOn(cmd.Context(), a.stdout, to, asJSON)
		}
		home, err := a.env.home()
		if err != nil {
			return err
		}
		models, err := host.Models(home, a.env.getenv)
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, models, listing[host.ModelInfo]{
			header: []string{"NAME", "ROLE", "PROVIDER", "TYPE", "ID", "KEY", "WINDOW", "THINKING", "IMAGES", "FROM"},
			row: func(_ int, m host.ModelInfo) []string {
				return []string{m.Name, strings.Join(m.Roles, ","), m.Provider, m.Type, m.ID, keyState(m), count(m.ContextWindow), cmp.Or(m.Thinking, "-"), yesNo(m.Images), cmp.Or(m.Source, "built in")}
			},
		})
	}
	return cmd
}

// listModelsOn lists the models of another machine's host.
func listModelsOn(ctx context.Context, stdout io.Writer, to *target, asJSON bool) error {
	response, err := ask(ctx, to, api.GetHost, api.Empty{})
	if err != nil {
		return err
	}
	return printList(stdout, asJSON, response.Host.Models, listing[api.Model]{
		none:   "the host has no models",
		header: []string{"NAME", "PROVIDER", "ID", "WINDOW", "IMAGES"},
		row: func(_ int, m api.Model) []string {
			return []string{m.Name, m.Provider, m.ID, count(m.ContextWindow), yesNo(m.Images)}
		},
	})
}

func keyState(m host.ModelInfo) string {
	switch {
	case m.Problem != "":
		return "no provider"
	case m.ProviderSource != "" && m.KeySet:
		return "saved"
	case m.ProviderSource != "":
		return "none saved"
	case m.KeyEnv == "":
		return "none needed"
	case m.KeySet:
		return "$" + m.KeyEnv
	}
	return "$" + m.KeyEnv + " not set"
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// count formats a number that may be unknown.
func count(n int) string {
	if n == 0 {
		return "-"
	}
	return strconv.Itoa(n)
}

func newModelTest(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test [NAME]",
		Short: "Test a model with one small request",
		Long: `Send one small request to a model, by default the primary one, and report what is wrong if it
fails: a missing or rejected key, an unknown model, or a server that cannot be reached. It
costs a few tokens. The request is sent from this shell, with the keys that are saved or set
here. With --device, it is sent by that machine's host, and NAME is required.`,
		Example: "  scorel model test\n  scorel model test main --json\n  scorel model test main --device dev_...",
		Args:    argCount(0, 1, "the name of at most one model"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !to.local() {
			return testModelOn(cmd.Context(), a.stdout, to, args, asJSON)
		}
		home, err := a.env.home()
		if err != nil {
			return err
		}
		name := ""
		if len(args) == 1 {
			if name = args[0]; name == "" {
				return unknownModel(a.env, home, name)
			}
		}
		result, err := host.TestModel(cmd.Context(), home, name, a.env.getenv)
		if errors.Is(err, host.ErrNoModel) {
			return unknownModel(a.env, home, name)
		}
		if err != nil {
			return err
		}
		if ctxErr := cmd.Context().Err(); ctxErr != nil {
			return ctxErr
		}
		return reportModel(a.stdout, result, asJSON)
	}
	return cmd
}

// testModelOn has the host of another machine test a model.
func testModelOn(ctx context.Context, stdout io.Writer, to *target, args []string, asJSON bool) error {
	if len(args) == 0 || args[0] == "" {
		return usagef("give the name of the model: `scorel model list --device` shows the models of the machine")
	}
	tested, err := ask(ctx, to, api.TestModel, api.TestModelRequest{Name: args[0]})
	if err != nil {
		return err
	}
	result := host.ModelTest{Name: args[0], OK: tested.OK, Reason: tested.Reason, Error: printable(tested.Problem), Millis: tested.Millis}
	return reportModel(stdout, result, asJSON)
}

// reportModel prints the result of a model test. If the model failed, it returns an error
// with the exit code for the kind of failure.
func reportModel(stdout io.Writer, result host.ModelTest, asJSON bool) error {
	if asJSON {
		if err := printJSON(stdout, result); err != nil {
			return err
		}
	}
	if result.OK {
		if asJSON {
			return nil
		}
		if result.Usage == nil {
			return printf(stdout, "The model %s works: %d ms.\n", result.Name, result.Millis)
		}
		return printf(stdout, "The model %s works: %d ms, %d tokens in, %d out.\n",
			result.Name, result.Millis, result.Usage.TotalTokens-result.Usage.Output, result.Usage.Output)
	}
	cause := errModelFailed
	switch result.Reason {
	case "unreachable", "busy":
		cause = errUnreachable
	case "key_refused":
		cause = errRefused
	}
	return sayf(cause, "the model %s does not work: %s", result.Name, result.Error)
}

var errModelFailed = errors.New("the model failed")

func unknownModel(env *environment, home, name string) error {
	models, err := host.Models(home, env.getenv)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(models))
	for _, m := range models {
		names = append(names, m.Name)
	}
	return usagef("there is no model %q: the models are %s", name, strings.Join(names, ", "))
}
