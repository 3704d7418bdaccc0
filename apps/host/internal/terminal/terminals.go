package terminal

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

var none = api.Empty{}

// Patience is how long a connection that acknowledges nothing may hold up a shell.
const Patience = 10 * time.Second

// Options are the parts that terminals work with. All are required.
type Options struct {
	Logger   *slog.Logger
	Projects *state.Projects
	// Session returns the project of a session, with the folder that the session works in. The
	// error is an *api.Error.
	Session func(sessionID string) (api.Project, error)
	// Changed is called when the terminals of a client were opened or removed. It does not block.
	Changed func(clientID string)
	// Allowed reports whether a client has the grant now, by the list of clients.
	Allowed func(clientID string) bool
	// Environ is the environment of shells.
	Environ func() []string
	// Home is where a shell starts without a project.
	Home     string
	Patience time.Duration
}

// Terminals answers the requests about terminals and owns their shells.
type Terminals struct {
	options Options
	running sync.WaitGroup

	mu     sync.Mutex
	list   []*terminal // oldest first
	closed bool
}

// New makes the handlers. Close ends all shells.
func New(o Options) *Terminals { return &Terminals{options: o} }

// Endpoints are the requests about terminals.
func (t *Terminals) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.OpenTerminal, t.open),
		dispatch.Serve(api.ListTerminals, t.listTerminals),
		dispatch.ServeLater(api.AttachTerminal, t.attach),
		dispatch.Serve(api.DetachTerminal, t.detach),
		dispatch.Serve(api.AckTerminal, t.ack),
		dispatch.Serve(api.WriteTerminal, t.write),
		dispatch.Serve(api.ResizeTerminal, t.resize),
		dispatch.Serve(api.CloseTerminal, t.closeTerminal),
	}
}

