package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/mdns"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func newHost(a *app) *cobra.Command {
	return group("host", "Run and manage the host on this machine",
		"  scorel host serve --relay https://relay.example\n  scorel host status",
		newHostServe(a), newHostStatus(a), newHostStop(a), newHostRestart(a), newHostClients(a), newHostToken(a), newHostSecrets(a))
}

type hostFlags struct {
	relays, listen, publicURLs   []string
	label, invite                string
	noRelay, replace, background bool
	announce                     bool
	projects                     []string
	asJSON                       bool
	log                          *logFlags
}

func newHostServe(a *app) *cobra.Command {
	var f hostFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the host: sessions, agent and tools on this machine",
		Long: `Run the host on this machine. It stays connected to each relay, so that it can be reached
while one of them is down, and listens on a loopback port for programs on this machine.
An invite is sent only to the first relay.

With --listen, the host can be reached without any relay. Other machines of the local
network get the page and sealed connections, never the API. Browsers need https:// for
the page, except on this machine: see --public-url.`,
		Example: `  scorel host serve --relay https://relay.example
  scorel host serve --relay https://relay.example --relay https://relay.example.org
  scorel host serve --listen 127.0.0.1:7430 --listen 192.168.1.5:7430
  scorel host serve --listen 192.168.1.5:7430 --announce
  scorel host serve --no-relay --project ~/code/site`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s := &hostServer{a.console, a.env, a.network, a.invocation, f}
			return s.run(cmd.Context())
		},
	}
	cmd.Flags().StringArrayVar(&f.relays, "relay", nil, "relay through which others reach this host; may be repeated (SCOREL_RELAY_URL, relay_url and relay_urls in config.toml)")
	addInvite(cmd, &f.invite)
	cmd.Flags().BoolVar(&f.noRelay, "no-relay", false, "run without a relay: only this machine can reach the host")
	cmd.Flags().StringArrayVar(&f.projects, "project", nil, "folder to add as a project; may be repeated")
	cmd.Flags().StringArrayVar(&f.listen, "listen", nil, "address at which this host serves the page and terminals itself: of this machine, where it serves the API too, or of a local network; may be repeated (default: only the API, on a free port of 127.0.0.1)")
	addAnnounce(cmd, &f.announce)
	cmd.Flags().StringArrayVar(&f.publicURLs, "public-url", nil, "other address of --listen, such as that of a proxy with TLS; may be repeated")
	cmd.Flags().StringVar(&f.label, "label", "", "name of this machine as others see it (default: its host name)")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "stop a running host first")
	cmd.Flags().BoolVar(&f.background, "background", false, "run for scorel chat: without a relay if none is configured")
	_ = cmd.Flags().MarkHidden("background") // it exists
	addJSON(cmd, &f.asJSON)
	f.log = addLogFlags(cmd, "info")
	return cmd
}

// hostConfig converts flags to a host configuration.
func hostConfig(stderr io.Writer, env *environment, started invocation, f hostFlags) (host.Config, error) {
	if err := checkName(f.label); err != nil {
		return host.Config{}, err
	}
	home, err := env.home()
	if err != nil {
		return host.Config{}, err
	}
	logger, err := newLogger(stderr, f.log)
	if err != nil {
		return host.Config{}, err
	}
	projects, err := absolutes(f.projects)
	if err != nil {
		return host.Config{}, err
	}
	cfg := host.Config{
		Home: home, Label: f.label, Version: version, Logger: logger,
		Projects: projects, Replace: f.replace && !started.restarted, Restarts: runtime.GOOS != "windows", Args: withoutInvite(started.args), Getenv: env.getenv, Invite: env.invite(f.invite),
	}
	cfg.Folder, _ = os.Getwd() // "" means the home
	if cfg.Helper, err = os.Executable(); err != nil {
		return host.Config{}, fmt.Errorf("finding this program, which starts commands: %w", err)
	}
	if f.noRelay && len(f.relays) > 0 {
		return host.Config{}, usagef("--relay and --no-relay contradict each other: give one of them")
	}
	if f.noRelay {
		cfg.NoRelay = true
		return cfg, nil
	}
	if cfg.RelayURLs = f.relays; len(f.relays) == 0 {
		if relay := env.relayURL(""); relay != "" { // else config.toml may set some
			cfg.RelayURLs = []string{relay}
		}
	}
	for _, relay := range cfg.RelayURLs {
		if err := checkRelay(relay); err != nil {
			return host.Config{}, err
		}
	}
	return cfg, nil
}

// checkRelay rejects a malformed relay URL before anything starts.
func checkRelay(relayURL string) error {
	if _, _, err := relayconn.ParseURL(relayURL); err != nil {
		return usagef("%s", err)
	}
	return nil
}

// hostServer runs a host in this process.
type hostServer struct {
	console
	env        *environment
	network    mdns.Network
	invocation invocation
	flags      hostFlags
}

func (s *hostServer) run(ctx context.Context) error {
	f := s.flags
	if f.background { // a command has made the log its standard error
		home, err := s.env.home()
		if err != nil {
			return err
		}
		f.log.file = filepath.Join(home, hostLogName)
	}
	if err := f.log.open(); err != nil {
		return err
	}
	return f.log.note(s.serve(ctx))
}

