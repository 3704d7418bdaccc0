package httpapi

import (
	"net/http"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/listener"
	"github.com/scorel/scorel/packages/protocol/api"
)

// wireCaller is who the connections to the relay count as: they show no token.
const wireCaller = "wire"

// servePage serves the web UI to a browser of this machine. It contains nothing of the host.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) {
	if refused := s.checkNames(r); refused != nil {
		refuseStranger(w, r, refused)
		return
	}
	limitBody(w, r, smallTimeout)
	s.page.ServeHTTP(w, r)
}

// serveWire connects a client to the relay beside the host, where it has to log in, pair and
// open a sealed channel like everywhere else. Their number is limited like that of one token.
func (s *Server) serveWire(w http.ResponseWriter, r *http.Request) {
	if refused := s.checkNames(r); refused != nil {
		refuseStranger(w, r, refused)
		return
	}
	if conn := listener.FromContext(r.Context()); conn != nil && !conn.Identify(wireCaller) {
		refuseStranger(w, r, refuseWith(http.StatusTooManyRequests, api.KindQueueFull, "too many connections: close some tabs, and try again"))
		return
	}
	s.page.ServeHTTP(w, r)
}

// checkNames refuses names that other machines can have: after a DNS rebinding, a page of
// another site sends its own. A page may connect only if it was loaded from here, under the
// very same name and port.
func (s *Server) checkNames(r *http.Request) *refusal {
	origin := r.Header.Get("Origin")
	switch {
	case !s.ownHost(r.Host):
		return refuseWith(http.StatusForbidden, api.KindNotAllowed, "this host does not accept that name: use 127.0.0.1")
	case origin != "" && !strings.EqualFold(origin, "http://"+r.Host):
		return refuseWith(http.StatusForbidden, api.KindNotAllowed, "pages of other sites cannot connect to this host")
	}
	return nil
}
