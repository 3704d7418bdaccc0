package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Config says how a host runs. Home is required; the zero value of every other
// field is a useful default.
type Config struct {
	Home     string              // absolute; the folder that SCOREL_HOME names
	RelayURL string              // "" is the relay_url of config.toml
	Invite   string              // to the relay, if it asks newcomers for one; "" is the invite of config.toml
	NoRelay  bool                // run without a relay, whatever RelayURL is
	Listen   string              // loopback address for direct connections; "" is 127.0.0.1:0
	Label    string              // shown to people; "" is the machine's name
	Version  string              // of the program
	Logger   *slog.Logger        // nil is silent
	Projects []string            // absolute paths of folders to add at the start
	Replace  bool                // end a live host on this home first, and wait until it has ended
	Getenv   func(string) string // nil is os.Getenv
	// Helper is the absolute path of a program whose main function gives the
	// arguments behind SandboxHelper to EnterSandbox; "" runs commands without a
	// sandbox.
	Helper string

	// beneath, where a test sets it, is put around every provider of sessions.
	beneath func(store.Provider) store.Provider
}

// Host is a host that has its parts and is not running yet, or is.
type Host struct {
	// Static after New.
	cfg      Config
	label    string
	log      *slog.Logger
	paths    state.Paths
	lock     *state.Lock
	keys     *ident.Private
	projects *state.Projects
	clients  *state.Clients
	trust    *state.Trust
	sandbox  *sandbox.Sandbox
	ledger   *procgroup.Ledger // of what it runs; nil where the system knows none

	permissions *permissions

	tokens   *state.Tokens
	models   *models
	sessions *sessions.Manager
	process  *process.Logs
	mcp      *mcp.Manager
	hub      *hub
	uplink   *uplink
	pairings *pairings
	serve    map[string]handler
	listener net.Listener
	token    string
	ready    chan struct{}
	stop     context.CancelCauseFunc // ends Run
	stopCtx  context.Context

	// The uplink and the direct connections, which Run waits for.
	wg      sync.WaitGroup
	gateMu  sync.Mutex
	closing bool // no direct connection may begin
}

// enter counts a direct connection in; false when Run is ending.
func (h *Host) enter() bool {
	h.gateMu.Lock()
	defer h.gateMu.Unlock()
	if h.closing {
		return false
	}
	h.wg.Add(1)
	return true
}

// drain waits for everything that Run started.
func (h *Host) drain() {
	h.gateMu.Lock()
	h.closing = true
	h.gateMu.Unlock()
	h.wg.Wait()
}

// LiveError says that a host runs on this home already.
type LiveError struct{ PID int }

func (e *LiveError) Error() string {
	return fmt.Sprintf("a host runs on this home already (process %d): stop it with `scorel host stop`, or give --replace", e.PID)
}

// errStopped is the cause of an orderly end.
var errStopped = errors.New("the host was asked to stop")

// New is NewContext for who waits for a live host to end as long as that takes.
func New(cfg Config) (*Host, error) { return NewContext(context.Background(), cfg) }

// NewContext takes the lock of the home and loads all that is kept there. Close, or
// Run, releases it. The error is a *LiveError when another host holds the lock. ctx
// ends the wait for a host that is replaced, and nothing else. A config.toml that is
// wrong leaves that one running.
func NewContext(ctx context.Context, cfg Config) (*Host, error) {
	h := &Host{
		cfg: cfg, log: cfg.Logger, paths: state.Paths{Home: cfg.Home}, hub: newHub(), ready: make(chan struct{}),
		token: rand.Text(),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.stopCtx, h.stop = context.WithCancelCause(context.Background())
	if !filepath.IsAbs(cfg.Home) {
		return nil, fmt.Errorf("the home folder %q is not an absolute path", cfg.Home)
	}
	if err := os.MkdirAll(cfg.Home, 0o700); err != nil {
		return nil, fmt.Errorf("the home folder cannot be made: %w", err)
	}
	getenv := cfg.Getenv
	if getenv == nil {
		getenv = os.Getenv
	}
	var err error
	if h.models, err = loadModels(h.paths.Config(), getenv); err != nil {
		return nil, err
	}
	if h.lock, err = takeLock(ctx, h.paths, cfg.Replace); err != nil {
		return nil, err
	}
	if err := h.load(getenv); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

func (h *Host) relayURL() string {
	if h.cfg.NoRelay {
		return ""
	}
	return cmp.Or(h.cfg.RelayURL, h.models.config.RelayURL)
}

func (h *Host) invite() string { return cmp.Or(h.cfg.Invite, h.models.config.Invite) }

// labelOf makes a label that the wire accepts.
func labelOf(label string) string {
	if label == "" {
		label, _ = os.Hostname()
	}
	if wire.CheckLabel(label) != nil {
		return "scorel host"
	}
	return label
}

// Close releases what New took, for a host that does not run.
func (h *Host) Close() error {
	h.stop(errStopped)
	var errs []error
	if h.sessions != nil {
		errs = append(errs, h.sessions.Close())
	}
	if h.mcp != nil {
		h.mcp.Close()
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

// DefaultModel describes the model that answers where none is chosen.
func (h *Host) DefaultModel() api.Model { return h.models.defaultModel() }

// State is what the local command line is told of this host.
func (h *Host) State() State {
	return State{
		PID: os.Getpid(), Addr: h.listener.Addr().String(), Token: h.token, DeviceID: h.keys.ID(), Label: h.label,
		Version: h.cfg.Version, RelayURL: h.uplink.url, StartedAt: time.Now().UnixMilli(),
	}
}

// Run serves until ctx ends or somebody on this machine asks the host to stop. It
// returns when every connection and turn has ended and the home is released.
func (h *Host) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopAfter := context.AfterFunc(h.stopCtx, func() { cancel(errStopped) })
	defer stopAfter()

	err := h.run(ctx, cancel)
	h.drain()
	err = errors.Join(err, state.RemoveRun(h.paths), h.Close())
	if cause := context.Cause(ctx); errors.Is(cause, errStopped) || errors.Is(cause, context.Canceled) {
		return err
	}
	return errors.Join(err, context.Cause(ctx))
}

func (h *Host) run(ctx context.Context, cancel context.CancelCauseFunc) error {
	if err := state.WriteRun(h.paths, h.State()); err != nil {
		cancel(err)
		return err
	}
	h.wg.Go(func() { h.uplink.run(ctx) })
	return h.serveDirect(ctx)
}

// tell broadcasts an event of the host.
func (h *Host) tell(event api.Event) {
	if err := h.hub.broadcast(event); err != nil {
		h.log.Error("telling the entries", "event", event.EventType(), "error", err)
	}
}
