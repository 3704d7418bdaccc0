// Package natstest runs real NATS servers on 127.0.0.1 inside the test's process,
// and a proxy in front of one that can fall silent.
package natstest

import (
	"fmt"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// routesPerPeer is how many connections a server makes to each other: a pool of
// three and one of the system account. A request before all are there may find
// nobody.
const routesPerPeer = 4

// patience is how long a server may take to serve.
const patience = 10 * time.Second

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

// StartCluster runs n servers that are one.
func StartCluster(t testing.TB, n int) []*Server {
	t.Helper()
	var out []*Server
	var routes []*url.URL
	for i := range n {
		opts := &server.Options{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, ServerName: fmt.Sprintf("bus-%d", i),
			Cluster: server.ClusterOpts{
				Name: "scorel-test", Host: "127.0.0.1", Port: server.RANDOM_PORT,
				PingInterval: time.Second, NoAdvertise: true,
			},
			Routes: routes,
		}
		s := start(t, opts)
		routes = append(routes, &url.URL{Scheme: "nats-route", Host: s.nats.ClusterAddr().String()})
		out = append(out, s)
	}
	deadline := time.Now().Add(patience)
	for _, s := range out {
		for s.nats.NumRoutes() < routesPerPeer*(n-1) {
			if time.Now().After(deadline) {
				t.Fatalf("NATS server has %d routes", s.nats.NumRoutes())
			}
			<-time.After(time.Millisecond) // a server offers nothing to wait on
		}
	}
	return out
}

func start(t testing.TB, opts *server.Options) *Server {
	t.Helper()
	opts.NoLog, opts.NoSigs = true, true
	s := &Server{t: t, opts: opts}
	s.run()
	opts.Port = s.nats.Addr().(*net.TCPAddr).Port // a restart comes back where it was
	if at := s.nats.ClusterAddr(); at != nil {
		opts.Cluster.Port = at.Port
	}
	t.Cleanup(s.Stop)
	return s
}

func (s *Server) run() {
	s.t.Helper()
	nats, err := server.NewServer(s.opts.Clone()) // the server goes on to read them
	if err != nil {
		s.t.Fatalf("making a NATS server: %v", err)
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

// Restart runs it again on the same port.
func (s *Server) Restart() {
	s.t.Helper()
	s.run()
}
