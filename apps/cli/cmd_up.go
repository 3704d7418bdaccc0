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
		RunE: func(cmd *cobra.Command, _ []string) error { return a.up(cmd.Context(), f) },
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

// up stops the parts in order: the relay outlives the host, so that the host can log out.
func (a *app) up(ctx context.Context, f upFlags) error {
	if err := checkURLs("public-url", f.publicURLs); err != nil {
		return err
	}
	if err := a.shedKeys(); err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	if state, err := host.ReadState(home); err == nil {
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
	warnNameless(a.stderr, listener.Addr(), f.publicURLs)
	place := upPlace{home: home, url: baseURL(listener.Addr())}
	h, err := a.upHost(ctx, f, place)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	relay, err := a.upRelay(ctx, f, listener, place)
	if err != nil {
		return errors.Join(err, listener.Close(), h.Close())
	}
	announced, err := a.upAnnounce(ctx, f, h, places)
	if err != nil {
		return errors.Join(err, h.Close(), relay.stop())
	}
	running := runHost(ctx, h)
	err = a.upServe(ctx, f, running, relay, place)
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

// upAnnounce announces the host if that is wanted; else the part does nothing.
func (a *app) upAnnounce(ctx context.Context, f upFlags, h *host.Host, places []netip.AddrPort) (*part, error) {
	if !f.announce {
		return startPart(ctx, func(context.Context) error { return nil }), nil
	}
	logger, err := newLogger(a.stderr, f.log)
	if err != nil {
		return nil, err
	}
	return a.startAnnouncing(ctx, h.DeviceID(), func() []netip.AddrPort { return places }, logger)
}

// upPlace holds the paths and addresses of all parts.
type upPlace struct {
	home string
	url  string // of the relay and its web UI, as reached from this machine
}

func (a *app) upHost(ctx context.Context, f upFlags, place upPlace) (*host.Host, error) {
	cfg, err := a.hostConfig(hostFlags{relays: []string{place.url}, label: f.label, projects: f.projects, log: f.log})
	if err != nil {
		return nil, err
	}
	return newLocalHost(ctx, cfg, relayToServe)
}

func (a *app) upRelay(ctx context.Context, f upFlags, listener net.Listener, place upPlace) (*part, error) {
	logger, err := newLogger(a.stderr, f.log)
	if err != nil {
		return nil, err
	}
	options := serve.Options{
		Listener: listener, DataDir: filepath.Join(place.home, "relay"), PublicURLs: append([]string{place.url}, f.publicURLs...),
		Web: webFiles(a.stderr), Docs: docFiles(), Logger: logger, Version: version,
		Drain: -1, // its peers are on this machine and end with it
	}
	return startPart(context.WithoutCancel(ctx), func(ctx context.Context) error { return serve.Run(ctx, options) }), nil
}

// upServe shows the link once everything is ready, and returns when a part has ended.
func (a *app) upServe(ctx context.Context, f upFlags, running *runningHost, relay *part, place upPlace) error {
	if err := running.ready(ctx); err != nil {
		return err
	}
	if a.restarted { // the person has a browser that is paired, or the earlier link ended with its relay
		fmt.Fprintf(a.stderr, "scorel: restarted with version %s; `scorel pair` pairs another browser\n", version)
		select {
		case <-running.done:
		case <-relay.done:
		}
		return nil
	}
	c, err := (&target{app: a}).connect(ctx)
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
	browser := startPart(ctx, func(ctx context.Context) error { return admitBrowser(ctx, a.stderr, c, link) })
	defer func() { _ = browser.stop() }() // it has already reported any error
	if err := announceUp(a.stdout, f, link, info, place); err != nil {
		return err
	}
	if !f.noOpen {
		a.openBrowser(ctx, link.URL)
	}
	select {
	case <-running.done:
	case <-relay.done:
	}
	return nil
}

func announceUp(stdout io.Writer, f upFlags, link api.CreatePairingResponse, info api.HostInfo, place upPlace) error {
	if f.asJSON {
		return printJSON(stdout, struct {
			Ready    bool     `json:"ready"`
			URL      string   `json:"url"`
			Relay    string   `json:"relay"`
			DeviceID ident.ID `json:"deviceId"`
			Home     string   `json:"home"`
		}{true, link.URL, place.url, info.DeviceID, place.home})
	}
	_, err := fmt.Fprintf(stdout, `scorel is ready on %s (Ctrl-C ends it)
%s
this machine appears as "%s"; to change the name, start with --label NAME

open this link in your browser; it works once, until %s:

  %s

`, place.url, modelLine(info, place.home), printable(info.Label), time.UnixMilli(link.ExpiresAt).Format("15:04"), link.URL)
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
func (a *app) openBrowser(ctx context.Context, url string) {
	home, err := a.home()
	if err == nil {
		err = terminal.OpenBrowser(ctx, url, a.getenv, environmentWithout(host.SecretVariables(home, a.getenv)))
	}
	if err != nil && !errors.Is(err, terminal.ErrNoDisplay) {
		fmt.Fprintf(a.stderr, "scorel: %s: open the link yourself\n", sentence(err))
	}
}
