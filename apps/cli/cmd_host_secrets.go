package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
)

func newHostSecrets(a *app) *cobra.Command {
	return group("secrets", "Show and choose where keys are stored",
		"  scorel host secrets list\n  scorel host secrets move --to system", newHostSecretsList(a), newHostSecretsMove(a))
}

func newHostSecretsList(a *app) *cobra.Command {
	return secretList(a.stdout, a.env, host.Secrets, "there are no keys yet: `scorel host serve` creates them", &cobra.Command{
		Short: "List the keys of this machine and where they are stored",
		Long: `List the identities and saved API keys of SCOREL_HOME, and whether each is stored in the
system key store or in a file. The keys themselves are never shown.`,
		Example: "  scorel host secrets list\n  scorel host secrets list --json",
	})
}

// secretList completes a command that lists the keys of SCOREL_HOME; none is printed if
// there are none.
func secretList(stdout io.Writer, env *environment, load func(home string) ([]host.SecretInfo, error), none string, cmd *cobra.Command) *cobra.Command {
	var asJSON bool
	cmd.Use, cmd.Args = "list", argCount(0, 0, "no arguments")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		home, err := env.home()
		if err != nil {
			return err
		}
		list, err := load(home)
		if err != nil {
			return err
		}
		return printList(stdout, asJSON, list, listing[host.SecretInfo]{
			none: none, header: []string{"NAME", "STORE"},
			row: func(_ int, s host.SecretInfo) []string { return []string{s.Name, s.Store} },
		})
	}
	return cmd
}

func newHostSecretsMove(a *app) *cobra.Command {
	var store string
	cmd := &cobra.Command{
		Use:   "move --to STORE",
		Short: "Move keys to the system key store, or back to files",
		Long: `Move the identities and saved API keys to the system key store (Keychain, Secret Service,
Credential Manager), or back to files of mode 0600 in SCOREL_HOME. Each key is read back
before the other copy is removed. Run the command again to finish an interrupted move.

A host whose identity is in the key store can start only while the store is unlocked,
which on most systems requires a login. Keep the identity in a file on machines that
start unattended.`,
		Example: "  scorel host secrets move --to system\n  scorel host secrets move --to file",
		Args:    argCount(0, 0, "no arguments"),
	}
	cmd.Flags().StringVar(&store, "to", "", "system or file")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if store != "system" && store != "file" {
			if store != "" {
				return usagef("--to %q is not a store: give system or file", clip(store, 40))
			}
			return usagef("--to is missing: give system or file")
		}
		home, err := a.env.home()
		if err != nil {
			return err
		}
		if err := host.MoveSecrets(cmd.Context(), home, store); err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.stdout, "The keys are in the %s now.\n", map[string]string{"system": "system's key store", "file": "files of SCOREL_HOME"}[store])
		return err
	}
	return cmd
}
