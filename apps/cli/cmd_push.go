package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newPush(a *app) *cobra.Command {
	return group("push", "List, add and test where a host sends notifications",
		"  scorel push list\n  scorel push add ntfy https://ntfy.sh/TOPIC\n  scorel push settings --level needs --quiet 22:00-07:00",
		newPushList(a), newPushAdd(a), newPushRemove(a), newPushTest(a), newPushSettings(a))
}

// onHost connects to the chosen machine.
func (t *target) onHost(ctx context.Context, run func(c *client.Client) error) error {
	c, err := t.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	return run(c)
}

func newPushList(a *app) *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List where notifications are sent, and how the last delivery ended",
		Long: `List where the host sends notifications of this client, and when and how the last delivery
ended. With --all, those of all clients. With --json, each line is one subscription.`,
		Example: "  scorel push list\n  scorel push list --all --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "those of all clients")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			response, err := client.Call(cmd.Context(), c, api.ListPush, api.ListPushRequest{All: all})
			if err != nil {
				return err
			}
			return printList(a.stdout, asJSON, response.Subscriptions, listing[api.PushSubscription]{
				none:   "no notifications are sent: turn them on in the settings of the web UI, or use `scorel push add`",
				header: []string{"ID", "CLIENT", "KIND", "SERVER", "LAST DELIVERY", "LABEL"}, row: pushRow,
			})
		})
	}
	return cmd
}

func pushRow(_ int, s api.PushSubscription) []string {
	last := "-"
	if s.LastAt != 0 {
		last = formatAgo(s.LastAt, time.Now()) + ": " + pushResult(s)
	}
	kind := string(s.Kind)
	if s.Reduced {
		kind += " (reduced)"
	}
	return []string{s.ID, s.ClientID, kind, s.Server, last, s.Label}
}

func pushResult(s api.PushSubscription) string {
	if s.LastError != "" {
		return s.LastError
	}
	return "delivered"
}

func newPushAdd(a *app) *cobra.Command {
	request := api.AddPushRequest{Kind: api.PushNtfy}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "add ntfy|chat ADDRESS",
		Short: "Send notifications to a topic of an ntfy server, or to a chat",
		Long: `Send notifications of this client to a topic of an ntfy server, or to a UnifiedPush endpoint. The
server, and everyone who knows the topic, can read them: choose a long random topic, and use
--reduced to send only that a session needs someone. With --page, a notification links to the
web UI at that address. Browsers are added in the settings of the web UI.

"chat" and the client id of a chat, as "scorel channel list --json" shows it, has the chat
notified of its project. The platform and the members of the chat can read that. A chat has
a level and quiet hours of its own: "scorel push settings --client CHAT".`,
		Example: "  scorel push add ntfy https://ntfy.sh/TOPIC --reduced\n  scorel push add ntfy http://192.168.1.2:8080/TOPIC --page https://scorel.example.com\n  scorel push add chat chat_...",
		Args:    argCount(2, 2, "the kind ntfy and a URL, or the kind chat and the client id of a chat"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&request.Label, "label", "", "a name for the list")
	cmd.Flags().StringVar(&request.Page, "page", "", "address of the web UI, to which notifications link")
	cmd.Flags().BoolVar(&request.Reduced, "reduced", false, "send only that a session needs someone")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request.Kind, request.URL = api.PushKind(args[0]), args[1]
		if request.Kind != api.PushNtfy && request.Kind != api.PushChat {
			return usagef("unknown kind %q: only ntfy and chat are added here, and browsers in the settings of the web UI", args[0])
		}
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			response, err := client.Call(cmd.Context(), c, api.AddPush, request)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, response.Subscription)
			}
			return printf(a.stdout, "added %s. Send a test with `scorel push test %s`.\n", response.Subscription.ID, response.Subscription.ID)
		})
	}
	return cmd
}

func newPushRemove(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "remove ID",
		Short:   "Stop sending notifications to an address",
		Example: "  scorel push remove psh_...",
		Args:    argCount(1, 1, "the id of one subscription"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			removed, err := client.Call(cmd.Context(), c, api.RemovePush, api.PushRequest{ID: args[0]})
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, removed, "removed: no more notifications are sent there")
		})
	}
	return cmd
}

func newPushTest(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "test ID",
		Short: "Send a test notification and print how that ended",
		Long: `Send a test notification at once, whatever the settings are, and print how that ended. The exit
code is 1 if it was not delivered.`,
		Example: "  scorel push test psh_...",
		Args:    argCount(1, 1, "the id of one subscription"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			tested, err := client.Call(cmd.Context(), c, api.TestPush, api.PushRequest{ID: args[0]})
			if err != nil {
				return err
			}
			if asJSON {
				if err := printJSON(a.stdout, tested.Subscription); err != nil {
					return err
				}
			}
			if reason := tested.Subscription.LastError; reason != "" {
				return fmt.Errorf("the test was not delivered: %s", reason)
			}
			if asJSON {
				return nil
			}
			_, err = fmt.Fprintln(a.stdout, "delivered")
			return err
		})
	}
	return cmd
}

