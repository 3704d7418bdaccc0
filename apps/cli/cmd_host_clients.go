package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func newHostClients(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "clients",
		Short:   "List the browsers and terminals that may reach this host",
		Example: "  scorel host clients\n  scorel host clients revoke cli_...",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return runGroup(cmd, args)
			}
			return a.listClients(cmd.Context(), asJSON)
		},
	}
	addJSON(cmd, &asJSON)
	cmd.AddCommand(newClientsRevoke(a))
	return cmd
}

func (a *app) listClients(ctx context.Context, asJSON bool) error {
	response, err := ask[api.ListClientsResponse](ctx, &target{app: a}, "list_clients", api.Empty{})
	if err != nil {
		return err
	}
	return printList(a, asJSON, response.Clients, listing[api.Client]{
		none:   "no client may reach this host: pair one with `scorel pair`",
		header: []string{"ID", "STATE", "PAIRED", "LABEL"},
		row: func(_ int, c api.Client) []string {
			state := "offline"
			if c.Online {
				state = "online"
			}
			return []string{c.ID.String(), state, formatMillis(c.PairedAt), c.Label}
		},
	})
}

func newClientsRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Shut a client out at once",
		Example: "  scorel host clients revoke cli_...",
		Args:    argCount(1, 1, "the id of one client"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := ident.ParseClientID(args[0])
			if err != nil {
				return usagef("%q is not the id of a client: `scorel host clients` lists them", clip(args[0], 60))
			}
			if _, err := ask[api.Empty](cmd.Context(), &target{app: a}, "revoke_client", api.RevokeClientRequest{ClientID: id}); err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s is shut out\n", id)
			return err
		},
	}
}
