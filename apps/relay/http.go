package relay

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// probeTimeout is how long the routing state may take to answer a health check.
const probeTimeout = 2 * time.Second

// Handler serves the relay:
//
//	GET /v1/connect   the WebSocket (packages/protocol/wire)
//	GET /healthz      200 while the routing state answers, else 503
//	GET /readyz       200 while new peers can be served as well
//	GET /docs/*       the documentation, in an origin of its own
//	GET /*            the web UI
//
// It does not serve metrics, which are for the operator: see MetricsHandler. Requests for a
// Host that is not one of the relay's names are answered with 421.
func (r *Relay) Handler() http.Handler {
	mux := chi.NewRouter()
	mux.Use(secure, r.checkHost)
	mux.Get(wire.ConnectPath, r.connect)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		mux.Method(method, "/healthz", http.HandlerFunc(r.healthz))
		mux.Method(method, "/readyz", http.HandlerFunc(r.readyz))
		mux.Method(method, "/docs", r.docs)
		mux.Method(method, "/docs/*", r.docs)
		mux.Method(method, "/*", r.web)
	}
	mux.HandleFunc("/metrics", func(w http.ResponseWriter, _ *http.Request) { // not a route of the page either
		http.Error(w, "metrics are not served at this address", http.StatusNotFound)
	})
	mux.HandleFunc("/v1/*", func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == wire.ConnectPath {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, wire.ConnectPath+" is a WebSocket endpoint, which needs GET", http.StatusMethodNotAllowed)
			return
		}
		http.Error(w, "no such address: this relay serves "+wire.ConnectPath, http.StatusNotFound)
	})
	return mux
}

// MetricsHandler serves the metrics for Prometheus at any path, without authentication. They
// reveal how busy the relay is: serve them where only the operator can connect.
func (r *Relay) MetricsHandler() http.Handler {
	return promhttp.HandlerFor(r.metrics.Registry, promhttp.HandlerOpts{})
}

// secure sets the headers of every response. The page may open a WebSocket to any relay,
// because people can configure another one.
func secure(next http.Handler) http.Handler {
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; " +
		"worker-src 'self'; manifest-src 'self'; connect-src 'self' ws: wss: http://127.0.0.1:*; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-DNS-Prefetch-Control", "off") // looking up the names in links would leak them
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(self), microphone=(), geolocation=(), payment=(), usb=()")
		next.ServeHTTP(w, req)
	})
}

func (r *Relay) checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !r.live.Load().names.Served(req.Host) {
			r.metrics.Refused.WithLabelValues(metrics.RefusedHost).Inc()
			http.Error(w, "this relay does not serve that host name; its operator must list it as a public URL", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// connect upgrades to a WebSocket and starts a connection on it. It returns at once, which
// frees what the HTTP server holds for the request.
func (r *Relay) connect(w http.ResponseWriter, req *http.Request) {
	client := authority.ClientAddr(req.RemoteAddr, req.Header.Values("X-Forwarded-For"), r.live.Load().proxies)
	addr := authority.Key(client)
	refuse := func(why, text string, status int) {
		r.metrics.Refused.WithLabelValues(why).Inc()
		http.Error(w, text, status)
	}
	if !r.live.Load().names.PageMayConnect(req.Header.Get("Origin"), req.Host) {
		refuse(metrics.RefusedOrigin, "pages of this origin may not connect; the relay's operator must allow it", http.StatusForbidden)
		return
	}
	if err := r.room(addr); err != nil {
		r.refuseFull(w, err)
		return
	}
	if status := r.guards.MayDial(addr); status != 0 {
		w.Header().Set("Retry-After", "30")
		text := "too many logins from this address; wait a minute"
		if status == http.StatusServiceUnavailable {
			text = "too many logins right now; wait a minute"
		}
		refuse(metrics.RefusedRate, text, status)
		return
	}
	up, err := ws.Upgrade(w, req, wire.Subprotocol)
	if err != nil {
		r.metrics.Refused.WithLabelValues(metrics.RefusedHandshake).Inc()
		if bad := (*ws.HandshakeError)(nil); errors.As(err, &bad) {
			http.Error(w, bad.Text, bad.Status)
		}
		return
	}
	if err := r.serve(up, addr, authority.Dialed{Host: req.Host, Local: client.IsLoopback()}); err != nil {
		r.metrics.Refused.WithLabelValues(metrics.RefusedFull).Inc()
		_ = up.Close() // room was lost between the two checks
	}
}

func (r *Relay) refuseFull(w http.ResponseWriter, err error) {
	why := metrics.RefusedFull
	switch {
	case errors.Is(err, errClosing):
		why = metrics.RefusedClosing
	case errors.Is(err, errMemory):
		why = metrics.RefusedMemory
	case errors.Is(err, errCrowd):
		why = metrics.RefusedCrowd
	}
	r.metrics.Refused.WithLabelValues(why).Inc()
	w.Header().Set("Retry-After", retryAfter(err))
	http.Error(w, err.Error()+"; try again later", http.StatusServiceUnavailable)
}

// probe asks the routing state, so that a stuck relay does not look healthy.
func (r *Relay) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := r.loop.DoContext(ctx, func() {}); err != nil {
		return errors.New("routing state does not answer")
	}
	return nil
}

func (r *Relay) healthz(w http.ResponseWriter, req *http.Request) {
	answer(w, r.cfg.Version, r.probe(req.Context()))
}

func (r *Relay) readyz(w http.ResponseWriter, req *http.Request) {
	err := r.room(netip.Addr{})
	if err == nil {
		err = r.probe(req.Context())
	}
	ctx, cancel := context.WithTimeout(req.Context(), probeTimeout)
	defer cancel()
	if err == nil && r.store.Check(ctx) != nil {
		err = errors.New("store does not answer")
	}
	if err == nil && r.cluster.CheckBus(ctx) != nil {
		err = errors.New("bus does not answer")
	}
	answer(w, r.cfg.Version, err)
}

func answer(w http.ResponseWriter, version string, err error) {
	body := struct {
		Status  string `json:"status"`
		Version string `json:"version,omitempty"`
		Problem string `json:"problem,omitempty"`
	}{"ok", version, ""}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		body.Status, body.Problem = "failing", err.Error()
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(body) // fails only if the client is gone
}
