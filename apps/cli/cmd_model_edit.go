package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

// modelFlags are the settings of a model.
type modelFlags struct {
	to     *target
	draft  api.ModelDraft
	images string
	asJSON bool
}

func (a *app) modelFlags(cmd *cobra.Command) *modelFlags {
	f := &modelFlags{to: a.targetFlag(cmd)}
	addJSON(cmd, &f.asJSON)
	flags := cmd.Flags()
	flags.StringVar(&f.draft.Provider, "provider", "", "`name` of its provider")
	flags.StringVar(&f.draft.ID, "id", "", "the provider's name for the model")
	flags.IntVar(&f.draft.ContextWindow, "context-window", 0, "context window, in tokens")
	flags.IntVar(&f.draft.MaxTokens, "max-tokens", 0, "limit of one answer, in tokens (default: that of the provider)")
	flags.StringVar(&f.draft.Thinking, "thinking", "", "off, minimal, low, medium or high (default: that of the provider)")
	flags.StringVar(&f.images, "images", "", "whether it accepts images: yes or no (default: guessed from the id)")
	flags.Float64Var(&f.draft.PriceInput, "price-input", 0, "US dollars per million tokens of input")
	flags.Float64Var(&f.draft.PriceOutput, "price-output", 0, "US dollars per million tokens of output")
	flags.Float64Var(&f.draft.PriceCacheRead, "price-cache-read", 0, "US dollars per million tokens read from the cache (default: as input)")
	flags.Float64Var(&f.draft.PriceCacheWrite, "price-cache-write", 0, "US dollars per million tokens written to the cache (default: as input)")
	return f
}

// apply changes a draft by the flags that were given.
func (f *modelFlags) apply(cmd *cobra.Command, d *api.ModelDraft) error {
	for name, set := range map[string]func(){
		"provider":          func() { d.Provider = f.draft.Provider },
		"id":                func() { d.ID = f.draft.ID },
		"context-window":    func() { d.ContextWindow = f.draft.ContextWindow },
		"max-tokens":        func() { d.MaxTokens = f.draft.MaxTokens },
		"thinking":          func() { d.Thinking = f.draft.Thinking },
		"price-input":       func() { d.PriceInput = f.draft.PriceInput },
		"price-output":      func() { d.PriceOutput = f.draft.PriceOutput },
		"price-cache-read":  func() { d.PriceCacheRead = f.draft.PriceCacheRead },
		"price-cache-write": func() { d.PriceCacheWrite = f.draft.PriceCacheWrite },
	} {
		if cmd.Flags().Changed(name) {
			set()
		}
	}
	switch f.images {
	case "":
		if cmd.Flags().Changed("images") {
			d.Images = nil
		}
	case "yes", "no":
		yes := f.images == "yes"
		d.Images = &yes
	default:
		return usagef("--images %q: give yes or no", f.images)
	}
	return nil
}

func newModelAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME --provider PROVIDER --id ID",
		Short: "Add a model",
		Long: `Add a model of a provider to models.json in SCOREL_HOME. The provider is one of config.toml or
one that "scorel model provider add" added. A running host offers the model at once. The
first model replaces the demo model as the default. Without prices, no cost is shown.`,
		Example: "  scorel model add llama --provider ollama --id llama3.2\n" +
			"  scorel model add sonnet --provider claude --id claude-sonnet-4-5 --context-window 200000 --price-input 3 --price-output 15 --json",
		Args: argCount(1, 1, "the name of the new model"),
	}
	f := a.modelFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.draft.Provider == "" || f.draft.ID == "" {
			return usagef("give --provider and --id: the provider, and its name for the model")
		}
		var draft api.ModelDraft
		if err := f.apply(cmd, &draft); err != nil {
			return err
		}
		return useModels(cmd.Context(), a.env, f.to, func(m savedModels) error {
			saved, err := m.SaveModel(cmd.Context(), api.SaveModelRequest{Name: args[0], Model: draft})
			if err != nil {
				return err
			}
			return printDone(a.stdout, f.asJSON, saved, "The model %s is added.", printable(saved.Name))
		})
	}
	return cmd
}

func newModelEdit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a model",
		Long: `Change a model that add or the web UI added. What no flag names stays as it is; 0 or an empty
value resets a setting. Sessions use the change from their next call on. A model of
config.toml is changed there.`,
		Example: "  scorel model edit llama --id llama3.3 --context-window 131072\n  scorel model edit sonnet --thinking high --device dev_... --json",
		Args:    argCount(1, 1, "the name of one model"),
	}
	f := a.modelFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return useModels(cmd.Context(), a.env, f.to, func(m savedModels) error {
			before, err := savedModel(cmd.Context(), m, args[0])
			if err != nil {
				return err
			}
			draft := before.Model
			if err := f.apply(cmd, &draft); err != nil {
				return err
			}
			after, err := m.SaveModel(cmd.Context(), api.SaveModelRequest{Name: before.Name, Version: before.Version, Model: draft})
			if err != nil {
				return err
			}
			return printDone(a.stdout, f.asJSON, after, "The model %s is changed.", printable(after.Name))
		})
	}
	return cmd
}

// savedModel returns a model that requests can change.
func savedModel(ctx context.Context, m savedModels, name string) (api.SavedModel, error) {
	listed, err := m.Providers(ctx)
	if err != nil {
		return api.SavedModel{}, err
	}
	if i := slices.IndexFunc(listed.SavedModels, func(saved api.SavedModel) bool { return saved.Name == name }); i >= 0 {
		return listed.SavedModels[i], nil
	}
	for _, p := range listed.Providers {
		if slices.Contains(p.Models, name) {
			return api.SavedModel{}, usagef("the model %s is set in config.toml or by the environment: change it there and restart the host", name)
		}
	}
	return api.SavedModel{}, api.Errorf(api.KindNotFound, "there is no model %.64q that can be changed: `scorel model list` shows the models", name)
}

func newModelRemove(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a model",
		Long: `Remove a model that add or the web UI added. Sessions that use it need another one for their
next turn. If it was the default, the host chooses one.`,
		Example: "  scorel model remove llama\n  scorel model remove llama --device dev_... --json",
		Args:    argCount(1, 1, "the name of one model"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return useModels(cmd.Context(), a.env, to, func(m savedModels) error {
			saved, err := savedModel(cmd.Context(), m, args[0])
			if err != nil {
				return err
			}
			if err := m.RemoveModel(cmd.Context(), api.RemoveModelRequest{Name: saved.Name, Version: saved.Version}); err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, saved, "The model %s is removed.", printable(saved.Name))
		})
	}
	return cmd
}

func newModelDefault(a *app) *cobra.Command {
	var (
		asJSON bool
		reset  bool
	)
	cmd := &cobra.Command{
		Use:   "default [NAME]",
		Short: "Choose the model for new sessions",
		Long: `Choose the model for new sessions, in models.json. With --reset, the host chooses it. A
default_model in config.toml takes precedence and is changed there.`,
		Example: "  scorel model default llama\n  scorel model default --reset --json",
		Args:    argCount(0, 1, "the name of one model"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&reset, "reset", false, "let the host choose")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if (len(args) == 1) == reset || len(args) == 1 && args[0] == "" {
			return usagef("give the name of one model, or --reset")
		}
		request := api.SetDefaultModelRequest{}
		if len(args) == 1 {
			request.Name = args[0]
		}
		return useModels(cmd.Context(), a.env, to, func(m savedModels) error {
			chosen, err := m.SetDefault(cmd.Context(), request)
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, chosen, "New sessions use the model %s.", printable(chosen.Name))
		})
	}
	return cmd
}
