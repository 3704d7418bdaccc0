package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newModelKey(a *app) *cobra.Command {
	return group("key", "Save API keys of model providers",
		"  scorel model key set anthropic\n  scorel model key list", newModelKeySet(a), newModelKeyList(a), newModelKeyRemove(a))
}

// maxKey bounds an API key, in bytes.
const maxKey = 16 << 10

func newModelKeySet(a *app) *cobra.Command {
	var (
		store  string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "set PROVIDER",
		Short: "Save the API key of a provider",
		Long: `Save the API key of a model provider. It is read from the terminal without echo, or from
standard input. PROVIDER is a provider of config.toml with api_key_env, one of anthropic,
openai and google, one that "scorel model provider add" added, or the name of an environment
variable. A variable that is set overrides the saved key.

The key is saved in the system key store, or if there is none, in secrets.json in
SCOREL_HOME with mode 0600. A running host uses it from the next call of a model on.

With --device, the key is sent sealed to that machine's host. PROVIDER is then a provider of
its config.toml, as "key list --device" shows them.`,
		Example: "  scorel model key set anthropic\n  scorel model key set OPENAI_API_KEY --store file < key.txt\n  scorel model key set anthropic --device dev_... --json < key.txt",
		Args:    argCount(1, 1, "the name of one provider or variable"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&store, "store", "", "where to save it: system or file (default: system if available)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if store != "" && store != "system" && store != "file" {
			return usagef("--store %q: give system or file", store)
		}
		if !to.local() {
			return setKeyOn(cmd.Context(), to, api.SetProviderKeyRequest{Provider: args[0], Store: store}, asJSON)
		}
		home, variable, err := keyVariable(a.env, args[0])
		if err != nil {
			return err
		}
		key, err := readKey(cmd.Context(), a.console, keyShown(args[0], variable))
		if err != nil {
			return err
		}
		return saveKey(cmd.Context(), a.stdout, home, args[0], variable, key, store, asJSON)
	}
	return cmd
}

// saveKey saves a key through the running host, which then uses it, or without one.
func saveKey(ctx context.Context, stdout io.Writer, home, name, variable, key, store string, asJSON bool) error {
	where, note := "", ""
	known, err := onRunningHost(ctx, home, variable, func(c *client.Client, provider string) error {
		saved, err := client.Call(ctx, c, api.SetProviderKey, api.SetProviderKeyRequest{Provider: provider, Key: key, Store: store})
		where = saved.Provider.KeySource
		return err
	})
	if err != nil {
		return err
	}
	switch {
	case known == hostUsesKey:
		note = " The running host uses it from now on."
	case known == hostIgnoresKey:
		note = " No provider of the running host uses this variable: if config.toml has changed, restart the host."
		fallthrough
	default:
		if where, err = host.SaveKey(ctx, home, variable, key, store); err != nil {
			return err
		}
	}
	shown := keyShown(name, variable)
	return printDone(stdout, asJSON, host.SecretInfo{Name: shown, Store: where}, "The key for %s is saved (%s).%s", shown, where, note)
}

// keyShown names a key for people: by its variable, or by its provider if the variable is random.
func keyShown(name, variable string) string {
	if strings.HasPrefix(variable, host.ProviderSecret) {
		return printable(name)
	}
	return variable
}

// hostAndKey is what the host of a home has to do with a variable.
type hostAndKey int

const (
	noHost         hostAndKey = iota // none is running
	hostIgnoresKey                   // it has no provider with this variable
	hostUsesKey
)

// onRunningHost connects to the host of a home, if one is running, and runs a request if a
// provider of the host uses the variable.
func onRunningHost(ctx context.Context, home, variable string, run func(c *client.Client, provider string) error) (hostAndKey, error) {
	switch _, err := host.ReadState(home); {
	case errors.Is(err, host.ErrNoHost):
		return noHost, nil
	case err != nil:
		return noHost, err
	}
	c, err := connectLocal(ctx, home)
	if err != nil {
		return noHost, err
	}
	defer func() { _ = c.Close() }() // everything was received
	listed, err := client.Call(ctx, c, api.ListProviders, api.Empty{})
	if err != nil {
		return noHost, err
	}
	for _, provider := range listed.Providers {
		if provider.KeyName == variable {
			return hostUsesKey, run(c, provider.Name)
		}
	}
	return hostIgnoresKey, nil
}

