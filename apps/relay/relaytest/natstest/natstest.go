// Package natstest runs real NATS servers on 127.0.0.1 inside the test's process,
// and proxies in front of a server or between two servers that can be silenced.
package natstest

import (
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
)

// routesPerPeer is how many connections a server opens to each other: a pool of
// three and one of the system account. A request before all are established may
// find no subscriber.
const routesPerPeer = 4

// patience is how long a server may take to start.
const patience = time.Minute

// Server is a NATS server that ends with the test.
type Server struct {
	t    testing.TB
	opts *server.Options
	nats *server.Server
}

// Start runs one server.
func Start(t testing.TB) *Server {
	t.Helper()
	return start(t, &server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT})
}

// StartCluster runs a cluster of n servers.
func StartCluster(t testing.TB, n int) []*Server {
	t.Helper()
	return startCluster(t, n, func(_, _ int, address string) string { return address }, "")
}

// StartRoutedCluster runs a cluster of n servers whose routes go through proxies:
// routes[i][j] carries only the traffic between the servers i and j.
func StartRoutedCluster(t testing.TB, n int) (servers []*Server, routes [][]*proxy.Proxy) {
	t.Helper()
	routes = make([][]*proxy.Proxy, n)
	for i := range routes {
		routes[i] = make([]*proxy.Proxy, n)
	}
	servers = startCluster(t, n, func(from, to int, address string) string {
		p := proxy.New(t, proxy.TCP(address))
		routes[from][to], routes[to][from] = p, p
		return p.Addr()
	}, "127.0.0.1:9") // servers advertise their routes: an unusable address keeps them on the proxies
	return servers, routes
}

// startCluster lets each server dial the earlier ones, at the address that via
// returns for the real one.
func startCluster(t testing.TB, n int, via func(from, to int, address string) string, advertise string) []*Server {
	t.Helper()
	var out []*Server
	for i := range n {
		var routes []*url.URL
		for j, s := range out {
			routes = append(routes, &url.URL{Scheme: "nats-route", Host: via(i, j, s.nats.ClusterAddr().String())})
		}
		out = append(out, start(t, &server.Options{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, ServerName: fmt.Sprintf("bus-%d", i),
			Cluster: server.ClusterOpts{
				Name: "scorel-test", Host: "127.0.0.1", Port: server.RANDOM_PORT, Advertise: advertise,
				PingInterval: time.Second, NoAdvertise: true,
			},
			Routes: routes,
		}))
	}
	deadline := time.Now().Add(patience)
	for _, s := range out {
		for s.nats.NumRoutes() < routesPerPeer*(n-1) {
			if time.Now().After(deadline) {
				t.Fatalf("NATS server has %d routes", s.nats.NumRoutes())
			}
			<-time.After(time.Millisecond) // a server offers no event to wait for
		}
	}
	return out
}

func start(t testing.TB, opts *server.Options) *Server {
	t.Helper()
	opts.NoLog, opts.NoSigs = true, true
	s := &Server{t: t, opts: opts}
	s.run()
	opts.Port = s.nats.Addr().(*net.TCPAddr).Port // a restart uses the same port
	if at := s.nats.ClusterAddr(); at != nil {
		opts.Cluster.Port = at.Port
	}
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) run() {
	s.t.Helper()
	nats, err := server.NewServer(s.opts.Clone()) // the server keeps reading them
	if err != nil {
		s.t.Fatalf("creating a NATS server: %v", err)
	}
	s.nats = nats
	nats.Start()
	if !nats.ReadyForConnections(patience) {
		s.t.Fatal("the NATS server is not ready")
	}
}

// URL is where clients connect.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.opts.Port) }

// Stop ends the server. Stopping again is harmless.
func (s *Server) Stop() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// Restart runs the server again on the same port.
func (s *Server) Restart() {
	s.t.Helper()
	s.run()
}

// Proxy is a proxy in front of a server's clients.
type Proxy struct{ *proxy.Proxy }

// NewProxy starts a proxy in front of a server.
func NewProxy(t testing.TB, s *Server) Proxy {
	t.Helper()
	return Proxy{proxy.New(t, proxy.TCP(fmt.Sprintf("127.0.0.1:%d", s.opts.Port)))}
}

// URL is where clients connect.
func (p Proxy) URL() string { return "nats://" + p.Addr() }
