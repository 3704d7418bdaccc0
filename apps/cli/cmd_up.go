package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/mdns"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

const defaultUpListen = "127.0.0.1:7420"

type upFlags struct {
	listen, label  string
	publicURLs     []string
	projects       []string
	noOpen, asJSON bool
	announce       bool
	log            *logFlags
}

func newUp(a *app) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run relay, host and web UI on this machine",
		Long: `Run a relay, a host and the web UI in one process, reachable from this machine only, and
open the page in your browser with a link that pairs it. The link works once, for ten
minutes.`,
		Example: `  scorel up
  scorel up --project ~/code/site --no-open
  scorel up --label workshop
  scorel up --listen 127.0.0.1:8000 --json`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			u := &upServer{console: a.console, env: a.env, network: a.network, invocation: a.invocation, flags: f}
			return u.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", defaultUpListen, "address of the web UI and the relay")
	addAnnounce(cmd, &f.announce)
	cmd.Flags().StringVar(&f.label, "label", "", "name of this machine as others see it (default: its host name)")
	cmd.Flags().StringArrayVar(&f.publicURLs, "public-url", nil, "address at which other machines reach it, through a proxy with TLS; may be repeated")
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "folder to add as a project; may be repeated")
	cmd.Flags().BoolVar(&f.noOpen, "no-open", false, "print the link without opening a browser")
	addJSON(cmd, &f.asJSON)
	f.log = addLogFlags(cmd, "warn")
	return cmd
}

// upServer runs a relay and a host in this process.
type upServer struct {
	console
	env        *environment
	network    mdns.Network
	invocation invocation
	flags      upFlags
	home       string
	url        string // of the relay and its web UI, as reached from this machine
}

// run stops the parts in order: the relay outlives the host, so that the host can log out.
func (u *upServer) run(ctx context.Context) (err error) {
	f := u.flags
	if err := checkURLs("public-url", f.publicURLs); err != nil {
		return err
	}
	if err := u.invocation.shedKeys(u.env); err != nil {
		return err
	}
	if u.home, err = u.env.home(); err != nil {
		return err
	}
	if state, err := host.ReadState(u.home); err == nil {
		return hostRuns(nil, state.PID)
	}
	listener, err := listen(f.listen)
	if err != nil {
		return err
	}
	places, err := upPlaces(f, listener.Addr())
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	warnNameless(u.stderr, listener.Addr(), f.publicURLs)
	u.url = baseURL(listener.Addr())
	h, err := u.host(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	relay, err := u.relay(ctx, listener)
	if err != nil {
		return errors.Join(err, listener.Close(), h.Close())
	}
	announced, err := u.announce(ctx, h, places)
	if err != nil {
		return errors.Join(err, h.Close(), relay.stop())
	}
	running := runHost(ctx, h)
	err = u.serve(ctx, running, relay)
	return errors.Join(err, announced.stop(), running.stop(), relay.stop())
}

// upPlaces returns what --announce announces: the relay accepts the name of one address only.
func upPlaces(f upFlags, addr net.Addr) ([]netip.AddrPort, error) {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return nil, fmt.Errorf("reading the address of the relay: %w", err)
	}
	at = netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	if f.announce && at.Addr().IsUnspecified() {
		return nil, usagef("--announce needs one address of this machine in the local network: give it, as in --listen 192.168.1.5:%d", at.Port())
	}
	return []netip.AddrPort{at}, checkAnnounce(f.announce, []netip.AddrPort{at})
}

// announce announces the host if that is wanted; else the part does nothing.
func (u *upServer) announce(ctx context.Context, h *host.Host, places []netip.AddrPort) (*part, error) {
	if !u.flags.announce {
		return startPart(ctx, func(context.Context) error { return nil }), nil
	}
	logger, err := newLogger(u.stderr, u.flags.log)
	if err != nil {
		return nil, err
	}
	return startAnnouncing(ctx, u.network, h.DeviceID(), func() []netip.AddrPort { return places }, logger)
}

func (u *upServer) host(ctx context.Context) (*host.Host, error) {
	cfg, err := hostConfig(u.stderr, u.env, u.invocation, hostFlags{relays: []string{u.url}, label: u.flags.label, projects: u.flags.projects, log: u.flags.log})
	if err != nil {
		return nil, err
	}
	return newLocalHost(ctx, cfg, relayToServe)
}

