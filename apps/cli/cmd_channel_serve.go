package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
)

func newChannelServe(a *app) *cobra.Command {
	served := host.ServedChannel{Settings: map[string]string{}}
	var set []string
	cmd := &cobra.Command{
		Use:   "serve PLATFORM",
		Short: "Serve a chat platform to another program, such as Claude Code",
		Long: `Serve a bot on a chat platform as a channel server: an MCP server on standard input and output,
with the capability claude/channel. It needs no host. Secrets are variables:
SCOREL_CHANNEL_TOKEN for a token. Only messages of the senders that --allow names are accepted.

A bot has one reader: do not serve one that a host has as a channel.`,
		Example: "  scorel channel serve telegram --allow 4711",
		Args:    argCount(1, 1, "a platform, such as telegram"),
	}
	cmd.Flags().StringSliceVar(&served.Allow, "allow", nil, "id of a sender whose messages are accepted")
	cmd.Flags().StringArrayVar(&set, "set", nil, "a setting of the platform, as NAME=VALUE")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		for _, pair := range set {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return usagef("--set %s is not NAME=VALUE", pair)
			}
			served.Settings[name] = value
		}
		if len(served.Allow) == 0 {
			return usagef("no sender is allowed: name a sender with --allow")
		}
		if served.Home, err = a.env.home(); err != nil {
			return err
		}
		served.Kind, served.Version, served.Getenv = args[0], version, a.env.getenv
		return host.ServeChannel(cmd.Context(), served)
	}
	return cmd
}
