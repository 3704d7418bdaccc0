package host

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Limits of the direct listener.
const (
	headerTimeout  = 10 * time.Second // until the head of a request is there
	bodyTimeout    = time.Minute      // until its body is there
	idleTimeout    = 2 * time.Minute  // between two requests on one connection
	maxHeaderBytes = 16 << 10
	// shutdownPatience is how long answers that are being written hold up the end.
	shutdownPatience = 2 * time.Second
)

// caller is who a direct request comes from, and what it may do.
type caller struct {
	id     string // localID, or the id of a token
	grants []api.Grant
}

// serveDirect accepts direct WebSockets and HTTP requests until ctx ends. Whoever
// shows the token of the state file, which only this user can read, has every
// grant; other tokens have those that they were made with.
func (h *Host) serveDirect(ctx context.Context) error {
	server := &http.Server{
		Handler: h.routes(), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(h.log.Handler(), slog.LevelDebug),
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
	close(h.ready)
	err := server.Serve(h.listener)
	if !stop() {
		<-ended
		return nil
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// listenDirect listens on an address of this machine itself and on no other: what
// comes there is not encrypted.
func listenDirect(addr string) (net.Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the address for direct connections cannot be used: give one as in --listen 127.0.0.1:7430 (%w)", err)
	}
	if !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("direct connections are not encrypted, so %s cannot be used: give an address of this machine itself, as in --listen 127.0.0.1:7430, and reach it from elsewhere through a relay", addr)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	if err != nil {
		return nil, fmt.Errorf("the address for direct connections cannot be used: choose another with --listen (%w)", err)
	}
	return listener, nil
}

// routes is what the direct listener answers to.
func (h *Host) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+client.DirectPath, h.admitted(h.acceptDirect))
	mux.HandleFunc("POST /v1/{request}", h.admitted(h.serveRequest))
	mux.HandleFunc("GET /v1/sessions/{id}/events", h.admitted(h.serveEvents))
	mux.HandleFunc("GET /v1/openapi.json", h.admitted(serveDocument))
	mux.HandleFunc("/", h.admitted(h.serveNothing))
	return mux
}

// admitted lets in who shows a token, and counts the request, so that Run waits
// for it.
func (h *Host) admitted(serve func(http.ResponseWriter, *http.Request, caller)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		who, refused := h.authenticate(r)
		if refused == nil && !h.enter() {
			refused = refuseWith(http.StatusServiceUnavailable, api.KindUnavailable, "the host is ending: try again in a moment")
		}
		if refused != nil {
			refused.write(w)
			return
		}
		defer h.wg.Done()
		serve(w, r, who)
	}
}

// authenticate lets in programs of this machine and no web page: a page always
// sends an Origin, and after a DNS rebinding a foreign Host.
func (h *Host) authenticate(r *http.Request) (caller, *refusal) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.Header.Get("Origin") != "":
		return caller{}, refuseWith(http.StatusForbidden, api.KindNotAllowed, "web pages connect through a relay")
	case !h.ownHost(r.Host):
		return caller{}, refuseWith(http.StatusForbidden, api.KindNotAllowed, "this host does not answer to that name: use 127.0.0.1")
	case ok && subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) == 1:
		return caller{localID, append(api.AllGrants(), api.GrantLocal)}, nil
	}
	if !ok || token == "" {
		return caller{}, refuseWith(http.StatusUnauthorized, api.KindNotAllowed,
			"a token is needed, as in the header \"Authorization: Bearer TOKEN\": make one with `scorel host token create`")
	}
	switch known, admission := h.tokens.Check(token); admission {
	case state.TokenGood:
		return caller{known.ID, known.Grants}, nil
	case state.TokenExpired:
		return caller{}, refuseExpired(known)
	}
	return caller{}, refuseToken("this token is not known here: it was revoked, or is of another host or an earlier start of this one. Make a new one with `scorel host token create`")
}

// ownHost tells whether name is an address, or localhost: never a DNS name that
// somebody else controls.
func (h *Host) ownHost(name string) bool {
	host, _, err := net.SplitHostPort(name)
	if err != nil {
		host = name
	}
	return host == "localhost" || net.ParseIP(strings.Trim(host, "[]")) != nil
}

func (h *Host) acceptDirect(w http.ResponseWriter, r *http.Request, who caller) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{client.DirectSubprotocol}})
	if err != nil {
		return // Accept has answered
	}
	err = h.serveConn(r.Context(), client.NewDirect(ws), who.id, who.grants)
	h.log.Debug("a direct connection ended", "client", who.id, "reason", err)
}
