// Package editors serves editors: it speaks the Agent Client Protocol (docs/editors.md) to one on
// its standard input and output, and is a client of a host like any other. What the editor sees
// is derived from the session's log and events, so after a lost connection it gets what it has
// not seen, once.
package editors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxSessions bounds the sessions that are open in one editor.
const maxSessions = 64

// Config says how to reach the host, and what sessions are about.
type Config struct {
	Input  io.Reader
	Output io.WriteCloser
	Feed   feed.Config // without Notify
	// Project names the project of new sessions: its id, or its folder on the host's machine.
	// "" means that of the editor's folder.
	Project string
	// Local means that the host runs on this machine, so that folders of the editor are its own.
	Local   bool
	Version string
	Sign    func(sessionID string, approval api.Approval, decision api.Decision) (*session.AnswerSignature, error)
	Logger  *slog.Logger
}

// Run serves the editor until it closes its side, or ctx ends.
func Run(ctx context.Context, cfg Config) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{cfg: cfg, ctx: ctx, sessions: map[string]*open{}, ready: make(chan struct{})}
	s.cfg.Feed.Notify = func() {}
	s.host = feed.New(s.hostConfig(), "")
	s.work.Go(func() { s.host.Run(ctx) })
	s.conn = acp.New(cfg.Input, cfg.Output, s, acp.Options{Garbage: func(line []byte) {
		cfg.Logger.Warn("a line from the editor is no message", "bytes", len(line))
	}})
	close(s.ready)
	select {
	case <-ctx.Done():
	case <-s.conn.Ended():
	}
	err := s.conn.Err()
	cancel()
	flush, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer stop()
	_ = s.conn.Flush(flush) // the editor may be gone
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = s.conn.Close()
	}()
	select {
	case <-closed:
	case <-flush.Done(): // nothing interrupts reading from a terminal: it ends with the process
	}
	s.work.Wait()
	if errors.Is(err, io.EOF) || errors.Is(err, acp.ErrClosed) {
		return nil
	}
	return err
}

// server is the agent's side of one editor.
type server struct {
	cfg   Config
	ctx   context.Context // ends the sessions
	conn  *acp.Conn
	ready chan struct{} // closed once conn is set
	host  *feed.Feed    // for requests
	work  sync.WaitGroup

	mu       sync.Mutex
	client   acp.ClientCapabilities
	info     *api.HostInfo
	sessions map[string]*open
}

// hostConfig takes what the connection for requests learns about the host, and drops its events.
func (s *server) hostConfig() feed.Config {
	cfg := s.cfg.Feed
	cfg.Unattended = true
	cfg.Notify = func() {
		for _, update := range s.host.Take() {
			switch u := update.(type) {
			case feed.Connected:
				s.mu.Lock()
				s.info = &u.Host
				s.mu.Unlock()
			case feed.Disconnected:
				s.cfg.Logger.Warn("the connection to the host was lost; reconnecting", "error", u.Err)
			case feed.Failed:
				s.cfg.Logger.Error("the host cannot be used", "error", u.Err)
			}
		}
	}
	return cfg
}

// do sends a request to the host. It waits for a connection and repeats the request if that is
// lost.
func do[Request, Response any](ctx context.Context, s *server, to api.Definition[Request, Response], request Request) (Response, error) {
	response, err := feed.Do(ctx, s.host, to, request)
	return response, forEditor(err)
}

// forEditor turns an error into one that editors show well.
func forEditor(err error) error {
	var refused *api.Error
	var already *acp.Error
	switch {
	case err == nil || errors.As(err, &already):
		return err
	case errors.As(err, &refused) && refused.Kind == api.KindNotFound:
		return acp.Errorf(acp.CodeNotFound, "%s", refused.Message)
	case errors.As(err, &refused) && refused.Kind == api.KindBadRequest:
		return acp.Errorf(acp.CodeInvalidParams, "%s", refused.Message)
	case errors.As(err, &refused):
		return acp.Errorf(acp.CodeInternal, "%s", refused.Message)
	}
	return err
}

// hostInfo describes the host.
func (s *server) hostInfo(ctx context.Context) (api.HostInfo, error) {
	s.mu.Lock()
	info := s.info
	s.mu.Unlock()
	if info != nil {
		return *info, nil
	}
	response, err := do(ctx, s, api.GetHost, api.Empty{})
	return response.Host, err
}

func (s *server) capabilities() acp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

// session returns an open session.
func (s *server) session(id string) (*open, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.sessions[id]; o != nil {
		return o, nil
	}
	return nil, acp.Errorf(acp.CodeNotFound, "no session %.80q is open here: create, load or resume it first", id)
}

// attach follows a session from now on. One that is open already is left first.
func (s *server) attach(ctx context.Context, id, cwd string, replay bool) (*open, error) {
	s.detach(id)
	o := newOpen(s, id, cwd, replay)
	s.mu.Lock()
	full := len(s.sessions) >= maxSessions
	if !full {
		s.sessions[id] = o
	}
	s.mu.Unlock()
	if full {
		return nil, acp.Errorf(acp.CodeInternal, "%d sessions are open in this editor: close one first", maxSessions)
	}
	s.work.Go(o.run)
	select {
	case <-o.loaded:
		return o, nil
	case <-o.ended:
		s.detach(id)
		return nil, forEditor(o.failure())
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-s.ctx.Done():
		return nil, fmt.Errorf("scorel is ending")
	}
}

// detach stops following a session. Its running turn continues on the host.
func (s *server) detach(id string) {
	s.mu.Lock()
	o := s.sessions[id]
	delete(s.sessions, id)
	s.mu.Unlock()
	if o != nil {
		o.cancel()
		<-o.ended
	}
}
