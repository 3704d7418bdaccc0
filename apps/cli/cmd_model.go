package cli

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
)

func newModel(a *app) *cobra.Command {
	return group("model", "See the models of config.toml, and test one",
		"  scorel model list\n  scorel model test main", newModelList(a), newModelTest(a))
}

func newModelList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the models that the agent can use",
		Long: `List the models of config.toml, or the one that is used without it. New sessions
use the primary model; the auxiliary one, if there is one, writes summaries. Whether
a key is set is said of this shell: it must be set where the host runs. With --json
each line is one model.`,
		Example: "  scorel model list\n  scorel model list --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	addJSON(cmd, &asJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		home, err := a.home()
		if err != nil {
			return err
		}
		models, err := host.Models(home, a.getenv)
		if err != nil {
			return err
		}
		return printList(a, asJSON, models, listing[host.ModelInfo]{
			header: []string{"NAME", "ROLE", "PROVIDER", "TYPE", "ID", "KEY", "WINDOW", "THINKING"},
			row: func(_ int, m host.ModelInfo) []string {
				return []string{m.Name, strings.Join(m.Roles, ","), m.Provider, m.Type, m.ID, keyState(m), count(m.ContextWindow), cmp.Or(m.Thinking, "-")}
			},
		})
	}
	return cmd
}

func keyState(m host.ModelInfo) string {
	switch {
	case m.KeyEnv == "":
		return "none needed"
	case m.KeySet:
		return "$" + m.KeyEnv
	}
	return "$" + m.KeyEnv + " not set"
}

// count shows a number that may not be known.
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
		Short: "Make one small real request to a model",
		Long: `Make one small real request to a model of config.toml, without a name to the
primary one, and say what is wrong if it does not answer: a key that is missing or
refused, a model that the provider does not know, or a server that cannot be reached.
It costs a few tokens. The request is made from this shell, with the keys that are
set here.`,
		Example: "  scorel model test\n  scorel model test main --json",
		Args:    argCount(0, 1, "the name of at most one model"),
	}
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		home, err := a.home()
		if err != nil {
			return err
		}
		name := ""
		if len(args) == 1 {
			if name = args[0]; name == "" {
				return a.unknownModel(home, name)
			}
		}
		result, err := host.TestModel(cmd.Context(), home, name, a.getenv)
		if errors.Is(err, host.ErrNoModel) {
			return a.unknownModel(home, name)
		}
		if err != nil {
			return err
		}
		if ctxErr := cmd.Context().Err(); ctxErr != nil {
			return ctxErr
		}
		return a.reportModel(result, asJSON)
	}
	return cmd
}

// reportModel prints how a model answered. One that did not is an error, whose
// exit code says what kind of fault it is.
func (a *app) reportModel(result host.ModelTest, asJSON bool) error {
	if asJSON {
		if err := printJSON(a.stdout, result); err != nil {
			return err
		}
	}
	if result.OK {
		if asJSON {
			return nil
		}
		_, err := fmt.Fprintf(a.stdout, "The model %s answers: %d ms, %d tokens in, %d out.\n",
			result.Name, result.Millis, result.Usage.TotalTokens-result.Usage.Output, result.Usage.Output)
		return err
	}
	cause := errModelFailed
	switch result.Reason {
	case "unreachable", "busy":
		cause = errUnreachable
	case "key_refused":
		cause = errRefused
	}
	return sayf(cause, "the model %s does not answer: %s", result.Name, result.Error)
}

var errModelFailed = errors.New("the model failed")

func (a *app) unknownModel(home, name string) error {
	models, err := host.Models(home, a.getenv)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(models))
	for _, m := range models {
		names = append(names, m.Name)
	}
	return usagef("there is no model %q in config.toml: the models are %s", name, strings.Join(names, ", "))
}
