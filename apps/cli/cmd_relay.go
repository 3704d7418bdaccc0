package cli

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/apps/web"
)

const defaultRelayListen = "127.0.0.1:7410"

type relayFlags struct {
	listen, bus                string
	store                      storeFlags
	publicURLs, allowedOrigins []string
	trustedProxies             []string
	asJSON                     bool
	guard                      serve.Guard
	log                        *logFlags
	serve                      serve.Options // set by the flags of package serve
	reload                     <-chan os.Signal
}

func newRelay(a *app) *cobra.Command {
	return group("relay", "Run a relay, and manage its store and invites", "  scorel relay serve --listen :7410 --public-url https://relay.example", newRelayServe(a), newRelayInvite(a), newRelayStore(a))
}

func newRelayServe(a *app) *cobra.Command {
	var f relayFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run a relay",
		Long: `Run a relay. It stores which clients may reach which devices, and forwards sealed traffic
between them, which it cannot read.

TLS is terminated by a proxy in front of the relay, or by the relay itself: with the files
of --tls-cert and --tls-key, or with certificates that --acme-host obtains. Set
--public-url to the address that people use: logins are bound to it.

SIGHUP reloads the certificate, --config and --allow-file. SIGTERM disconnects peers one
after the other within --drain, and gives each a time to reconnect; a second SIGTERM stops
the relay at once.

With --admission invite, new devices and clients need an invite of "scorel relay invite
create". With --allow or --allow-file, only the listed ids are admitted.

Without --store, the relay uses a SQLite file. With PostgreSQL, several relays can share
one store.`,
		Example: `  scorel relay serve
  scorel relay serve --listen 0.0.0.0:7410 --public-url https://relay.example
  scorel relay serve --listen :443 --public-url https://relay.example.org --acme-host relay.example.org
  SCOREL_RELAY_STORE=postgres://scorel:secret@db/relay scorel relay serve`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.log.open(); err != nil {
				return err
			}
			return f.log.note(runRelay(cmd.Context(), a.console, a.env, f))
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", defaultRelayListen, "address to listen on")
	f.store.add(cmd)
	shared := flag.NewFlagSet("", flag.ContinueOnError)
	f.serve.AddFlags(shared)
	cmd.Flags().AddGoFlagSet(shared)
	cmd.Flags().StringArrayVar(&f.publicURLs, "public-url", nil, "address at which people reach this relay; may be repeated")
	cmd.Flags().StringArrayVar(&f.allowedOrigins, "allowed-origin", nil, "origin of a page hosted elsewhere that may connect; may be repeated")
	cmd.Flags().StringArrayVar(&f.trustedProxies, "trusted-proxy", nil, "address or network of a proxy whose X-Forwarded-For is trusted; may be repeated")
	cmd.Flags().StringVar(&f.bus, "bus", "", "NATS servers that connect relays with the same store, such as nats://10.0.0.5:4222 (SCOREL_RELAY_BUS, which keeps a password out of the process list)")
	guard := flag.NewFlagSet("", flag.ContinueOnError)
	f.guard.AddFlags(guard)
	cmd.Flags().AddGoFlagSet(guard)
	addJSON(cmd, &f.asJSON)
	f.log = addLogFlags(cmd, "info")
	return cmd
}

func runRelay(ctx context.Context, con console, env *environment, f relayFlags) error {
	f.bus = cmp.Or(f.bus, env.getenv("SCOREL_RELAY_BUS"))
	if err := checkURLs("public-url", f.publicURLs); err != nil {
		return err
	}
	if err := checkURLs("allowed-origin", f.allowedOrigins); err != nil {
		return err
	}
	var stop func()
	f.reload, stop = hangups()
	defer stop()
	plan, err := planRelay(con.stderr, env, f)
	if err != nil {
		return err
	}
	listener, err := listen(f.listen)
	if err != nil {
		return err
	}
	warnNameless(con.stderr, listener.Addr(), plan.PublicURLs())
	f.log.own()
	logger, err := newLogger(con.stderr, f.log)
	if err != nil {
		return err
	}
	return plan.Run(ctx, listener, func() error {
		reportReady(logger)
		return announceRelay(con.stdout, f.asJSON, listener.Addr(), f.serve.TLS.Enabled())
	})
}

// warnNameless warns that a relay has no name under which other machines can reach it.
func warnNameless(stderr io.Writer, addr net.Addr, publicURLs []string) {
	if !isLoopback(addr) && len(publicURLs) == 0 {
		fmt.Fprintf(stderr, "warning: %s can be reached from other machines, but no --public-url or public_urls is given: only logins that name this machine itself will work\n", addr)
	}
}

// planRelay reads and validates flags and files, all of them once. Errors are usage errors:
// nothing was started.
func planRelay(stderr io.Writer, env *environment, f relayFlags) (*serve.Plan, error) {
	proxies, err := parseProxies(f.trustedProxies)
	if err != nil {
		return nil, err
	}
	logger, err := newLogger(stderr, f.log)
	if err != nil {
		return nil, err
	}
	opts := f.serve
	opts.PublicURLs, opts.AllowedOrigins, opts.TrustedProxies = f.publicURLs, f.allowedOrigins, proxies
	opts.Guard, opts.Bus, opts.Logger, opts.Version = f.guard, f.bus, logger, version
	opts.Reload = f.reload
	if opts.Store, err = f.store.location(env); err != nil {
		return nil, err
	}
	if opts.DataDir, err = f.store.folder(env); err != nil {
		return nil, err
	}
	opts.Web, opts.Docs = webFiles(stderr), docFiles()
	plan, err := serve.Prepare(opts)
	if err != nil {
		return nil, usagef("%v", err)
	}
	return plan, nil
}

// hangups returns the signals to read certificates and settings again.
func hangups() (<-chan os.Signal, func()) {
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	return reload, func() { signal.Stop(reload) }
}

// announceRelay prints the relay's address. The socket is open by then, so a client that
// reads the line can connect.
func announceRelay(stdout io.Writer, asJSON bool, addr net.Addr, secured bool) error {
	url := baseURL(addr)
	if secured {
		url = strings.Replace(url, "http://", "https://", 1)
	}
	if asJSON {
		return printJSON(stdout, struct {
			Ready bool   `json:"ready"`
			URL   string `json:"url"`
		}{true, url})
	}
	_, err := fmt.Fprintf(stdout, "relay on %s\n", url)
	return err
}

// webFiles returns the web UI, or nil with a warning if the binary has none.
func webFiles(stderr io.Writer) fs.FS {
	files, ok := web.Files()
	if !ok {
		fmt.Fprintln(stderr, "warning: this binary was built without the web page: run `make web` and build again")
		return nil
	}
	return files
}

// docFiles returns the documentation, or nil if the binary has none: the relay says so at its
// address.
func docFiles() fs.FS {
	files, _ := web.Docs()
	return files
}
