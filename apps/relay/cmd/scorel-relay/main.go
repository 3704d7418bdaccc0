// Command scorel-relay runs a relay without a web UI. The scorel command's "relay
// serve" runs one with a web UI.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	code := run(ctx, os.Args[1:], os.Stderr, reload)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stderr io.Writer, reload <-chan os.Signal) int {
	opts := serve.Options{Version: version(), Reload: reload}
	address, err := parse(args, &opts, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage // the flag set has reported the error
	}
	if opts.Store == "" {
		opts.Store = os.Getenv(storeurl.EnvVar)
	}
	opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	plan, err := serve.Prepare(opts)
	if err != nil {
		fmt.Fprintf(stderr, "scorel-relay: %v\n", err)
		return exitUsage
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		fmt.Fprintf(stderr, "scorel-relay: cannot listen on %s: %v; choose another with -listen\n", address, err)
		return exitFailed
	}
	if err := plan.Run(ctx, listener, nil); err != nil {
		fmt.Fprintf(stderr, "scorel-relay: %v\n", err)
		return exitFailed
	}
	return 0
}

func parse(args []string, opts *serve.Options, stderr io.Writer) (address string, err error) {
	flags := flag.NewFlagSet("scorel-relay", flag.ContinueOnError)
	flags.SetOutput(stderr)
	opts.AddFlags(flags)
	flags.StringVar(&address, "listen", "127.0.0.1:7410", "`address` to listen on")
	flags.StringVar(&opts.DataDir, "data-dir", "relay-data", "`folder` for the relay's store, unless -store is set")
	// No default: usage would print the secret that the variable may contain.
	flags.StringVar(&opts.Store, "store", "", "`URL` of the store, postgres://... or sqlite:FILE; better set by "+storeurl.EnvVar+", which other users do not see")
	flags.StringVar(&opts.Bus, "bus", "", "`URL` of the NATS servers that connect relays with a shared store, such as nats://10.0.0.5:4222")
	flags.Func("public-url", "`URL` at which people reach this relay; may be repeated", appendTo(&opts.PublicURLs))
	flags.Func("allowed-origin", "`origin` of a page hosted elsewhere that may connect; may be repeated", appendTo(&opts.AllowedOrigins))
	flags.Func("trusted-proxy", "`network` of proxies whose X-Forwarded-For is trusted, such as 10.0.0.0/8; may be repeated", func(s string) error {
		prefix, err := serve.ParseProxy(s)
		opts.TrustedProxies = append(opts.TrustedProxies, prefix)
		return err
	})
	opts.Guard.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintf(stderr, "scorel-relay: %v; see -help\n", err)
		return "", err
	}
	return address, nil
}

func appendTo(list *[]string) func(string) error {
	return func(s string) error {
		*list = append(*list, s)
		return nil
	}
}

// version returns the version from which the module was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Main.Version
	}
	return "unknown"
}