func (u *upServer) relay(ctx context.Context, listener net.Listener) (*part, error) {
	logger, err := newLogger(u.stderr, u.flags.log)
	if err != nil {
		return nil, err
	}
	options := serve.Options{
		Listener: listener, DataDir: filepath.Join(u.home, "relay"), PublicURLs: append([]string{u.url}, u.flags.publicURLs...),
		Web: webFiles(u.stderr), Docs: docFiles(), Logger: logger, Version: version,
		Drain: -1, // its peers are on this machine and end with it
	}
	return startPart(context.WithoutCancel(ctx), func(ctx context.Context) error { return serve.Run(ctx, options) }), nil
}

// serve shows the link once everything is ready, and returns when a part has ended.
func (u *upServer) serve(ctx context.Context, running *runningHost, relay *part) error {
	if err := running.ready(ctx); err != nil {
		return err
	}
	if u.invocation.restarted { // the person has a browser that is paired, or the earlier link ended with its relay
		fmt.Fprintf(u.stderr, "scorel: restarted with version %s; `scorel pair` pairs another browser\n", version)
		select {
		case <-running.done:
		case <-relay.done:
		}
		return nil
	}
	c, err := connectLocal(ctx, u.home)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the host is about to stop
	info, err := getHost(ctx, c)
	if err != nil {
		return err
	}
	link, err := client.Call(ctx, c, api.CreatePairing, api.CreatePairingRequest{})
	if err != nil {
		return err
	}
	browser := startPart(ctx, func(ctx context.Context) error { return admitBrowser(ctx, u.stderr, c, link) })
	defer func() { _ = browser.stop() }() // it has already reported any error
	if err := u.announceReady(link, info); err != nil {
		return err
	}
	if !u.flags.noOpen {
		openBrowser(ctx, u.env, u.stderr, link.URL)
	}
	select {
	case <-running.done:
	case <-relay.done:
	}
	return nil
}

func (u *upServer) announceReady(link api.CreatePairingResponse, info api.HostInfo) error {
	if u.flags.asJSON {
		return printJSON(u.stdout, struct {
			Ready    bool     `json:"ready"`
			URL      string   `json:"url"`
			Relay    string   `json:"relay"`
			DeviceID ident.ID `json:"deviceId"`
			Home     string   `json:"home"`
		}{true, link.URL, u.url, info.DeviceID, u.home})
	}
	_, err := fmt.Fprintf(u.stdout, `scorel is ready on %s (Ctrl-C ends it)
%s
this machine appears as "%s"; to change the name, start with --label NAME

open this link in your browser; it works once, until %s:

  %s

`, u.url, modelLine(info, u.home), printable(info.Label), time.UnixMilli(link.ExpiresAt).Format("15:04"), link.URL)
	return err
}

// admitBrowser pairs the browser that opens the link. Whoever has the link read it on this
// machine's own screen, so no one is asked again.
func admitBrowser(ctx context.Context, stderr io.Writer, c *client.Client, link api.CreatePairingResponse) error {
	id := link.PairingID
	peer, err := client.Call(ctx, c, api.AwaitPairing, api.PairingRequest{PairingID: id})
	if err == nil {
		_, err = client.Call(ctx, c, api.FinishPairing, api.FinishPairingRequest{PairingID: id, Accept: true})
	}
	switch {
	case ctx.Err() != nil, errors.Is(err, client.ErrLost): // everything is stopping
	case err != nil:
		fmt.Fprintf(stderr, "scorel: %s\n", linkEnded(err, time.UnixMilli(link.ExpiresAt), time.Now()))
	default:
		fmt.Fprintf(stderr, "scorel: paired with \"%s\" (%s)\n", printable(peer.Label), peer.ClientID)
	}
	return nil
}

// linkEnded says why a link no longer works. The relay ends it at expiresAt by its own clock, and
// its error is for a person who typed a code.
func linkEnded(err error, expiresAt, now time.Time) string {
	if expiresAt.Sub(now) < time.Second {
		return "nobody opened the link in time: `scorel pair` creates a new one"
	}
	return fmt.Sprintf("the link no longer works: %s; create a new one with `scorel pair`", sentence(err))
}

// openBrowser tries to open the browser; the link is printed in any case.
func openBrowser(ctx context.Context, env *environment, stderr io.Writer, url string) {
	home, err := env.home()
	if err == nil {
		err = terminal.OpenBrowser(ctx, url, env.getenv, environmentWithout(host.SecretVariables(home, env.getenv)))
	}
	if err != nil && !errors.Is(err, terminal.ErrNoDisplay) {
		fmt.Fprintf(stderr, "scorel: %s: open the link yourself\n", sentence(err))
	}
}
