package host

import (
	"context"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// serveDirect accepts direct WebSockets until ctx ends. Whoever shows the token
// of the state file, which only this user can read, has every grant.
func (h *Host) serveDirect(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+client.DirectPath, func(w http.ResponseWriter, r *http.Request) { h.acceptDirect(ctx, w, r) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer done()
	close(h.ready)
	if err := server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return err
	}
	return nil
}

func (h *Host) acceptDirect(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if code, text := h.refuseDirect(r); code != 0 {
		http.Error(w, text, code)
		return
	}
	if !h.enter() {
		http.Error(w, "the host is ending", http.StatusServiceUnavailable)
		return
	}
	defer h.wg.Done()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{client.DirectSubprotocol}})
	if err != nil {
		return // Accept has answered
	}
	err = h.serveConn(ctx, client.NewDirect(ws), localID, append(api.AllGrants(), api.GrantLocal))
	h.log.Debug("a direct connection ended", "reason", err)
}

// refuseDirect lets in programs of this user and no web page: a page always sends
// an Origin, and after a DNS rebinding a foreign Host.
func (h *Host) refuseDirect(r *http.Request) (int, string) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.Header.Get("Origin") != "":
		return http.StatusForbidden, "web pages connect through a relay"
	case !h.ownHost(r.Host):
		return http.StatusForbidden, "this host does not answer to that name"
	case !ok || subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) != 1:
		return http.StatusUnauthorized, "the token of the state file is needed"
	}
	return 0, ""
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
