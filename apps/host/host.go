package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/attention"
	"github.com/scorel/scorel/apps/host/internal/awake"
	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/blobs"
	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/chats"
	"github.com/scorel/scorel/apps/host/internal/clients"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/httpapi"
	"github.com/scorel/scorel/apps/host/internal/listener"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/models"
	"github.com/scorel/scorel/apps/host/internal/moves"
	"github.com/scorel/scorel/apps/host/internal/schedule"
	"github.com/scorel/scorel/apps/host/internal/secrets"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/terminal"
	"github.com/scorel/scorel/apps/host/internal/uplink"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Config says how a host runs. Home is required; the zero value of every other
// field is a useful default.
type Config struct {
	Home string // absolute; the folder that SCOREL_HOME names
	// RelayURLs are the relays, in the order of preference; none means those of
	// config.toml.
	RelayURLs []string
	Invite    string              // to the first relay, if it asks newcomers for one; "" is the invite of config.toml
	NoRelay   bool                // run without a relay, whatever RelayURLs has
	Listen    string              // loopback address for direct connections; "" is 127.0.0.1:0
	Beside    *Beside             // a relay that runs beside the host, for it alone; nil means none
	Label     string              // shown to people; "" is the machine's name
	Version   string              // of the program
	Logger    *slog.Logger        // nil is silent
	Projects  []string            // absolute paths of folders to add at the start
	Replace   bool                // end a live host on this home first, and wait until it has ended
	Getenv    func(string) string // nil is os.Getenv
	// Restarts tells that the caller of Run executes the program again after ErrRestart.
	Restarts bool
	Args     []string // of this program, to start it again with; kept in run/host.json
	Folder   string   // in which it was started; kept there too
	// Helper is the absolute path of a program whose main function gives the
	// arguments behind SandboxHelper to EnterSandbox; "" runs commands without a
	// sandbox.
	Helper string
	// MoveStep, if not nil, is called when a move of a session has reached a step that
	// survives a crash, with its name. It may end the process.
	MoveStep func(step string)
	// PushHTTP, if not nil, reaches push services in place of the guarded client, for tests
	// with a service of their own.
	PushHTTP *http.Client

	// beneath, if a test sets it, wraps every provider of sessions.
	beneath func(store.Provider) store.Provider
	// openPlatform, if a test sets it, makes the platforms of channels.
	openPlatform func(kind string, settings map[string]string, public bool) (channel.Platform, error)
	// burst, if a test sets it, is how long what needs a person is collected before anyone is notified.
	burst time.Duration
	// chatStep, if a test sets it, is called after each change of the file of a channel.
	chatStep func()
}

// Beside is a relay in this process that serves this host alone, so that the host can be
// reached without any other relay. It is trusted no more than others. Its caller runs it.
type Beside struct {
	Dial func(ctx context.Context) (net.Conn, error) // connects to it
	// Network returns the URLs at which other machines reach it. When they change, the caller
	// calls PathsChanged.
	Network func() []string
	// Page, if not nil, is its handler: the host serves the page and the wire at its own
	// loopback address too.
	Page http.Handler
}

// Host has its parts and is not running yet, or runs. It keeps the parts that it runs,
// closes or describes; wiring connects the others.
type Host struct {
	// Static after New.
	cfg       Config
	config    state.Config // of config.toml
	name      *state.Name
	log       *slog.Logger
	paths     state.Paths
	lock      *state.Lock
	keys      *ident.Private
	models    *models.Models
	modelKeys *secrets.Keys
	sessions  *sessions.Manager
	blobs     *blobs.Store
	mcp       *mcp.Manager
	backends  *backend.Backends
	hub       *dispatch.Hub
	uplinks   *uplink.Uplinks
	listener  *listener.Listener
	terminals *terminal.Terminals
	http      *httpapi.Server
	clientAPI *clients.Clients
	moves     *moves.Moves
	scheduler *schedule.Scheduler
	attention *attention.Attention
	chats     *chats.Chats
	awake     *awake.Keeper // nil if the machine may sleep while turns run
	observing observing
	token     string // of the local command line
	startedAt time.Time
	rerouted  chan struct{} // holds one token if the paths changed
	paused    chan struct{} // holds one token if the sessions were held
	ready     chan struct{}
	stop      context.CancelCauseFunc // ends Run
	stopCtx   context.Context

	wg sync.WaitGroup // of the goroutines that Run waits for
}

// LiveError means that a host runs on this home already.
type LiveError struct{ PID int }

func (e *LiveError) Error() string {
	return fmt.Sprintf("a host is already running on this home (process %d): stop it with `scorel host stop`, or use --replace", e.PID)
}

// ConfigError describes a fault of the configuration. New has done nothing then.
type ConfigError = state.ConfigError

// ErrRestart is the error of Run if the program is to be executed again.
var ErrRestart = errors.New("the host is to begin again")

// errStopped is the cause of an orderly end.
var errStopped = errors.New("the host was asked to stop")

