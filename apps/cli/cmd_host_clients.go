package cli

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func newHostClients(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "clients",
		Short:   "List the clients of a host",
		Example: "  scorel host clients\n  scorel host clients --device dev_... --json\n  scorel host clients rename cli_... \"Work laptop\"\n  scorel host clients revoke cli_...",
		Args:    cobra.ArbitraryArgs,
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return runGroup(cmd, args)
		}
		return to.listClients(cmd.Context(), asJSON)
	}
	cmd.AddCommand(newClientsRename(a), newClientsRevoke(a), newClientsGrant(a), newClientsUngrant(a), newClientsLimit(a))
	return cmd
}

func (t *target) listClients(ctx context.Context, asJSON bool) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	response, err := client.Call(ctx, c, api.ListClients, api.Empty{})
	if err != nil {
		return err
	}
	projects, err := client.Call(ctx, c, api.ListProjects, api.Empty{})
	if err != nil {
		return err
	}
	return printList(t.con.stdout, asJSON, response.Clients, listing[api.Client]{
		none:   "no client is paired with this host: pair one with `scorel pair`",
		header: []string{"ID", "LAST SEEN", "PAIRED", "GRANTS", "SEES", "ACCESS", "LABEL"},
		row: func(_ int, c api.Client) []string {
			return []string{c.ID.String(), lastSeen(c, time.Now()), formatMillis(c.PairedAt), grantList(c.Grants), seen(c, projects.Projects), expiry(c.ExpiresAt, time.Now()), c.Label}
		},
	})
}

// seen says which part of the host a client sees.
func seen(c api.Client, list []api.Project) string {
	if c.SessionID != "" {
		return "session " + c.SessionID
	}
	return projectNames(c.Projects, list)
}

// lastSeen says when a client last had a channel.
func lastSeen(c api.Client, now time.Time) string {
	if c.Online {
		return "active now"
	}
	return formatAgo(c.LastSeen, now)
}

func newClientsRename(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "rename ID NAME",
		Short: "Rename a client",
		Long: `Set the name under which this host shows a client. Pairing the client again resets it to
the client's own name.`,
		Example: "  scorel host clients rename cli_... \"Work laptop\"\n  scorel host clients rename cli_... Phone --json",
		Args:    argCount(2, 2, "the id of one client and a name"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := to.clientID(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		response, err := ask(cmd.Context(), to, api.RenameClient, api.RenameClientRequest{ClientID: id, Label: args[1]})
		if err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, response.Client, "%s is now called %s", id, printable(response.Client.Label))
	}
	return cmd
}

func newClientsRevoke(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a client and close its connections",
		Long: `Revoke a client: its connections close, on all paths, and it must be paired again. Chats that
it connected are disconnected, and senders that it allowed in others are removed. A guest link is
revoked in the same way. The beginning of the id is enough: cli_ and at least 4 characters, as long as no other id begins
with them.`,
		Example: "  scorel host clients revoke cli_...\n  scorel host clients revoke cli_... --device dev_... --json",
		Args:    argCount(1, 1, "the id of one client"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id, err := to.clientID(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		if _, err := ask(cmd.Context(), to, api.RevokeClient, api.RevokeClientRequest{ClientID: id}); err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, api.RevokeClientRequest{ClientID: id}, "%s is revoked, with the access that it gave to chats", id)
	}
	return cmd
}

// beginsClient is the beginning of the id of a client.
var beginsClient = regexp.MustCompile(`^cli_[a-z2-7]+$`)

// clientID returns the client with an id, or with an id that begins as the text does if only one has.
func (t *target) clientID(ctx context.Context, text string) (ident.ID, error) {
	if id, err := ident.ParseClientID(text); err == nil {
		return id, nil
	}
	if !beginsClient.MatchString(text) {
		return ident.ID{}, usagef("%q is not the id of a client: `scorel host clients` lists them", clip(text, 60))
	}
	response, err := ask(ctx, t, api.ListClients, api.Empty{})
	if err != nil {
		return ident.ID{}, err
	}
	return findClient(response.Clients, text)
}

// errNoClient reports that a client is not paired with the host, or no longer.
var errNoClient = errors.New("no such client")

func findClient(list []api.Client, text string) (ident.ID, error) {
	found, err := named[api.Client]{
		what: "client", kind: "cli_", list: "scorel host clients", gone: errNoClient,
		ids: func(c api.Client) (id, name string) { return c.ID.String(), "" },
	}.find(list, text)
	return found.ID, err
}

func newClientsGrant(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "grant ID GRANT",
		Short: "Give a client a grant",
		Long: `Give a client a grant. The change takes effect at once, for open connections too. Every
client has the grant "view".

The grant "prompt" lets a client create sessions, send prompts and cancel turns; "approve"
lets it answer approvals; "manage" lets it change projects, rules and clients, within what
it may do itself.

The grant "files" lets a client read the files and the git history of projects, and if it
may answer approvals, also revert files and commit.

The grant "rules" lets a client add broad rules after confirming them, such as
bash(tar *), bash(make *) or write_file(.git/**). Calls that such a rule allows run
without asking, whatever permissions.remote_mode is.

The grant "shell" lets a client open terminals on this machine. A terminal is full access
as your user: no sandbox, rules or approvals apply to it, and it can give the client every
other grant. Give it only to a client that you would trust with your SSH key.

Pairing the client again gives it the grants that are chosen then.`,
		Example: "  scorel host clients\n  scorel host clients grant cli_... rules\n  scorel host clients grant cli_... shell --json",
	}
	return a.changesGrant(cmd, true)
}

func newClientsUngrant(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ungrant ID GRANT",
		Short: "Remove a grant from a client",
		Long: `Remove a grant from a client. The change takes effect at once, for open connections too.
The grant "view" stays: "scorel host clients revoke" ends all access. Rules that the client
added are kept: "scorel permission list" shows them. Without "shell", its terminals end with
everything that runs in them.`,
		Example: "  scorel host clients ungrant cli_... rules\n  scorel host clients ungrant cli_... shell --json",
	}
	return a.changesGrant(cmd, false)
}

// changesGrant completes a command that adds or removes a grant.
func (a *app) changesGrant(cmd *cobra.Command, given bool) *cobra.Command {
	var asJSON bool
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Args = argCount(2, 2, "the id of one client and a grant")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		grant := api.Grant(args[1])
		if grant == api.GrantView || !slices.Contains(api.ClientGrants(), grant) {
			return usagef("the grant %q cannot be added or removed: give one of %s", clip(args[1], 40), grantList(api.ClientGrants()[1:]))
		}
		id, err := to.clientID(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		response, err := ask(cmd.Context(), to, api.SetGrant, api.SetGrantRequest{ClientID: id, Grant: grant, Given: given})
		if err != nil {
			return err
		}
		return printDone(a.stdout, asJSON, response.Client, "%s has the grants %s", id, grantList(response.Client.Grants))
	}
	return cmd
}
