package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// maxTools bounds the tools of one server.
const maxTools = 128

// retryAfter is how long to wait before a failed server is started again.
const retryAfter = 30 * time.Second

// server is a permitted server. Its goroutine, routine, owns the connection; others read
// the snapshot.
type server struct {
	// Static.
	spec    spec
	folder  string
	signIn  *state.SignInKey // nil if it signs in to nothing
	options *Options
	cancel  context.CancelFunc
	done    chan struct{} // closed when routine has ended
	wanted  chan struct{} // holds one token if a turn wants a failed server
	refused chan struct{} // holds one token if the server asks for a sign-in
	running operations
	inbox   *inbox // nil if it is not a channel
	asking  askings

	mu      sync.Mutex
	state   api.MCPServerState
	reason  string // for people, set with api.MCPFailed
	tools   []*sdk.Tool
	session *sdk.ClientSession
	up      *connection // of a channel
	offers  offers
	settled chan struct{} // closed when the current attempt has ended
	failed  time.Time
	wasUp   bool // the last attempt succeeded in starting
}

// run starts the server's goroutine. The caller waits for done.
func run(ctx context.Context, spec spec, folder string, signIn *state.SignInKey, inbox *inbox, options *Options) *server {
	ctx, cancel := context.WithCancel(ctx)
	s := &server{
		spec: spec, folder: folder, signIn: signIn, inbox: inbox, options: options, cancel: cancel,
		done: make(chan struct{}), wanted: make(chan struct{}, 1), refused: make(chan struct{}, 1), settled: make(chan struct{}), state: api.MCPStarting,
	}
	go s.routine(ctx)
	return s
}

func (s *server) routine(ctx context.Context) {
	defer close(s.done)
	for {
		err := s.serve(ctx)
		s.fail(err)
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, mcpauth.ErrSignIn) {
			s.options.Logger.Warn("an MCP server is not running; `scorel mcp list` shows why", "server", s.spec.name)
		}
		select {
		case <-s.wanted:
		case <-ctx.Done():
			return
		}
	}
}

// want requests another attempt, if the last one is long enough ago or had started
// successfully, and returns a channel to wait on: nil for a server that failed to start
// before.
func (s *server) want() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state != api.MCPFailed && s.state != api.MCPNeedsSignIn {
		return s.settled
	}
	if s.state == api.MCPNeedsSignIn && !s.wasUp {
		return nil // nothing changes until a person signs in
	}
	if !s.wasUp && time.Since(s.failed) < retryAfter {
		return nil
	}
	select {
	case s.wanted <- struct{}{}:
	default: // already requested
	}
	settled := make(chan struct{})
	wait := s.wasUp
	s.state, s.settled, s.wasUp = api.MCPStarting, settled, false
	if !wait {
		return nil
	}
	return settled
}

// fail records the end of an attempt.
func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.session, s.tools, s.offers, s.failed = api.MCPFailed, nil, nil, offers{}, time.Now()
	s.reason = "it exited"
	if err != nil {
		s.reason = err.Error()
	}
	if errors.Is(err, mcpauth.ErrSignIn) {
		s.state, s.reason = api.MCPNeedsSignIn, "a person must sign in: `scorel mcp login "+s.spec.name+"`"
	}
	if s.up != nil {
		close(s.up.ended)
		s.up = nil
	}
	s.settleLocked()
}

// signedIn starts a server again that waits for a sign-in.
func (s *server) signedIn() {
	s.mu.Lock()
	waits := s.state == api.MCPNeedsSignIn
	s.wasUp = s.wasUp || waits
	s.mu.Unlock()
	if waits {
		_ = s.want() // no one waits for it
	}
}

func (s *server) settleLocked() {
	select {
	case <-s.settled:
	default:
		close(s.settled)
	}
}

// ready publishes the tools of a running server.
func (s *server) ready(session *sdk.ClientSession, tools []*sdk.Tool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.reason, s.session, s.tools, s.wasUp = api.MCPReady, "", session, tools, true
	s.settleLocked()
}

// snapshot returns the current state.
func (s *server) snapshot() (state api.MCPServerState, reason string, tools []*sdk.Tool, session *sdk.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.reason, s.tools, s.session
}

// serve starts the server and returns when it ends. The error says why.
func (s *server) serve(ctx context.Context) error {
	expanded, err := s.spec.definition.expand(s.options.Getenv, s.options.Withheld)
	if err != nil {
		return err
	}
	if expanded.Command == "" {
		return s.contact(ctx, expanded)
	}
	child, err := start(expanded, s.folder, s.wrap, s.environment(expanded.Env), s.options.Ledger, procgroup.Owner{Server: s.spec.name})
	if err != nil {
		return err
	}
	defer child.stop()
	err = s.converse(ctx, &sdk.IOTransport{Reader: child.output, Writer: child.input}, child)
	child.stop() // afterwards all of its output is there
	if last := child.errors.last(); last != "" {
		return fmt.Errorf("%w; its last output was: %s", err, last)
	}
	return err
}