func (s *hostServer) serve(ctx context.Context) error {
	f := s.flags
	cfg, err := hostConfig(s.stderr, s.env, s.invocation, f)
	if err != nil {
		return err
	}
	if err := checkURLs("public-url", f.publicURLs); err != nil {
		return err
	}
	if err := s.invocation.shedKeys(s.env); err != nil {
		return err
	}
	own, loopback, err := openBeside(f.listen, f.publicURLs)
	if err != nil {
		return err
	}
	if own == nil {
		if err := checkAnnounce(f.announce, nil); err != nil {
			return err
		}
		relay := relayToServe
		if f.background {
			relay = noRelay
		}
		h, err := newLocalHost(ctx, cfg, relay)
		if err != nil {
			return err
		}
		f.log.own()
		return s.serveHost(ctx, cfg, h, nil)
	}
	return s.serveBeside(ctx, cfg, own, loopback)
}

// serveBeside runs a host with the relay beside it.
func (s *hostServer) serveBeside(ctx context.Context, cfg host.Config, own *beside, loopback string) error {
	if err := checkAnnounce(s.flags.announce, own.reached.listens); err != nil {
		return errors.Join(err, own.gate.Close())
	}
	cfg.Listen, cfg.Beside = loopback, own.forHost()
	h, err := newLocalHost(ctx, cfg, noRelay)
	if err != nil {
		return errors.Join(err, own.gate.Close())
	}
	s.flags.log.own()
	relay := startBeside(ctx, s.stderr, own, h, cfg)
	select {
	case <-own.ready:
	case <-relay.done:
		return errors.Join(relay.stop(), h.Close())
	}
	if !s.flags.announce {
		return errors.Join(s.serveHost(ctx, cfg, h, relay), relay.stop())
	}
	announced, err := startAnnouncing(ctx, s.network, h.DeviceID(), own.reached.announced, cfg.Logger)
	if err != nil {
		return errors.Join(err, h.Close(), relay.stop())
	}
	return errors.Join(s.serveHost(ctx, cfg, h, relay), announced.stop(), relay.stop())
}

// serveHost runs a host until it ends, or the relay beside it does, which may be nil. The
// relay outlives the host, so that the host can log out.
func (s *hostServer) serveHost(ctx context.Context, cfg host.Config, h *host.Host, relay *part) error {
	running := runHost(ctx, h)
	err := running.ready(ctx)
	if err == nil && s.invocation.restarted {
		cfg.Logger.Info("the host was restarted", "version", version)
	} else if err == nil {
		err = announceHost(s.stdout, s.flags.asJSON, cfg.Home, h.State())
		reportReady(cfg.Logger)
	}
	if err != nil {
		return errors.Join(err, running.stop())
	}
	if relay != nil {
		select {
		case <-running.done:
		case <-relay.done:
		}
		return running.stop()
	}
	return running.wait()
}

func announceHost(stdout io.Writer, asJSON bool, home string, state host.State) error {
	if asJSON {
		return printJSON(stdout, struct {
			Ready    bool     `json:"ready"`
			DeviceID ident.ID `json:"deviceId"`
			Addr     string   `json:"addr"`
			Relay    string   `json:"relay"`
			Relays   []string `json:"relays"`
			Home     string   `json:"home"`
		}{true, state.DeviceID, state.Addr, state.RelayURL, append([]string{}, state.Relays...), home})
	}
	relay := cmp.Or(strings.Join(state.Relays, ", "), "no relay")
	_, err := fmt.Fprintf(stdout, "host %s (%s) is ready: %s, home %s\n", state.DeviceID, printable(state.Label), relay, home)
	return err
}

func newHostStop(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "stop",
		Short:   "Stop the local host",
		Example: "  scorel host stop\n  scorel host stop --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return stopHost(cmd.Context(), a.stdout, a.env, asJSON) },
	}
	addJSON(cmd, &asJSON)
	return cmd
}

// stopTimeout bounds how long a host may take to close its sessions.
const stopTimeout = 30 * time.Second

func stopHost(ctx context.Context, stdout io.Writer, env *environment, asJSON bool) error {
	home, err := env.home()
	if err != nil {
		return err
	}
	if err := endHost(ctx, home); err != nil {
		return err
	}
	return printDone(stdout, asJSON, api.Empty{}, "the host has stopped")
}

// endHost stops the host of a home and waits for its process to exit, which
// is after it releases its lock. The error is host.ErrNoHost if none is running.
func endHost(ctx context.Context, home string) error {
	state, err := host.ReadState(home)
	if err != nil {
		return err
	}
	// The connection may end before the response, because the host is stopping.
	err = useLocal(ctx, home, func(c *client.Client) error {
		_, err := client.Call(ctx, c, api.StopHost, api.Empty{})
		return err
	})
	if err != nil && !errors.Is(err, client.ErrLost) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	gone := func() (bool, error) {
		_, err := host.ReadState(home)
		return errors.Is(err, host.ErrNoHost) && (state.PID == os.Getpid() || host.Ended(state.PID)), nil
	}
	if err := poll(ctx, gone); err != nil {
		return sayf(nil, "the host was asked to stop, but process %d has not exited within %s: find out what it is waiting for, or end it with `kill -9 %d`", state.PID, stopTimeout, state.PID)
	}
	return nil
}
