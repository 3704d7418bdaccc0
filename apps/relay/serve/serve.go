// Package serve runs a relay as a process: a store in a data folder, an HTTP server
// on a listener, with TLS or behind a proxy that terminates it, until a context
// ends. Then it drains: peers leave one after another while the rest is served.
// Both the relay's own command and the scorel command use it.
package serve

import (
	"cmp"
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
	"strings"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/bus/nats"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// StoreFile is the name of the store in the data folder.
const StoreFile = "relay.db"

const (
	// drainTogether and drainAlone are the default drain times, with other nodes
	// that accept the peers and without.
	drainTogether = 30 * time.Second
	drainAlone    = 3 * time.Second
	// stopTimeout is how long peers and requests may take to end after that.
	stopTimeout = 10 * time.Second
	// headerTimeout and idleTimeout keep slow or silent clients from holding
	// sockets before the upgrade.
	headerTimeout = 10 * time.Second
	idleTimeout   = 60 * time.Second
	// requestTimeout and answerTimeout limit a request with its body, and a
	// response that is not read. An upgraded connection has its own limits.
	requestTimeout = 20 * time.Second
	answerTimeout  = 2 * time.Minute
	maxHeaderBytes = 16 << 10
)

// Options configures what to serve.
type Options struct {
	Listener       net.Listener // served and closed
	DataDir        string       // of the default store; created with mode 0700 if it does not exist
	Store          string       // URL as of package storeurl, a secret; "" means a SQLite file in DataDir
	PublicURLs     []string
	AllowedOrigins []string
	TrustedProxies []netip.Prefix
	// Bus is the address of the NATS servers that connect this node with others,
	// such as "nats://10.0.0.5:4222"; several are separated by commas. Nodes must
	// share a store. Empty means that there are no other nodes.
	Bus     string
	TLS     TLS
	Guard   Guard
	Web     fs.FS // nil means no web UI
	Docs    fs.FS // nil means no documentation
	Logger  *slog.Logger
	Version string

	// Drain is over how long peers are asked to leave, one after another, when
	// ctx ends: 0 means 30 s with a bus and 3 s without, a negative value all at
	// once.
	Drain time.Duration
	// Device, if set, is the only device that the relay admits, for a relay that runs
	// beside a host.
	Device ident.ID
	// Mount is called with the handler of the relay before the first request is served,
	// so that another server can serve it as well, and with nil when the relay ends. It may
	// be nil.
	Mount func(http.Handler)
	// Ready is called once store, bus, TLS and listener are ready, before the first
	// request is served. Its error ends Run. It may be nil.
	Ready func() error
	// Reload triggers a reload of certificates and settings for each value
	// received. It may be nil. Errors are logged, and the old ones stay in use.
	Reload <-chan os.Signal
	// Settings returns what a reload changes; nil keeps the settings.
	Settings func() (relay.Settings, error)
	// Names returns the PublicURLs that a reload uses; nil keeps them. None keeps the last ones.
	Names func() []string
}

// drainWindow returns Drain or its default.
func (o Options) drainWindow() time.Duration {
	switch {
	case o.Drain != 0:
		return o.Drain
	case o.Bus != "":
		return drainTogether
	}
	return drainAlone
}

// DefaultStore returns the URL of the store in a data folder.
func DefaultStore(dataDir string) string { return storeurl.SQLite(filepath.Join(dataDir, StoreFile)) }

// Plan is a checked set of Options together with the content of the files that they
// name. A reload reads the files again.
type Plan struct {
	opts  Options // with the effective names
	guard guarded
}

// Prepare reads and checks everything possible before anything starts. The error
// says in one sentence what is wrong with the options or with a file.
// Options.Listener and Options.Ready are ignored.
func Prepare(opts Options) (*Plan, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	guard, err := opts.Guard.load()
	if err != nil {
		return nil, err
	}
	if opts.Settings == nil && (opts.Guard.ConfigFile != "" || opts.Guard.AllowFile != "" || opts.Names != nil) {
		flags := opts
		opts.Settings = func() (relay.Settings, error) { return flags.readAgain(guard) }
	}
	called := opts.namesOf(guard.names)
	opts.PublicURLs, opts.AllowedOrigins, opts.TrustedProxies = called.publicURLs, called.allowedOrigins, called.trustedProxies
	settings := relay.Settings{PublicURLs: opts.PublicURLs, AllowedOrigins: opts.AllowedOrigins, Limits: guard.limits}
	if err := settings.Check(); err != nil {
		return nil, err
	}
	if err := opts.TLS.Check(opts.PublicURLs); err != nil {
		return nil, err
	}
	if guard.proxyProtocol {
		if err := checkBelieved(opts.TrustedProxies); err != nil {
			return nil, err
		}
	}
	if err := checkBus(opts.Bus); err != nil {
		return nil, err
	}
	if opts.Bus != "" && strings.HasPrefix(opts.storeURL(), "sqlite:") {
		return nil, errors.New("nodes on a bus must share one store, and SQLite is local to one machine: use a PostgreSQL store, as in postgres://user:password@host/database")
	}
	return &Plan{opts, guard}, nil
}

func (opts Options) storeURL() string { return cmp.Or(opts.Store, DefaultStore(opts.DataDir)) }

// PublicURLs returns the effective addresses: those of the options, or else those
// of the configuration.
func (plan *Plan) PublicURLs() []string { return plan.opts.PublicURLs }

// Run is Prepare and Plan.Run for a caller that already has the listener. It closes
// the listener in every case.
func Run(ctx context.Context, opts Options) error {
	plan, err := Prepare(opts)
	if err != nil {
		return errors.Join(err, opts.Listener.Close())
	}
	return plan.Run(ctx, opts.Listener, opts.Ready)
}

// Run serves on a listener until ctx ends, then says goodbye to the peers and
// returns nil. Any other end is an error. It closes the listener in every case.
// ready is as in Options.Ready.
func (plan *Plan) Run(ctx context.Context, listener net.Listener, ready func() error) error {
	defer listener.Close()
	opts, guard := plan.opts, plan.guard
	opts.Listener, opts.Ready = &watched{Listener: listener, log: opts.Logger}, ready
	var proxies *believed
	if guard.proxyProtocol {
		proxies = new(believed)
		proxies.set(opts.TrustedProxies)
		opts.Listener = proxies.listen(opts.Listener)
	}
	own := newMetrics()
	secured, err := secure(opts, own)
	if err != nil {
		return err
	}
	joined, err := openBus(opts)
	if err != nil {
		return err
	}
	lock, err := lockStore(opts.storeURL(), listener.Addr())
	if err != nil {
		return err
	}
	defer lock.release()
	st, err := openStore(ctx, opts)
	if err != nil {
		return err
	}
	guard.admission.Device = opts.Device
	r, err := relay.New(relay.Config{
		PublicURLs: opts.PublicURLs, AllowedOrigins: opts.AllowedOrigins, TrustedProxies: opts.TrustedProxies,
		Store: st, Bus: joined, Logger: opts.Logger, Web: opts.Web, Docs: opts.Docs, Version: opts.Version,
		Admission: guard.admission, Limits: guard.limits, Nodes: guard.nodes,
		Collectors: own.collectors(),
	})
	if err != nil {
		return errors.Join(err, st.Close())
	}
	if opts.Mount != nil {
		opts.Mount(r.Handler())
		defer opts.Mount(nil)
	}
	waitForMetrics, err := guard.serveMetrics(ctx, r, opts.Logger)
	if err != nil {
		return errors.Join(err, r.Shutdown(ctx), st.Close())
	}
	p := &process{relay: r, opts: opts, handler: guard.handler(r), secured: secured, proxies: proxies, metrics: own}
	err = p.run(ctx)
	waitForMetrics()
	return errors.Join(err, st.Close())
}

func openStore(ctx context.Context, opts Options) (storeurl.Archive, error) {
	st, err := storeurl.Open(ctx, opts.storeURL())
	if err != nil {
		return st, fmt.Errorf("opening the relay's store: %w", err)
	}
	opts.Logger.Info("store is open", "store", st.Place)
	return st, nil
}

// checkBus returns what is wrong with a value for Options.Bus, or nil. It does not
// dial.
func checkBus(servers string) error {
	_, err := openBus(Options{Bus: servers})
	return err
}

// openBus returns nil if there is no bus.
func openBus(opts Options) (bus.Bus, error) {
	if opts.Bus == "" {
		return nil, nil
	}
	return nats.New(opts.Bus, opts.Logger)
}