// open starts a shell. The grant is checked again under the lock that Recheck takes, so that
// a shell that starts while the grant is revoked ends too.
func (t *Terminals) open(_ context.Context, c *dispatch.Conn, r api.OpenTerminalRequest) (response api.TerminalResponse, err error) {
	cwd, err := t.folder(&r)
	if err != nil {
		return response, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.options.Allowed(c.ClientID()) {
		return response, c.Lacks(api.GrantShell, "a terminal")
	}
	for _, have := range t.list {
		if have.clientID == c.ClientID() && have.clientKey == r.ClientKey {
			return api.TerminalResponse{Terminal: have.described()}, nil
		}
	}
	if err := t.makeRoom(c.ClientID()); err != nil {
		return response, err
	}
	opened, err := t.start(c.ClientID(), cwd, r)
	if err != nil {
		return response, err
	}
	t.list = append(t.list, opened)
	t.running.Go(opened.run)
	t.options.Logger.Info("terminal opened", "client", opened.clientID, "terminal", opened.id, "project", opened.projectID, "session", opened.sessionID)
	t.options.Changed(opened.clientID)
	return api.TerminalResponse{Terminal: opened.described()}, nil
}

// folder returns where a shell starts, and sets the project of the request.
func (t *Terminals) folder(r *api.OpenTerminalRequest) (string, error) {
	var project api.Project
	var err error
	switch {
	case r.SessionID != "":
		if project, err = t.options.Session(r.SessionID); err == nil {
			r.ProjectID = project.ID
		}
	case r.ProjectID != "":
		project, err = t.options.Projects.Find(r.ProjectID)
	default:
		project.Path = t.options.Home
	}
	return project.Path, err
}

// makeRoom checks the limits, and removes the oldest ended terminal of the client, or else
// of anyone, where that is enough. The caller holds mu.
func (t *Terminals) makeRoom(clientID string) error {
	if t.closed {
		return api.Errorf(api.KindUnavailable, "the host is stopping")
	}
	mine := func(have *terminal) bool { return have.clientID == clientID }
	if count(t.list, mine) >= api.MaxTerminals && !t.forgetEnded(mine) {
		return api.Errorf(api.KindTooLarge, "this client already has %d terminals: close one first", api.MaxTerminals)
	}
	if len(t.list) >= api.MaxAllTerminals && !t.forgetEnded(func(*terminal) bool { return true }) {
		return api.Errorf(api.KindTooLarge, "%d terminals are already open on this machine: close one first", api.MaxAllTerminals)
	}
	return nil
}

func count(list []*terminal, matches func(*terminal) bool) (n int) {
	for _, have := range list {
		if matches(have) {
			n++
		}
	}
	return n
}

// forgetEnded removes the oldest ended terminal that matches. The caller holds mu.
func (t *Terminals) forgetEnded(matches func(*terminal) bool) bool {
	i := slices.IndexFunc(t.list, func(have *terminal) bool {
		select {
		case <-have.ended:
			return matches(have)
		default:
			return false
		}
	})
	if i < 0 {
		return false
	}
	t.list[i].dropViewers()
	t.options.Changed(t.list[i].clientID)
	t.list = slices.Delete(t.list, i, i+1)
	return true
}

func (t *Terminals) start(clientID, cwd string, r api.OpenTerminalRequest) (*terminal, error) {
	cmd, master, err := start(cwd, t.options.Environ(), r.Cols, r.Rows)
	if err != nil {
		var refused *api.Error
		if errors.As(err, &refused) {
			return nil, err
		}
		if _, statErr := os.Stat(cwd); statErr != nil {
			return nil, api.Errorf(api.KindInvalidPath, "the folder %s does not exist", cwd)
		}
		return nil, api.Errorf(api.KindUnavailable, "the terminal cannot be opened: %v", err)
	}
	return &terminal{
		log: t.options.Logger, id: "trm_" + rand.Text(), clientID: clientID, clientKey: r.ClientKey, projectID: r.ProjectID, sessionID: r.SessionID,
		cwd: cwd, createdAt: time.Now().UnixMilli(), patience: t.options.Patience, cmd: cmd, master: master,
		wake: make(chan struct{}, 1), typed: make(chan struct{}, 1), hungUp: make(chan struct{}), ended: make(chan struct{}),
		cols: r.Cols, rows: r.Rows, viewers: map[*dispatch.Conn]*viewer{},
	}, nil
}

func (t *Terminals) listTerminals(_ context.Context, c *dispatch.Conn, _ api.Empty) (api.ListTerminalsResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	terminals := []api.Terminal{}
	for _, have := range t.list {
		if have.clientID == c.ClientID() {
			terminals = append(terminals, have.described())
		}
	}
	return api.ListTerminalsResponse{Terminals: terminals}, nil
}

// find returns a terminal of the connection's client. That of another client does not exist
// for it.
func (t *Terminals) find(c *dispatch.Conn, id string) (*terminal, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, have := range t.list {
		if have.id == id && have.clientID == c.ClientID() {
			return have, nil
		}
	}
	return nil, api.Errorf(api.KindNotFound, "this client has no terminal %.64q: it was closed, or the host was restarted", id)
}

func (t *Terminals) attach(_ context.Context, c *dispatch.Conn, r api.AttachTerminalRequest, reply func(api.AttachTerminalResponse)) error {
	found, err := t.find(c, r.TerminalID)
	if err != nil {
		return err
	}
	return attachTo(found, c, r.Offset, reply)
}

func (t *Terminals) detach(ctx context.Context, c *dispatch.Conn, r api.TerminalRequest) (api.Empty, error) {
	c.Unsubscribe(ctx, subscription(r.TerminalID))
	return none, nil
}

func (t *Terminals) ack(_ context.Context, c *dispatch.Conn, r api.AckTerminalRequest) (api.Empty, error) {
	found, err := t.find(c, r.TerminalID)
	if err != nil {
		return none, err
	}
	return none, found.ack(c, r.Offset)
}

func (t *Terminals) write(_ context.Context, c *dispatch.Conn, r api.WriteTerminalRequest) (api.Empty, error) {
	found, err := t.find(c, r.TerminalID)
	if err != nil {
		return none, err
	}
	return none, found.write(r.Data)
}

func (t *Terminals) resize(_ context.Context, c *dispatch.Conn, r api.ResizeTerminalRequest) (response api.TerminalResponse, err error) {
	found, err := t.find(c, r.TerminalID)
	if err != nil {
		return response, err
	}
	response.Terminal, err = found.resize(r.Cols, r.Rows)
	return response, err
}

// closeTerminal ends the shell and removes the terminal. It does not wait for the shell.
func (t *Terminals) closeTerminal(_ context.Context, c *dispatch.Conn, r api.TerminalRequest) (api.Empty, error) {
	found, err := t.find(c, r.TerminalID)
	if err != nil {
		return none, err
	}
	t.remove(func(have *terminal) bool { return have == found }, api.TerminalClosed)
	return none, nil
}

// remove ends the shells that match and removes their terminals.
func (t *Terminals) remove(matches func(*terminal) bool, reason api.TerminalReason) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = slices.DeleteFunc(t.list, func(have *terminal) bool {
		if !matches(have) {
			return false
		}
		have.hangUp(reason)
		t.options.Changed(have.clientID)
		return true
	})
}

// Recheck ends the shells of a client that no longer has the grant. It is called after the
// list of clients has changed.
func (t *Terminals) Recheck(clientID string) {
	if !t.options.Allowed(clientID) {
		t.remove(func(have *terminal) bool { return have.clientID == clientID }, api.TerminalRevoked)
	}
}

// Close ends all shells and waits for them.
func (t *Terminals) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.remove(func(*terminal) bool { return true }, api.TerminalStopped)
	t.running.Wait()
}
