// Package relay routes sealed records between paired entries and hosts. It is an
// authenticated proxy with a registry of bindings: it authenticates connections,
// stores who may talk to whom, and copies bytes that it cannot read. See
// packages/protocol/wire for the protocol.
//
// New returns a Relay, Handler serves it on listeners of the caller, Shutdown ends it. The
// package never listens, reads no flag and keeps no global state, so any number of relays
// fit in one process.
//
// This package wires the parts, which are below internal:
//
//	conn       one WebSocket of a peer; its reader goroutine owns it
//	channel    channels between two ends; queue holds what waits for a connection
//	directory  who is connected, bindings, presence, opening channels
//	pairing    pairing codes and the pairings under way
//	cluster    other nodes: notices, questions, trunks, and the state of the bus
//	loop       the goroutine that owns the state of directory and pairing
//
// A reader puts records straight into the queue of the receiver. A queue has a writer
// goroutine only while something waits in it. Records touch neither the loop nor the store.
//
// With a bus, nodes that share a store act as one relay: any entry reaches any
// device. A channel within a node never uses the bus. If the bus fails, channels to
// other nodes close and new ones are refused. If revocations cannot be read from
// the store either, all channels close (see cluster.State).
package relay

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/authority"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/directory"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/loop"
	"github.com/scorel/scorel/apps/relay/internal/memory"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/pairing"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/webui"
	"github.com/scorel/scorel/apps/relay/internal/ws"
)

// Relay is one relay node.
type Relay struct {
	// Static after construction.
	cfg         Config
	log         *slog.Logger
	metrics     *metrics.Metrics
	memory      *memory.Account
	guards      *limits.Guards
	queues      *queue.Bounds // of peers
	trunkQueues *queue.Bounds
	store       *directory.Store
	conns       *conn.Env
	loop        *loop.Loop
	cluster     *cluster.Cluster
	dir         *directory.Directory
	pairings    *pairing.Registry
	web         *webui.UI
	docs        *webui.Docs

	// Replaced as a whole by Reload and SetAdmission.
	live      atomic.Pointer[live]
	admission atomic.Pointer[admission]
	reloading sync.Mutex // one reload at a time

	running sync.WaitGroup // one for each connection

	mu       sync.Mutex
	open     map[*conn.Conn]struct{}
	perAddr  map[netip.Addr]int // connections of each address
	draining bool
	closing  bool
	left     chan struct{} // signaled when a connection has ended
}

// New checks the configuration and returns a running relay. The caller ends it with
// Shutdown and closes the store afterwards.
func New(cfg Config) (*Relay, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	now, err := Settings{PublicURLs: cfg.PublicURLs, AllowedOrigins: cfg.AllowedOrigins, TrustedProxies: cfg.TrustedProxies, Limits: cfg.Limits}.live()
	if err != nil {
		return nil, err
	}
	admitted, err := newAdmission(cfg.Admission)
	if err != nil {
		return nil, err
	}
	web, err := webui.New(cfg.Web)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	docs, err := webui.NewDocs(cfg.Docs)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	guards := limits.NewGuards(cfg.Limits)
	r := &Relay{
		cfg: cfg, log: cfg.Logger, web: web, docs: docs, guards: &guards,
		metrics: metrics.New(cfg.Collectors),
		open:    make(map[*conn.Conn]struct{}),
		perAddr: make(map[netip.Addr]int),
		left:    make(chan struct{}, 1),
	}
	r.live.Store(now)
	r.admission.Store(admitted)
	if err := r.wire(); err != nil {
		return nil, err
	}
	r.watch()
	return r, nil
}

// wire makes the parts and joins the bus. No bus means that there are no other nodes.
func (r *Relay) wire() error {
	pool := new(bufpool.Pool)
	r.memory = memory.New(pool, r.cfg.Limits.Memory)
	r.queues = queue.NewBounds(peerQueues(r.cfg.Limits), r.memory)
	r.trunkQueues = queue.NewBounds(trunkQueues(r.cfg.Limits), r.memory)
	r.store = &directory.Store{
		Store: r.cfg.Store, Log: r.log, Metrics: r.metrics,
		Timeout: func() time.Duration { return r.limits().StoreTimeout },
	}
	r.conns = &conn.Env{
		Handler: peers{r}, Log: r.log, Metrics: r.metrics, Pool: pool, Memory: r.memory, Queues: r.queues, Guards: r.guards, Limits: r.limits,
	}
	r.conns.Pace.Store(new(limits.Pace).With(r.cfg.Limits.Bytes))
	r.cluster = cluster.New(cluster.Config{
		Handler: nodes{r}, Log: r.log, Metrics: r.metrics, Pool: pool, Queues: r.trunkQueues, Alone: r.cfg.Bus == nil,
	})
	r.loop = loop.Start()
	r.dir = directory.New(directory.Config{
		Loop: r.loop, Cluster: r.cluster, Store: r.store, Log: r.log, Metrics: r.metrics, Memory: r.memory, Limits: r.limits,
	})
	r.pairings = pairing.New(pairing.Config{
		Loop: r.loop, Cluster: r.cluster, Directory: r.dir, Store: r.store, Log: r.log, Metrics: r.metrics, Guards: r.guards, Limits: r.limits,
	})
	var to bus.Bus = r.cfg.Bus
	if to == nil {
		to = bus.NewLocal()
	}
	if err := r.cluster.Join(to); err != nil {
		r.loop.Stop()
		return err
	}
	return nil
}

