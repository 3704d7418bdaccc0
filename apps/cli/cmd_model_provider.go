package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newModelProvider(a *app) *cobra.Command {
	return group("provider", "List, add, change and remove model providers",
		"  scorel model provider add ollama --type openai --url http://127.0.0.1:11434/v1\n  scorel model provider list",
		newModelProviderList(a), newModelProviderAdd(a), newModelProviderEdit(a), newModelProviderRemove(a))
}

func newModelProviderList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the model providers",
		Long: `List the model providers with their models, and where the key of each comes from. Those of
models.json can be changed by these commands and in the web UI, those of config.toml only in
that file. With --json, each line is one provider.`,
		Example: "  scorel model provider list\n  scorel model provider list --device dev_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return useModels(cmd.Context(), a.env, to, func(m savedModels) error {
			listed, err := m.Providers(cmd.Context())
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, listed.Providers, listing[api.Provider]{
				none:   "there are no providers: `scorel model provider add` adds one",
				header: []string{"NAME", "TYPE", "ADDRESS", "KEY", "MODELS", "FROM"},
				row: func(_ int, p api.Provider) []string {
					return []string{p.Name, p.Type, cmp.Or(p.Address, "-"), cmp.Or(p.KeySource, "none"), cmp.Or(strings.Join(p.Models, ","), "-"), cmp.Or(p.Source, "built in")}
				},
			})
		})
	}
	return cmd
}

// providerFlags are the settings of a provider.
type providerFlags struct {
	to        *target
	kind, url string
	asJSON    bool
}

func (a *app) providerFlags(cmd *cobra.Command) *providerFlags {
	f := &providerFlags{to: a.targetFlag(cmd)}
	addJSON(cmd, &f.asJSON)
	cmd.Flags().StringVar(&f.kind, "type", "", "what it speaks: openai, openai-responses, anthropic or google")
	cmd.Flags().StringVar(&f.url, "url", "", "base URL (default: that of the type)")
	return f
}

func newModelProviderAdd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a model provider",
		Long: `Add a model provider to models.json in SCOREL_HOME. A running host uses it from the next call
on. Servers that are compatible with OpenAI, such as Ollama and OpenRouter, have the type
openai. "scorel model key set" saves its key if it needs one, and "scorel model add" adds its
models.

The URL must be of https, or of http on the machine itself. On the machine, one of its local
network is accepted too.`,
		Example: "  scorel model provider add ollama --type openai --url http://127.0.0.1:11434/v1\n" +
			"  scorel model provider add openrouter --type openai --url https://openrouter.ai/api/v1\n" +
			"  scorel model provider add claude --type anthropic --device dev_... --json",
		Args: argCount(1, 1, "the name of the new provider"),
	}
	f := a.providerFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if f.kind == "" {
			return usagef("--type is missing: give openai, openai-responses, anthropic or google")
		}
		return useModels(cmd.Context(), a.env, f.to, func(m savedModels) error {
			saved, err := m.SaveProvider(cmd.Context(), api.SaveProviderRequest{Name: args[0], Type: f.kind, BaseURL: f.url})
			if err != nil {
				return err
			}
			return printDone(a.stdout, f.asJSON, saved, "The provider %s is added (%s).", printable(saved.Name), printable(saved.Address))
		})
	}
	return cmd
}

func newModelProviderEdit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a model provider",
		Long: `Change a model provider that add or the web UI added. What no flag names stays as it is. A
change of its address removes its key, so that the key is not sent elsewhere: save it again
with "scorel model key set". A provider of config.toml is changed there.`,
		Example: "  scorel model provider edit ollama --url http://127.0.0.1:11500/v1\n  scorel model provider edit openrouter --type openai-responses --json",
		Args:    argCount(1, 1, "the name of one provider"),
	}
	f := a.providerFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return useModels(cmd.Context(), a.env, f.to, func(m savedModels) error {
			before, err := savedProvider(cmd.Context(), m, args[0])
			if err != nil {
				return err
			}
			request := api.SaveProviderRequest{Name: before.Name, Version: before.Version, Type: before.Type, BaseURL: before.BaseURL}
			if cmd.Flags().Changed("type") {
				request.Type = f.kind
			}
			if cmd.Flags().Changed("url") {
				request.BaseURL = f.url
			}
			after, err := m.SaveProvider(cmd.Context(), request)
			if err != nil {
				return err
			}
			note := ""
			if before.KeySource != "" && after.KeySource == "" {
				note = " Its key was removed: save it again with `scorel model key set " + printable(after.Name) + "`."
			}
			return printDone(a.stdout, f.asJSON, after, "The provider %s is changed (%s).%s", printable(after.Name), printable(after.Address), note)
		})
	}
	return cmd
}

// savedProvider returns a provider that requests can change.
func savedProvider(ctx context.Context, m savedModels, name string) (api.Provider, error) {
	listed, err := m.Providers(ctx)
	if err != nil {
		return api.Provider{}, err
	}
	i := slices.IndexFunc(listed.Providers, func(p api.Provider) bool { return p.Name == name })
	switch {
	case i < 0:
		return api.Provider{}, api.Errorf(api.KindNotFound, "there is no provider %.64q: `scorel model provider list` shows the providers", name)
	case listed.Providers[i].Source == api.FromConfig:
		return api.Provider{}, usagef("the provider %s is set in config.toml: edit that file and restart the host", name)
	case listed.Providers[i].Source == "":
		return api.Provider{}, usagef("the provider %s is built in: `scorel model key set %s` saves its key", name, name)
	}
	return listed.Providers[i], nil
}

func newModelProviderRemove(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a model provider and its key",
		Long:    `Remove a model provider that add or the web UI added, and its key. Its models must be removed first.`,
		Example: "  scorel model provider remove ollama\n  scorel model provider remove ollama --device dev_... --json",
		Args:    argCount(1, 1, "the name of one provider"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return useModels(cmd.Context(), a.env, to, func(m savedModels) error {
			p, err := savedProvider(cmd.Context(), m, args[0])
			if err != nil {
				return err
			}
			if err := m.RemoveProvider(cmd.Context(), api.RemoveProviderRequest{Name: p.Name, Version: p.Version}); err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, p, "The provider %s is removed.", printable(p.Name))
		})
	}
	return cmd
}