// New takes the lock of the home and loads the data that is kept there. Close, or Run,
// releases the lock. The error is a *LiveError when another host holds it. ctx ends the
// wait for a host that is being replaced, and nothing else. An invalid config.toml leaves
// the other host running.
func New(ctx context.Context, cfg Config) (*Host, error) {
	h := &Host{
		cfg: cfg, log: cfg.Logger, paths: state.Paths{Home: cfg.Home}, ready: make(chan struct{}),
		token: rand.Text(), startedAt: time.Now(), rerouted: make(chan struct{}, 1), paused: make(chan struct{}, 1),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.stopCtx, h.stop = context.WithCancelCause(context.Background())
	if !filepath.IsAbs(cfg.Home) {
		return nil, fmt.Errorf("the home folder %q is not an absolute path", cfg.Home)
	}
	if err := os.MkdirAll(cfg.Home, 0o700); err != nil {
		return nil, fmt.Errorf("the home folder cannot be created: %w", err)
	}
	getenv := cfg.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	var err error
	if h.modelKeys, err = secrets.LoadKeys(cfg.Home, getenv, h.log); err != nil {
		return nil, err
	}
	if h.config, err = state.LoadConfig(h.paths.Config(), h.modelKeys.Getenv); err != nil {
		return nil, err
	}
	if h.models, err = models.New(h.config); err != nil {
		return nil, err
	}
	if h.lock, err = takeLock(ctx, h.paths, cfg.Replace); err != nil {
		return nil, err
	}
	if err := (&wiring{Host: h, getenv: getenv}).connect(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Close releases what New took, for a host that does not run.
func (h *Host) Close() error {
	h.stop(errStopped)
	var errs []error
	if h.terminals != nil {
		h.terminals.Close()
	}
	if h.sessions != nil {
		errs = append(errs, h.sessions.Close())
	}
	if h.mcp != nil {
		h.mcp.Close()
	}
	if h.backends != nil {
		h.backends.Close()
	}
	if l := h.observing.listener; l != nil {
		_ = l.Close() // its server has closed it, if it ran
	}
	if h.listener != nil {
		if err := h.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, h.lock.Release())...)
}

// Ready is closed when the host accepts direct connections.
func (h *Host) Ready() <-chan struct{} { return h.ready }

// DeviceID is the host's public id.
func (h *Host) DeviceID() ident.ID { return h.keys.ID() }

// PathsChanged notifies the clients that the addresses of the relay beside the host changed.
func (h *Host) PathsChanged() {
	select {
	case h.rerouted <- struct{}{}:
	default: // it will see this change too
	}
}

// State describes this host to the local command line.
func (h *Host) State() State {
	relay, _ := h.uplinks.Status()
	return State{
		PID: os.Getpid(), Addr: h.listener.Addr().String(), Token: h.token, DeviceID: h.keys.ID(), Label: h.name.Current(),
		Version: h.cfg.Version, RelayURL: relay, Relays: h.uplinks.URLs(), StartedAt: h.startedAt.UnixMilli(), Args: h.cfg.Args, Folder: h.cfg.Folder,
	}
}

// Run serves until ctx ends or a local client asks the host to stop. It returns when
// every connection and turn has ended and the home is released. The error is ErrRestart if a
// local client asked for that.
func (h *Host) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopAfter := context.AfterFunc(h.stopCtx, func() { cancel(context.Cause(h.stopCtx)) })
	defer stopAfter()

	err := h.run(ctx)
	cause := context.Cause(ctx)
	cancel(err)
	h.wg.Wait()
	err = errors.Join(err, state.RemoveRun(h.paths), h.Close())
	if cause == nil || errors.Is(cause, errStopped) || errors.Is(cause, context.Canceled) {
		return err
	}
	return errors.Join(err, cause)
}

func (h *Host) run(ctx context.Context) error {
	if err := state.WriteRun(h.paths, h.State()); err != nil {
		return err
	}
	h.wg.Go(func() { h.uplinks.Run(ctx) })
	h.wg.Go(func() { h.maintain(ctx) })
	h.wg.Go(func() { h.moves.Run(ctx) })
	h.wg.Go(func() { h.scheduler.Run(ctx) })
	h.wg.Go(func() { h.attention.Run(ctx) })
	h.wg.Go(func() { h.chats.Run(ctx) })
	h.wg.Go(func() { h.clientAPI.Expire(ctx) })
	h.wg.Go(func() { h.reroute(ctx) })
	h.wg.Go(func() { h.unpause(ctx) })
	if h.awake != nil {
		h.wg.Go(func() { h.awake.Run(ctx) })
	}
	h.observe(ctx)
	return h.http.Run(ctx, h.listener, func() { close(h.ready) })
}

// reroute tells commands of this machine and clients about changed paths, until ctx ends.
func (h *Host) reroute(ctx context.Context) {
	for {
		select {
		case <-h.rerouted:
		case <-ctx.Done():
			return
		}
		if err := state.WriteRun(h.paths, h.State()); err != nil {
			h.log.Warn("recording the paths of this host", "error", err)
		}
		h.hub.Notify(api.PathsChanged{})
	}
}

// maintainEvery is the interval between two runs of maintain's work.
const maintainEvery = time.Hour

// maintain removes uploads that no prompt used, and records which clients are connected,
// until ctx ends.
func (h *Host) maintain(ctx context.Context) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	for {
		if err := h.blobs.Collect(); err != nil {
			h.log.Warn("removing old uploads", "error", err)
		}
		h.clientAPI.SeenOnline()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
