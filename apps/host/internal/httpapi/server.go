package httpapi

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/listener"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Limits of the direct listener.
const (
	headerTimeout  = 10 * time.Second // until the head of a request is there
	smallTimeout   = 10 * time.Second // until a small body is there, or one that no handler reads
	bodyTimeout    = time.Minute      // until another body, or a message of a WebSocket, is there
	refuseTimeout  = time.Second      // for the body of a request that was refused
	idleTimeout    = 2 * time.Minute  // between two requests on one connection
	maxHeaderBytes = 16 << 10
	// shutdownPatience is how long answers that are being written hold up the end.
	shutdownPatience = 2 * time.Second
)

// caller identifies the sender of a direct request, and its grants.
type caller struct {
	id     string // dispatch.LocalID, or the id of a token
	grants []api.Grant
}

// Sessions are the requests that the adapter makes on behalf of a caller.
type Sessions interface {
	ResyncEvents(context.Context, *dispatch.Conn, api.ResyncEventsRequest, func(api.ResyncEventsResponse)) error
	GetEntries(context.Context, *dispatch.Conn, api.GetEntriesRequest) (api.GetEntriesResponse, error)
	SendPrompt(context.Context, *dispatch.Conn, api.SendPromptRequest) (api.SendPromptResponse, error)
}

// Options are the parts that a Server works with. All but Page are required.
type Options struct {
	Logger     *slog.Logger
	Dispatcher *dispatch.Dispatcher
	Sessions   Sessions
	Tokens     *state.Tokens
	LocalToken string // of this machine's user; it has every grant
	Triggers   Triggers
	// Page serves the page and the relay's wire to clients without a token; nil serves
	// neither.
	Page http.Handler
}

// Server serves direct connections.
type Server struct {
	// Static after New.
	log        *slog.Logger
	dispatcher *dispatch.Dispatcher
	sessions   Sessions
	tokens     *state.Tokens
	localToken string
	intake     *intake
	triggers   Triggers
	page       http.Handler // nil for none

	requests sync.WaitGroup // that are being served
	mu       sync.Mutex
	closing  bool // no request may begin
}

// New makes a server. Run runs it.
func New(o Options) *Server {
	return &Server{log: o.Logger, dispatcher: o.Dispatcher, sessions: o.Sessions, tokens: o.Tokens, localToken: o.LocalToken, intake: newIntake(), triggers: o.Triggers, page: o.Page}
}

// Run serves the connections of a listener until ctx ends, and calls ready when it begins.
// It closes the listener and returns when every request and WebSocket has ended.
func (s *Server) Run(ctx context.Context, l *listener.Listener, ready func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer s.drain()
	defer cancel()
	return s.serve(ctx, l, ready)
}

func (s *Server) serve(ctx context.Context, l *listener.Listener, ready func()) error {
	server := &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnContext: listener.WithConn,
		ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
		defer cancel()
		if server.Shutdown(patience) != nil {
			_ = server.Close()
		}
	})
	ready()
	err := server.Serve(l)
	if !stop() {
		<-ended
		return nil
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// enter counts a request; false when Run is ending.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.requests.Add(1)
	return true
}

// drain waits for all requests.
func (s *Server) drain() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.requests.Wait()
}

// routes are the paths that the server knows.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+client.DirectPath, s.admitted(s.acceptDirect))
	mux.HandleFunc("POST /v1/{request}", s.admitted(s.serveRequest))
	mux.HandleFunc("POST /v1/triggers/{id}", s.serveTrigger)
	mux.HandleFunc("GET /v1/sessions/{id}/events", s.admitted(s.serveEvents))
	mux.HandleFunc("GET /v1/openapi.json", s.admitted(serveDocument))
	mux.HandleFunc("/", s.admitted(s.serveNothing))
	if s.page != nil {
		mux.HandleFunc("GET "+wire.ConnectPath, s.serveWire)
		mux.HandleFunc("GET /", s.servePage)
		mux.HandleFunc("GET /v1/", s.admitted(s.serveNothing))
	}
	return mux
}

// admitted authenticates the caller of a request, and counts the request, so that Run
// waits for it.
func (s *Server) admitted(serve func(http.ResponseWriter, *http.Request, caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		who, refused := s.authenticate(r)
		if refused != nil {
			refuseStranger(w, r, refused)
			return
		}
		if conn := listener.FromContext(r.Context()); conn != nil && !conn.Identify(who.id) {
			refuseStranger(w, r, refuseWith(http.StatusTooManyRequests, api.KindQueueFull,
				"this token has %d connections, which is the limit: close some, or reuse open ones", listener.MaxPerToken))
			return
		}
		limitBody(w, r, smallTimeout)
		if !s.enter() {
			refuseStranger(w, r, refuseWith(http.StatusServiceUnavailable, api.KindUnavailable, "the host is shutting down: try again in a moment"))
			return
		}
		defer s.requests.Done()
		serve(w, r, who)
	}
}

// refuseStranger answers and ends the connection without waiting for the body.
func refuseStranger(w http.ResponseWriter, r *http.Request, refused *refusal) {
	limitBody(w, r, refuseTimeout)
	w.Header().Set("Connection", "close")
	refused.write(w)
}

// limitBody bounds how long the body of a request may take to arrive. That also holds for
// a body that no handler reads, because the server reads it after the answer.
func limitBody(w http.ResponseWriter, r *http.Request, patience time.Duration) {
	if r.ContentLength != 0 {
		// Where the connection cannot have a deadline, the client's patience is one.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
	}
}

// refusePage rejects web pages: a page always sends an Origin, and after a DNS rebinding a
// foreign Host.
func (s *Server) refusePage(r *http.Request) *refusal {
	switch {
	case r.Header.Get("Origin") != "":
		return refuseWith(http.StatusForbidden, api.KindNotAllowed, "web pages connect through a relay")
	case !s.ownHost(r.Host):
		return refuseWith(http.StatusForbidden, api.KindNotAllowed, "this host does not accept that name: use 127.0.0.1")
	}
	return nil
}

// authenticate admits programs of this machine and rejects web pages.
func (s *Server) authenticate(r *http.Request) (caller, *refusal) {
	if refused := s.refusePage(r); refused != nil {
		return caller{}, refused
	}
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case ok && subtle.ConstantTimeCompare([]byte(token), []byte(s.localToken)) == 1:
		return caller{dispatch.LocalID, api.LocalGrants()}, nil
	}
	if !ok || token == "" {
		return caller{}, refuseWith(http.StatusUnauthorized, api.KindNotAllowed,
			"a token is required, as in the header \"Authorization: Bearer TOKEN\": create one with `scorel host token create`")
	}
	switch known, admission := s.tokens.Check(token); admission {
	case state.TokenGood:
		return caller{known.ID, known.Grants}, nil
	case state.TokenExpired:
		return caller{}, refuseExpired(known)
	}
	return caller{}, refuseToken("unknown token: it was revoked, or belongs to another host or an earlier start of this one. Create a new one with `scorel host token create`")
}

// ownHost reports whether name is an address or localhost, and not a DNS name that another
// party may control.
func (s *Server) ownHost(name string) bool {
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

func (s *Server) acceptDirect(w http.ResponseWriter, r *http.Request, who caller) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{client.DirectSubprotocol}})
	if err != nil {
		return // Accept has answered
	}
	transport := newCounted(ws, s.intake, who.id)
	defer transport.release()
	err = s.dispatcher.Serve(r.Context(), transport, who.id, who.grants)
	s.log.Debug("a direct connection ended", "client", who.id, "reason", err)
}