var (
	errClosing = errors.New("the relay is shutting down")
	errFull    = errors.New("the relay has reached its limit of connections")
	errCrowd   = errors.New("the relay has too many connections from this address")
	errMemory  = errors.New("the relay is short of memory")
)

// serve starts to serve an upgraded connection.
func (r *Relay) serve(up *ws.Upgraded, addr netip.Addr, to authority.Dialed) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.checkRoom(addr); err != nil {
		return err
	}
	c := conn.New(r.conns, up, addr, to)
	r.open[c] = struct{}{}
	r.perAddr[addr]++
	r.memory.AddConns(1)
	r.running.Go(c.Run)
	return nil
}

// room returns an error if another connection of an address cannot be served. The zero
// address belongs to no peer.
func (r *Relay) room(addr netip.Addr) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.checkRoom(addr)
}

// checkRoom is room with r.mu held.
func (r *Relay) checkRoom(addr netip.Addr) error {
	switch {
	case r.closing, r.draining:
		return errClosing
	case len(r.open) >= r.limits().Connections:
		return errFull
	case !addr.IsLoopback() && r.perAddr[addr] >= r.limits().ConnectionsPerAddress:
		return errCrowd
	case !r.memory.RoomForConn():
		return errMemory
	}
	return nil
}

// forget is called when nothing of a connection is left.
func (r *Relay) forget(c *conn.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
	if r.perAddr[c.Addr()]--; r.perAddr[c.Addr()] <= 0 {
		delete(r.perAddr, c.Addr())
	}
	r.memory.AddConns(-1)
	select {
	case r.left <- struct{}{}:
	default: // already signaled
	}
}

// Shutdown says goodbye to every peer and returns when all connections have ended. When
// ctx ends first it cuts the remaining ones and returns ctx.Err(). Calling it again is
// harmless.
func (r *Relay) Shutdown(ctx context.Context) error {
	leaving := r.close()
	for i, c := range leaving {
		dismiss(c, r.comeBack(i, len(leaving), 0))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.running.Wait()
	}()
	var err error
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
		for _, c := range r.close() {
			c.HangUp() // its reader sees the error
		}
		<-ended
	}
	err = errors.Join(err, r.cluster.Stop())
	r.dir.Wait()
	r.pairings.Wait()
	r.loop.Stop()
	r.pairings.Close()
	return err
}

// close refuses new connections and returns the open ones.
func (r *Relay) close() []*conn.Conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = true
	return r.openConns()
}

// openConns returns the open connections. r.mu must be held.
func (r *Relay) openConns() []*conn.Conn {
	out := make([]*conn.Conn, 0, len(r.open))
	for c := range r.open {
		out = append(out, c)
	}
	return out
}

// watch registers metrics that are looked up at each scrape.
func (r *Relay) watch() {
	show := r.metrics.Show
	show("healthy", "1 while the routing state answers, as reported by /healthz.", func() float64 {
		return truth(r.probe(context.Background()) == nil)
	})
	show("blind", "1 while revocations cannot be read from the store or the bus; all channels are closed during that time.", func() float64 {
		return truth(r.cluster.Blind())
	})
	show("sockets", "Open connections, including those before their login.", func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return float64(len(r.open))
	})
	show("sockets_limit", "Limit of open connections.", func() float64 { return float64(r.limits().Connections) })
	show("draining", "1 while the relay asks its peers to disconnect.", func() float64 {
		r.mu.Lock()
		defer r.mu.Unlock()
		return truth(r.draining)
	})
	show("bus_waiting", "Notices and subscriptions waiting for the bus.", func() float64 { return float64(r.cluster.Waiting()) })
	show("memory_bytes", "Bytes held by queues, read buffers and connections.", func() float64 { return float64(r.memory.Used()) })
	show("memory_limit_bytes", "Limit of memory_bytes.", func() float64 { return float64(r.memory.Limit()) })
	r.metrics.ShowVersion(r.cfg.Version)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