func keyVariable(env *environment, name string) (home, variable string, err error) {
	if home, err = env.home(); err != nil {
		return "", "", err
	}
	variable, err = host.KeyVariable(home, name, env.getenv)
	if errors.Is(err, host.ErrKeyName) {
		return "", "", usagef("%q: %v", name, err)
	}
	return home, variable, err
}

func readKey(ctx context.Context, con console, variable string) (string, error) {
	key, err := con.readSecret(ctx, "the key", "Key for "+variable+": ", maxKey)
	if err == nil && key == "" {
		err = usagef("no key was given: type it, or send it to standard input")
	}
	return key, err
}

func newModelKeyList(a *app) *cobra.Command {
	cmd := secretList(a.stdout, a.env, host.SavedKeys, "no key is saved: `scorel model key set PROVIDER` saves one", &cobra.Command{
		Short: "List saved keys and where they are stored",
		Long: `List the variables with saved keys, and where the keys are stored. The keys themselves are
never shown. With --device, list the providers of that machine's config.toml, and where the
key of each comes from.`,
		Example: "  scorel model key list\n  scorel model key list --device dev_... --json",
	})
	to, local := a.targetFlag(cmd), cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to.local() {
			return local(cmd, args)
		}
		asJSON, err := cmd.Flags().GetBool("json")
		if err != nil {
			return err
		}
		return listKeysOn(cmd.Context(), a.stdout, to, asJSON)
	}
	return cmd
}

func newModelKeyRemove(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "remove PROVIDER",
		Short:   "Remove a saved key",
		Long:    `Remove the saved key of a provider. A running host stops using it at once.`,
		Example: "  scorel model key remove anthropic\n  scorel model key remove anthropic --device dev_... --json",
		Args:    argCount(1, 1, "the name of one provider or variable"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !to.local() {
			response, err := ask(cmd.Context(), to, api.RemoveProviderKey, api.RemoveProviderKeyRequest{Provider: args[0]})
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, response.Provider, "The key for %s is removed.", printable(args[0]))
		}
		home, variable, err := keyVariable(a.env, args[0])
		if err != nil {
			return err
		}
		shown := keyShown(args[0], variable)
		if err := removeKey(cmd.Context(), home, shown, variable); err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, host.SecretInfo{Name: shown}, "The key for %s is removed.", shown)
	}
	return cmd
}

// setKeyOn sends a key to the host of another machine.
func setKeyOn(ctx context.Context, to *target, request api.SetProviderKeyRequest, asJSON bool) (err error) {
	if request.Key, err = readKey(ctx, to.con, request.Provider); err != nil {
		return err
	}
	response, err := ask(ctx, to, api.SetProviderKey, request)
	if err != nil {
		return err
	}
	return printDone(to.con.stdout, asJSON, response.Provider, "The key for %s is saved (%s).", printable(request.Provider), printable(response.Provider.KeySource))
}

// listKeysOn lists the providers of another machine's host.
func listKeysOn(ctx context.Context, stdout io.Writer, to *target, asJSON bool) error {
	response, err := ask(ctx, to, api.ListProviders, api.Empty{})
	if err != nil {
		return err
	}
	return printList(stdout, asJSON, response.Providers, listing[api.Provider]{
		header: []string{"PROVIDER", "TYPE", "VARIABLE", "KEY"},
		row: func(_ int, p api.Provider) []string {
			source := cmp.Or(p.KeySource, "none")
			if p.Problem != "" {
				source += " (not used: " + p.Problem + ")"
			}
			if p.KeyName == "" {
				source = "none needed"
			}
			variable := p.KeyName
			if p.Source == api.FromRequests {
				variable = "-" // it is random
			}
			return []string{p.Name, p.Type, variable, source}
		},
	})
}

// removeKey removes a saved key, through the running host if there is one.
func removeKey(ctx context.Context, home, shown, variable string) error {
	known, err := onRunningHost(ctx, home, variable, func(c *client.Client, provider string) error {
		_, err := client.Call(ctx, c, api.RemoveProviderKey, api.RemoveProviderKeyRequest{Provider: provider})
		return err
	})
	if known == hostUsesKey || err != nil {
		return err
	}
	saved, err := host.RemoveKey(ctx, home, variable)
	if err == nil && !saved {
		err = fmt.Errorf("no key for %s is saved: `scorel model key list` shows the saved keys", shown)
	}
	return err
}
