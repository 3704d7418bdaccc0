// Package serve runs a relay as a process does: a store in a data folder, an HTTP
// server on a listener, until a context ends. Both the relay's own command and the
// scorel command use it.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/bus/nats"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
)

// StoreFile is the name of the store in the data folder.
const StoreFile = "relay.db"

const (
	// stopTimeout is how long peers and requests have to end after the context.
	stopTimeout = 10 * time.Second
	// headerTimeout and idleTimeout keep slow or silent clients from holding
	// sockets before they are upgraded.
	headerTimeout  = 10 * time.Second
	idleTimeout    = 60 * time.Second
	maxHeaderBytes = 16 << 10
)

// Options says what to serve.
type Options struct {
	Listener       net.Listener // served and closed
	DataDir        string       // made with mode 0700 if it is not there
	PublicURLs     []string
	AllowedOrigins []string
	TrustedProxies []netip.Prefix
	// Bus is where the NATS servers are that join this node with others, such as
	// "nats://10.0.0.5:4222"; commas between several. Nodes must share a store. Empty
	// means that there are no others.
	Bus     string
	Web     fs.FS // nil serves no page
	Logger  *slog.Logger
	Version string
}

// Run serves until ctx ends, then says goodbye to the peers and returns nil. Any
// other end is an error. It closes the listener in every case.
func Run(ctx context.Context, opts Options) error {
	defer opts.Listener.Close()
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	joined, err := openBus(opts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(opts.DataDir, 0o700); err != nil {
		return fmt.Errorf("making the relay's data folder: %w", err)
	}
	st, err := sqlite.Open(ctx, filepath.Join(opts.DataDir, StoreFile))
	if err != nil {
		return fmt.Errorf("opening the relay's store: %w", err)
	}
	r, err := relay.New(relay.Config{
		PublicURLs: opts.PublicURLs, AllowedOrigins: opts.AllowedOrigins, TrustedProxies: opts.TrustedProxies,
		Store: st, Bus: joined, Logger: opts.Logger, Web: opts.Web, Version: opts.Version,
	})
	if err != nil {
		return errors.Join(err, st.Close())
	}
	err = serve(ctx, r, opts)
	return errors.Join(err, st.Close())
}

// CheckBus tells what is wrong with a value for Options.Bus, or nil. It does not dial.
func CheckBus(servers string) error {
	_, err := openBus(Options{Bus: servers})
	return err
}

// openBus returns nil when there is none.
func openBus(opts Options) (bus.Bus, error) {
	if opts.Bus == "" {
		return nil, nil
	}
	return nats.New(opts.Bus, opts.Logger)
}

func serve(ctx context.Context, r *relay.Relay, opts Options) error {
	server := &http.Server{
		Handler:           r.Handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(opts.Logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(opts.Listener) }()
	opts.Logger.Info("relay is listening", "address", opts.Listener.Addr().String(), "publicURLs", opts.PublicURLs, "version", opts.Version)
	var err error
	select {
	case <-ctx.Done():
		opts.Logger.Info("relay is stopping")
	case err = <-failed:
		err = fmt.Errorf("serving: %w", err)
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if cut := r.Shutdown(stop); cut != nil {
		opts.Logger.Warn("some peers were cut off", "error", cut)
	}
	if server.Shutdown(stop) != nil {
		_ = server.Close() // the deadline has passed
	}
	if err == nil {
		<-failed // Serve has returned
	}
	return err
}
