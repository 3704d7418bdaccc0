package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
)

type pairFlags struct {
	relay, invite string
	label         string
	grants        []string
	limits        limitFlags
	yes, asJSON   bool
	log           *logFlags
}

func newPair(a *app) *cobra.Command {
	var f pairFlags
	cmd := &cobra.Command{
		Use:   "pair [CODE]",
		Short: "Pair a browser or another terminal with this machine",
		Long: `Pair this machine with a browser or another terminal. Enter the CODE that the other side
shows; without CODE, this machine shows a code and a QR code for the other side.

The first time, it asks under which name others see this machine; without a terminal that is
the machine's host name. --label NAME changes the name, also while a host runs. A name from
config.toml or from --label of "host serve" and "up" comes first.

By default, the other side may do everything except open terminals, add broad rules, pair
others and stop the host. With --grant, --project and --expires it gets less: "scorel host
clients grant --help" explains the grants, and "scorel host clients limit --help" the limits.
All can be changed later.

This works whether or not a host is running on this machine.`,
		Example: `  scorel pair 7K3M-9QXR-2BTD
  scorel pair
  scorel pair --relay https://relay.example
  scorel pair --label workshop
  scorel pair --grant view --project ~/site --expires 8h`,
		Args: argCount(0, 1, "at most one pairing code"),
		RunE: func(cmd *cobra.Command, args []string) error {
			p := &pairing{console: a.console, env: a.env, invocation: a.invocation, flags: f, asker: terminal.NewAsker(a.stdin, a.stderr)}
			if len(args) > 0 {
				code, err := pair.ParseCode(args[0])
				if err != nil {
					return err
				}
				p.code = code.Reveal()
			}
			return p.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&f.relay, "relay", "", "relay to pair on: one of those of the host that runs here, or any if none does (SCOREL_RELAY_URL, relay_url in config.toml)")
	addInvite(cmd, &f.invite)
	cmd.Flags().StringVar(&f.label, "label", "", "name of this machine as others see it, from now on")
	cmd.Flags().StringSliceVar(&f.grants, "grant", nil, "grants of the other side besides view: prompt, approve, manage, files, rules, shell (default prompt,approve,manage,files)")
	f.limits.add(cmd)
	cmd.Flags().BoolVar(&f.yes, "yes", false, "accept the other side without confirmation")
	addJSON(cmd, &f.asJSON)
	f.log = addLogFlags(cmd, "error")
	return cmd
}

// pairing pairs this machine with one other side.
type pairing struct {
	console
	env        *environment
	invocation invocation
	flags      pairFlags
	code       string // that the other side shows; "" to show one
	asker      *terminal.Asker
}

func (p *pairing) run(ctx context.Context) (err error) {
	if !p.flags.yes && !terminal.IsTerminal(p.stdin) {
		return usagef("the other side must be accepted: run this in a terminal, or pass --yes")
	}
	if err := checkName(p.flags.label); err != nil {
		return err
	}
	grants, err := clientGrants(p.flags.grants)
	if err != nil {
		return err
	}
	c, release, err := p.host(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	limits, err := p.flags.limits.apply(ctx, c, api.ClientLimits{})
	if err != nil {
		return err
	}
	if err := checkMayLimit(ctx, c, grants, limits); err != nil {
		return err
	}
	name, err := p.nameMachine(ctx, c)
	if err != nil {
		return err
	}
	id, err := p.begin(ctx, c)
	if err != nil {
		return err
	}
	if !p.flags.asJSON {
		fmt.Fprintf(p.stderr, "This machine will appear as \"%s\". To change the name, use --label NAME.\n", printable(name))
	}
	peer, err := client.Call(ctx, c, api.AwaitPairing, api.PairingRequest{PairingID: id})
	if err != nil { // the host has dropped it, or will when the connection closes
		return err
	}
	chosen := api.FinishPairingRequest{PairingID: id, Accept: true, Grants: grants, ClientLimits: limits}
	accept, err := p.accept(ctx, peer, chosen)
	if err != nil || !accept {
		return errors.Join(err, dropPairing(ctx, c, id), refusedPeer(accept, err))
	}
	return p.finish(ctx, c, chosen, peer)
}

// checkMayLimit refuses to pair with less than everything on a host that would ignore it: one
// that an older version of this program started, which does not list its paths either.
func checkMayLimit(ctx context.Context, c *client.Client, grants []api.Grant, limits api.ClientLimits) error {
	if len(grants) == 0 && len(limits.Projects) == 0 && limits.ExpiresAt == 0 {
		return nil
	}
	info, err := getHost(ctx, c)
	if err != nil || len(info.Paths) > 0 {
		return err
	}
	return sayf(errRefused, "the host on this machine runs an older version, which ignores --grant, --project and --expires: stop it with `scorel host stop`, start it again, and repeat this")
}

func refusedPeer(accept bool, err error) error {
	if accept || err != nil {
		return nil
	}
	return sayf(errRefused, "not paired: you did not accept the other side")
}

// host connects to the host running on this machine, or runs one in this process for
// the duration of the pairing. It sets flags.relay to the URL by which the host knows the relay.
func (p *pairing) host(ctx context.Context) (c *client.Client, release func() error, err error) {
	home, err := p.env.home()
	if err != nil {
		return nil, nil, err
	}
	state, err := host.ReadState(home)
	switch {
	case err == nil:
		if p.flags.relay, err = relayOf(state, p.flags.relay); err != nil {
			return nil, nil, err
		}
		c, err := connectLocal(ctx, home)
		if err != nil {
			return nil, nil, err
		}
		return c, func() error { _ = c.Close(); return nil }, nil
	case errors.Is(err, host.ErrNoHost):
		return p.temporaryHost(ctx, home)
	}
	return nil, nil, err
}

// relayOf returns the running host's own URL for a relay; "" leaves the choice to the host. It
// refuses a relay that the host does not use: the two sides would never meet.
func relayOf(running host.State, wanted string) (string, error) {
	known := running.Relays
	if len(known) == 0 && running.RelayURL != "" { // an older host
		known = []string{running.RelayURL}
	}
	same := slices.IndexFunc(known, func(relay string) bool { return sameRelay(relay, wanted) })
	switch {
	case len(known) == 0:
		return "", sayf(errUnreachable, "the host on this machine is running without a relay: stop it with `scorel host stop` and start it with --relay URL")
	case wanted == "":
		return "", nil
	case same >= 0:
		return known[same], nil
	case len(known) == 1:
		return "", usagef("the host on this machine uses the relay %s: leave --relay out, or start the host with the other one", known[0])
	}
	return "", usagef("the host on this machine uses the relays %s: name one of them with --relay, or start the host with the other one", strings.Join(known, ", "))
}

func (p *pairing) temporaryHost(ctx context.Context, home string) (*client.Client, func() error, error) {
	var relays []string
	if p.flags.relay != "" {
		relays = []string{p.flags.relay}
	}
	cfg, err := hostConfig(p.stderr, p.env, p.invocation, hostFlags{relays: relays, invite: p.flags.invite, log: p.flags.log})
	if err != nil {
		return nil, nil, err
	}
	h, err := newLocalHost(ctx, cfg, relayToPair)
	if err != nil {
		return nil, nil, err
	}
	if err := probeRelay(ctx, h.State().RelayURL); err != nil {
		return nil, nil, errors.Join(err, h.Close())
	}
	running := runHost(context.WithoutCancel(ctx), h) // it ends after the pairing was dropped
	if err := running.ready(ctx); err != nil {
		return nil, nil, errors.Join(err, running.stop())
	}
	c, err := connectLocal(ctx, home)
	if err != nil {
		return nil, nil, errors.Join(err, running.stop())
	}
	return c, func() error { _ = c.Close(); return running.stop() }, nil
}

// begin redeems the code, or creates and shows one.
func (p *pairing) begin(ctx context.Context, c *client.Client) (pairingID string, err error) {
	if p.code != "" {
		redeemed, err := client.Call(ctx, c, api.RedeemPairing, api.RedeemPairingRequest{Code: p.code, Relay: p.flags.relay})
		return redeemed.PairingID, err
	}
	created, err := client.Call(ctx, c, api.CreatePairing, api.CreatePairingRequest{Relay: p.flags.relay})
	if err != nil {
		return "", err
	}
	return created.PairingID, showCode(p.stdout, created.Code, created.URL, created.ExpiresAt, p.flags.asJSON,
		connectCommand(ctx, c, created))
}

// connectCommand returns the command that redeems a code on another machine, with the relay at
// which the code is known. Other machines do not reach a listener on this machine's loopback
// address, so the command names the same listener's address in the local network if it has one.
func connectCommand(ctx context.Context, c *client.Client, created api.CreatePairingResponse) string {
	command := "scorel connect " + created.Code
	relay, _, found := strings.Cut(created.URL, "/pair#")
	if !found {
		return command
	}
	info, err := getHost(ctx, c)
	if err == nil && slices.ContainsFunc(info.Paths, func(p api.Path) bool { return p.Kind == api.PathMachine && sameRelay(p.URL, relay) }) {
		for _, p := range info.Paths {
			if p.Kind == api.PathNetwork {
				relay = p.URL
				break
			}
		}
	}
	return command + " --relay " + relay
}

// showCode prints a pairing code. command is what to run on the other machine.
func showCode(stdout io.Writer, code, url string, expiresAt int64, asJSON bool, command string) error {
	if asJSON {
		return printJSON(stdout, struct {
			Code      string `json:"code"`
			URL       string `json:"url,omitempty"`
			ExpiresAt int64  `json:"expiresAt"`
		}{code, url, expiresAt})
	}
	drawn := ""
	if url != "" {
		var err error
		columns, rows := terminal.Size(stdout)
		if drawn, err = terminal.QR(url, columns, rows); err != nil {
			return err
		}
		url = "in a browser:  " + url + "\n"
	}
	_, err := fmt.Fprintf(stdout, "code:          %s\n%sin a terminal: %s\n%swaiting; the code works once, until %s\n",
		code, url, command, drawn, time.UnixMilli(expiresAt).Format("15:04"))
	return err
}

// accept asks the person whether to accept the other side.
func (p *pairing) accept(ctx context.Context, peer api.AwaitPairingResponse, chosen api.FinishPairingRequest) (bool, error) {
	if p.flags.yes {
		return true, nil
	}
	question := fmt.Sprintf("Pair with \"%s\" (%s)? %s", printable(peer.Label), peer.ClientID, allowance(chosen))
	return p.asker.Ask(ctx, question)
}

// clientGrants reads the grants of --grant.
func clientGrants(words []string) ([]api.Grant, error) {
	var grants []api.Grant
	for _, word := range words {
		grant := api.Grant(strings.TrimSpace(word))
		if !slices.Contains(api.ClientGrants(), grant) {
			return nil, usagef("there is no grant %q: --grant accepts %s", clip(word, 40), grantList(api.ClientGrants()))
		}
		grants = append(grants, grant)
	}
	return grants, nil
}

// allowance says what a new client will be able to do.
func allowance(chosen api.FinishPairingRequest) string {
	if len(chosen.Grants) == 0 && len(chosen.Projects) == 0 && chosen.ExpiresAt == 0 {
		return "It can then do anything on this machine that you can."
	}
	grants := chosen.Grants
	if len(grants) == 0 {
		grants = api.AllGrants()
	}
	where := "in all projects"
	if n := len(chosen.Projects); n == 1 {
		where = "in 1 project"
	} else if n > 1 {
		where = fmt.Sprintf("in %d projects", n)
	}
	return fmt.Sprintf("It gets the grants %s %s, %s.", grantList(grants), where, expiry(chosen.ExpiresAt, time.Now()))
}

// dropTimeout bounds how long cleanup takes after a command has failed.
const dropTimeout = 5 * time.Second

// dropPairing invalidates the code. It is not an error if the pairing is already gone.
func dropPairing(ctx context.Context, c *client.Client, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropTimeout)
	defer cancel()
	_, err := client.Call(ctx, c, api.FinishPairing, api.FinishPairingRequest{PairingID: id})
	var refused *api.Error
	if errors.As(err, &refused) || errors.Is(err, client.ErrLost) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

func (p *pairing) finish(ctx context.Context, c *client.Client, chosen api.FinishPairingRequest, peer api.AwaitPairingResponse) error {
	finished, err := client.Call(ctx, c, api.FinishPairing, chosen)
	if err != nil {
		return err
	}
	if !finished.Paired {
		return sayf(errRefused, "not paired: the other side did not accept")
	}
	if p.flags.asJSON {
		return printJSON(p.stdout, struct {
			Paired   bool     `json:"paired"`
			ClientID ident.ID `json:"clientId"`
			Label    string   `json:"label"`
		}{true, peer.ClientID, peer.Label})
	}
	_, err = fmt.Fprintf(p.stdout, "paired with \"%s\" (%s)\n", printable(peer.Label), peer.ClientID)
	return err
}
