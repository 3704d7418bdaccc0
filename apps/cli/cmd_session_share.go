package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/loopback"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// shareFlags say for whom and for how long a session is shared.
type shareFlags struct {
	name, expires, relay string
	asJSON               bool
}

func newSessionShare(a *app) *cobra.Command {
	var f shareFlags
	cmd := &cobra.Command{
		Use:   "share ID",
		Short: "Create a link that shows one session, read-only",
		Long: `Create a guest link to a session. Anyone who opens the link, in a browser or a terminal, sees
the transcript and follows it live, until the link expires or is revoked. They see nothing
else of this machine and can change nothing. The transcript includes what the agent has read
and what commands have printed: look through it before you share it.

The key of the link is behind the "#". Browsers do not send it to any server, and this host
does not store it: the link is printed once.

"scorel session unshare ID" revokes the links of a session.`,
		Example: "  scorel session share ID\n  scorel session share ID --expires 2h --name Anna\n  scorel session share ID --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "for whom the link is, shown in the list of clients (default: Guest)")
	cmd.Flags().StringVar(&f.expires, "expires", "1d", "how long the link is valid, such as 2h or 7d; at most 30d")
	cmd.Flags().StringVar(&f.relay, "relay", "", "the relay or listener that serves the page of the link (default: the first relay)")
	addJSON(cmd, &f.asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := to.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // everything was received
		return shareSession(cmd.Context(), a.console, c, args[0], f)
	}
	return cmd
}

// sharedLink is a guest link as it is printed.
type sharedLink struct {
	URL       string   `json:"url"`
	ClientID  ident.ID `json:"clientId"`
	SessionID string   `json:"sessionId"`
	Name      string   `json:"name"`
	ExpiresAt int64    `json:"expiresAt"`
}

func shareSession(ctx context.Context, con console, c *client.Client, sessionID string, f shareFlags) error {
	lifetime, err := parseLifetime(f.expires)
	if err != nil {
		return err
	}
	if lifetime <= 0 || lifetime > api.MaxGuestTime {
		return usagef("--expires %q: a guest link is valid for up to 30 days, such as 2h or 7d", clip(f.expires, 40))
	}
	page, err := pageOf(ctx, c, f.relay)
	if err != nil {
		return err
	}
	link, guest, err := client.CreateGuestLink(ctx, c, sessionID, cmp.Or(strings.TrimSpace(f.name), "Guest"), time.Now().Add(lifetime))
	if err != nil {
		return err
	}
	address, err := link.URL(page.URL)
	if err != nil {
		return err
	}
	if f.asJSON {
		return printJSON(con.stdout, sharedLink{URL: address, ClientID: guest.ID, SessionID: sessionID, Name: guest.Label, ExpiresAt: guest.ExpiresAt})
	}
	if warning := narrow(page); warning != "" {
		_, _ = fmt.Fprintln(con.stderr, warning) // the link itself matters
	}
	_, err = fmt.Fprintf(con.stdout, "%s\n\nThis link shows the session, read-only, until %s. Revoke it with:\n  scorel session unshare %s\n", address, formatMillis(guest.ExpiresAt), guest.ID)
	return err
}

// pageOf returns the path whose page shows a link: the one that was named, or the first relay.
func pageOf(ctx context.Context, c *client.Client, named string) (api.Path, error) {
	response, err := client.Call(ctx, c, api.ListPaths, api.Empty{})
	if err != nil {
		return api.Path{}, err
	}
	var known []string
	for _, path := range response.Paths {
		if named != "" && sameAddress(path.URL, named) {
			return path, nil
		}
		known = append(known, printable(path.URL))
	}
	switch {
	case len(known) == 0:
		return api.Path{}, api.Errorf(api.KindUnavailable, "this host has neither a relay nor a listener, so the link could not be opened: start it with --relay URL or --listen ADDRESS")
	case named != "":
		return api.Path{}, usagef("the host does not use the relay %q: use one of %s", clip(named, 200), strings.Join(known, ", "))
	}
	order := []api.PathKind{api.PathRelay, api.PathNetwork, api.PathMachine}
	return slices.MinFunc(response.Paths, func(a, b api.Path) int {
		return cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind))
	}), nil
}

func sameAddress(a, b string) bool {
	one, _, err := relayconn.ParseURL(a)
	if err != nil {
		return false
	}
	other, _, err := relayconn.ParseURL(b)
	return err == nil && one.String() == other.String()
}

// narrow says where a link of a path can be opened, if that is not everywhere.
func narrow(path api.Path) string {
	u, err := url.Parse(path.URL)
	switch {
	case path.Kind == api.PathMachine:
		return "This link can be opened only on the machine of the host: it has no relay."
	case err == nil && u.Scheme == "http" && !loopback.Is(u.Host):
		return "Browsers do not open this link on other machines, because its address is not https: put a proxy with TLS in front of it."
	}
	return ""
}

func newSessionUnshare(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "unshare ID",
		Short: "Revoke the guest links of a session",
		Long: `Revoke all guest links of a session, or the one whose client id is given. Whoever has them
open is disconnected within a second. "scorel host clients" lists the links.`,
		Example: "  scorel session unshare ID\n  scorel session unshare cli_...",
		Args:    argCount(1, 1, "the id of one session, or of one guest link"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := to.connect(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }() // everything was received
		return unshareSession(cmd.Context(), a.stdout, c, args[0], asJSON)
	}
	return cmd
}

// unsharedLinks are the guest links that were revoked.
type unsharedLinks struct {
	Revoked []ident.ID `json:"revoked"`
}

func unshareSession(ctx context.Context, stdout io.Writer, c *client.Client, given string, asJSON bool) error {
	list, err := client.Call(ctx, c, api.ListClients, api.Empty{})
	if err != nil {
		return err
	}
	ended := unsharedLinks{Revoked: []ident.ID{}}
	for _, guest := range list.Clients {
		if guest.SessionID == "" || guest.SessionID != given && guest.ID.String() != given {
			continue
		}
		if _, err := client.Call(ctx, c, api.RevokeClient, api.RevokeClientRequest{ClientID: guest.ID}); err != nil {
			return err
		}
		ended.Revoked = append(ended.Revoked, guest.ID)
	}
	if len(ended.Revoked) == 0 {
		return api.Errorf(api.KindNotFound, "no guest link of %s: `scorel host clients` lists all links", clip(given, 100))
	}
	if asJSON {
		return printJSON(stdout, ended)
	}
	for _, id := range ended.Revoked {
		if _, err := fmt.Fprintf(stdout, "%s is revoked\n", id); err != nil {
			return err
		}
	}
	return nil
}