// pushSettings are the flags of push settings.
type pushSettings struct {
	client, session, level, quiet, zone string
}

func newPushSettings(a *app) *cobra.Command {
	f := &pushSettings{}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "settings",
		Short: "Show or set what a client is notified of, and its quiet hours",
		Long: `Show what this client is notified of, or set it. The level is "all" for everything, "needs" for
what waits for a person and for failures, and "none". With --session it applies to one session;
"default" removes that. In quiet hours nothing is sent; what still waits afterwards is.`,
		Example: "  scorel push settings\n  scorel push settings --level needs --quiet 22:00-07:00 --zone Europe/Berlin\n  scorel push settings --session SESSION --level none\n  scorel push settings --quiet off",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&f.client, "client", "", "the client with this id, in place of this one")
	cmd.Flags().StringVar(&f.session, "session", "", "the level of the session with this id")
	cmd.Flags().StringVar(&f.level, "level", "", "all, needs or none; with --session also default")
	cmd.Flags().StringVar(&f.quiet, "quiet", "", "quiet hours such as 22:00-07:00, or off")
	cmd.Flags().StringVar(&f.zone, "zone", "", "time zone of the quiet hours; that of this machine if it is not given")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		request, err := f.request()
		if err != nil {
			return err
		}
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			settings, err := f.apply(cmd.Context(), c, request)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(a.stdout, settings)
			}
			return printPushSettings(a.stdout, settings)
		})
	}
	return cmd
}

// request is what the flags ask for; nil to show the settings.
func (f *pushSettings) request() (*api.SetPushRequest, error) {
	switch {
	case f.session != "" && f.level == "":
		return nil, usagef("--session needs --level: all, needs, none or default")
	case f.level == "default" && f.session == "":
		return nil, usagef("--level default removes the level of a session: give --session")
	case f.zone != "" && (f.quiet == "" || f.quiet == "off"):
		return nil, usagef("--zone belongs to quiet hours: give --quiet, such as --quiet 22:00-07:00")
	case f.level == "" && f.quiet == "":
		return nil, nil
	}
	r := &api.SetPushRequest{ClientID: f.client, SessionID: f.session, Level: api.PushLevel(f.level)}
	if f.level == "default" {
		r.Level = ""
	}
	if f.quiet == "" {
		return r, nil
	}
	r.Quiet = &api.PushQuiet{}
	if f.quiet == "off" {
		return r, nil
	}
	from, to, ok := strings.Cut(f.quiet, "-")
	if !ok || len(from) > 5 || len(to) > 5 {
		return nil, usagef("--quiet %q is not a time span: use one such as 22:00-07:00, or off", f.quiet)
	}
	*r.Quiet = api.PushQuiet{From: from, To: to, Zone: f.zone}
	if f.zone == "" {
		r.Quiet.Zone = ownZone()
	}
	if r.Quiet.Zone == "" {
		return nil, usagef("the time zone of this machine has no name: give --zone, such as --zone Europe/Berlin")
	}
	return r, nil
}

func (f *pushSettings) apply(ctx context.Context, c *client.Client, request *api.SetPushRequest) (settings api.PushSettings, err error) {
	if request != nil {
		set, err := client.Call(ctx, c, api.SetPush, *request)
		return set.Settings, err
	}
	listed, err := client.Call(ctx, c, api.ListPush, api.ListPushRequest{ClientID: f.client})
	if err == nil && len(listed.Settings) > 0 {
		settings = listed.Settings[0]
	}
	return settings, err
}

func printPushSettings(stdout io.Writer, s api.PushSettings) error {
	lines := []string{printable("notified of: " + string(s.Level))}
	if s.Quiet != nil {
		lines = append(lines, printable(fmt.Sprintf("quiet hours: %s to %s (%s)", s.Quiet.From, s.Quiet.To, s.Quiet.Zone)))
	}
	own := slices.Clone(s.Sessions)
	slices.SortFunc(own, func(a, b api.PushSession) int { return strings.Compare(a.SessionID, b.SessionID) })
	for _, session := range own {
		lines = append(lines, printable(fmt.Sprintf("session %s: %s", session.SessionID, session.Level)))
	}
	_, err := fmt.Fprintln(stdout, strings.Join(lines, "\n"))
	return err
}
