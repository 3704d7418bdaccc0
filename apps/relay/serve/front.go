package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	proxyproto "github.com/pires/go-proxyproto"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/packages/loopback"
)

// believed are the proxies whose PROXY headers are read; a reload replaces them.
type believed struct {
	proxies atomic.Pointer[[]netip.Prefix]
}

func checkBelieved(proxies []netip.Prefix) error {
	if len(proxies) == 0 {
		return errors.New("--proxy-protocol needs trusted proxies: list them with --trusted-proxy")
	}
	return nil
}

// set applies to connections accepted from now on.
func (b *believed) set(proxies []netip.Prefix) { b.proxies.Store(&proxies) }

// listen reads the PROXY header that the trusted proxies send at the start of each
// connection. From other addresses no header is read, so one is just invalid HTTP.
func (b *believed) listen(l net.Listener) net.Listener {
	policy := func(opts proxyproto.ConnPolicyOptions) (proxyproto.Policy, error) {
		ap, err := netip.ParseAddrPort(opts.Upstream.String())
		if err == nil && relay.TrustedAddr(ap.Addr(), *b.proxies.Load()) {
			return proxyproto.REQUIRE, nil
		}
		return proxyproto.SKIP, nil
	}
	return proxied{&proxyproto.Listener{Listener: l, ConnPolicy: policy, ReadHeaderTimeout: headerTimeout}}
}

type proxied struct{ net.Listener }

func (p proxied) Accept() (net.Conn, error) {
	c, err := p.Listener.Accept()
	if with, ok := c.(*proxyproto.Conn); ok && err == nil {
		return proxiedConn{with}, nil
	}
	return c, err
}

// proxiedConn can be closed for writing, which the relay's goodbye needs.
type proxiedConn struct{ *proxyproto.Conn }

func (c proxiedConn) CloseWrite() error {
	if tcp, ok := c.TCPConn(); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// handler serves the public address, with /metrics at most for this machine.
func (g guarded) handler(r *relay.Relay) http.Handler {
	public, metrics := r.Handler(), r.MetricsHandler()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case req.URL.Path != "/metrics":
			public.ServeHTTP(w, req)
		case g.metricsListen != "" || !fromHere(req):
			http.Error(w, "metrics are served only to the relay's own machine, or at a separate address: see --metrics-listen", http.StatusNotFound)
		case req.Method != http.MethodGet:
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "metrics are read-only", http.StatusMethodNotAllowed)
		default:
			metrics.ServeHTTP(w, req)
		}
	})
}

// fromHere reports whether a request was made on this machine. One that a proxy
// forwards has a public host name, or says for whom it was made.
func fromHere(req *http.Request) bool {
	for _, header := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via"} {
		if req.Header.Get(header) != "" {
			return false
		}
	}
	ap, err := netip.ParseAddrPort(req.RemoteAddr)
	return err == nil && ap.Addr().Unmap().IsLoopback() && loopback.Is(req.Host)
}

// ownName refuses requests to a loopback address under another name, which a web page can send
// after DNS rebinding. Scrapers on other machines may use any name.
func ownName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		local, _ := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if tcp, ok := local.(*net.TCPAddr); ok && tcp.IP.IsLoopback() && !loopback.Is(req.Host) {
			http.Error(w, "metrics are not served under that name: use 127.0.0.1 or localhost", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// serveMetrics serves /metrics at a separate address until ctx ends. wait returns
// when it has ended.
func (g guarded) serveMetrics(ctx context.Context, r *relay.Relay, log *slog.Logger) (wait func(), err error) {
	if g.metricsListen == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", g.metricsListen)
	if err != nil {
		return nil, fmt.Errorf("listening for metrics on %s: %w; choose another with --metrics-listen", g.metricsListen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", ownName(r.MetricsHandler()))
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout, WriteTimeout: time.Minute, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	log.Info("metrics are served", "address", l.Addr().String())
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // scrapers try again
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("serving metrics failed", "error", err)
		}
	}()
	return func() {
		if stop() {
			_ = server.Close()
		}
		<-ended
	}, nil
}