// wrap wraps a command line to run in dir inside the sandbox of the server's folder, unless
// config.toml excludes the server. If dir is not the folder, the helper changes to it.
func (s *server) wrap(argv []string, dir string) []string {
	switch {
	case s.spec.unconfined && s.options.Supervise != nil:
		return s.options.Supervise(argv)
	case s.spec.unconfined || s.options.Sandbox == nil:
		return argv
	case dir != s.folder:
		argv = append([]string{"sh", "-c", `cd "$0" && exec "$@"`, dir}, argv...)
	}
	return s.options.Sandbox(argv, s.folder)
}

// converse talks to a server until either side ends the connection.
func (s *server) converse(ctx context.Context, transport sdk.Transport, child *childProcess) error {
	changed := make(chan struct{}, 1)
	client := sdk.NewClient(&sdk.Implementation{Name: "scorel", Version: s.options.Version}, &sdk.ClientOptions{
		// Neither sampling nor roots, which are deprecated.
		Capabilities: &sdk.ClientCapabilities{
			Elicitation:  &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}, URL: &sdk.URLElicitationCapabilities{}},
			Experimental: s.experimental(),
		},
		ElicitationHandler:          s.asking.elicit,
		PromptListChangedHandler:    func(context.Context, *sdk.PromptListChangedRequest) { s.changed() },
		ResourceListChangedHandler:  func(context.Context, *sdk.ResourceListChangedRequest) { s.changed() },
		ProgressNotificationHandler: s.running.progress,
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			select {
			case changed <- struct{}{}:
			default: // already reported
			}
		},
	})
	wire := s.listening(transport)
	session, tools, err := s.connect(ctx, client, wire, child)
	if err != nil {
		return err
	}
	s.linked(session, wire, child)
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	defer func() {
		if child != nil {
			child.stop() // Close would wait for a child that does not exit on its own
		}
		_ = session.Close() // the other side's reaction does not matter
		<-ended
	}()
	s.ready(session, tools)
	for {
		select {
		case <-changed:
			if tools, err = s.list(ctx, session); err != nil {
				return fmt.Errorf("its tools can no longer be listed: %w", err)
			}
			s.ready(session, tools)
		case <-s.refused:
			return mcpauth.ErrSignIn
		case err := <-ended:
			ended <- err // for the waiting goroutine
			return errors.New("it exited")
		case <-ctx.Done():
			return errors.New("it was stopped")
		}
	}
}

// connect performs the steps that must be done within the start timeout.
func (s *server) connect(ctx context.Context, client *sdk.Client, transport sdk.Transport, child *childProcess) (*sdk.ClientSession, []*sdk.Tool, error) {
	limited, cancel := context.WithTimeout(ctx, s.spec.start)
	defer cancel()
	if child != nil { // a server that does not read would not notice the timeout
		defer context.AfterFunc(limited, child.stop)()
	}
	session, err := client.Connect(limited, transport, nil)
	if err != nil {
		return nil, nil, s.explain(ctx, limited, "it does not use MCP", err)
	}
	tools, err := s.list(limited, session)
	if err != nil {
		if child != nil {
			child.stop()
		}
		_ = session.Close()
		return nil, nil, s.explain(ctx, limited, "its tools cannot be listed", err)
	}
	return session, tools, nil
}

func (s *server) explain(ctx, limited context.Context, what string, err error) error {
	switch {
	case ctx.Err() != nil:
		return errors.New("it was stopped")
	case limited.Err() != nil:
		return fmt.Errorf("it did not respond within %d s: raise start_timeout in config.toml if it needs longer", int(s.spec.start.Seconds()))
	}
	return fmt.Errorf("%s: %w", what, err)
}

// list requests the tools and returns the wanted ones, at most maxTools.
func (s *server) list(ctx context.Context, session *sdk.ClientSession) ([]*sdk.Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, s.spec.start)
	defer cancel()
	var tools []*sdk.Tool
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		if s.spec.wants(tool.Name) {
			tools = append(tools, tool)
		}
		if len(tools) > maxTools {
			s.options.Logger.Warn("an MCP server has too many tools", "server", s.spec.name, "limit", maxTools)
			return tools[:maxTools], nil
		}
	}
	return tools, nil
}

// environment returns the host's environment without the providers' keys, plus the
// configured variables.
func (s *server) environment(added map[string]string) []string {
	var env []string
	for _, pair := range s.options.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if _, replaced := added[name]; !replaced {
			env = append(env, pair)
		}
	}
	if root := s.spec.root; root != "" {
		env = append(env, "SCOREL_EXTENSION_ROOT="+root, "CLAUDE_PLUGIN_ROOT="+root)
	}
	for name, value := range added {
		env = append(env, name+"="+value)
	}
	return env
}
