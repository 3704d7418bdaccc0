// Package relay routes sealed records between entries and hosts that know each
// other. It is an authenticated proxy with a registry of bindings: it proves who
// is connected, remembers who may talk to whom, and copies bytes that it cannot
// read. See packages/protocol/wire for what it speaks.
//
// New builds a Relay, Handler serves it on listeners of the caller, Shutdown ends
// it. The package never listens, reads no flag and keeps no global state, so any
// number of relays fit in one process.
//
// Who owns what: each connection has one goroutine, its reader, which routes what
// it reads straight into the queue of the receiver. A queue has a writer only while
// something waits in it. The directory, one goroutine, owns who is online, what
// they are allowed, and the pairing codes. Records touch neither the directory
// nor the store.
//
// With a bus, nodes that share a store are one relay: any entry reaches any device.
// A channel between two nodes runs on a trunk (see trunk); one within a node never
// touches the bus. In doubt the answer is no: when the bus fails, channels to other
// nodes close and new ones are refused, and when the store cannot tell either what
// was revoked, all close.
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
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
)

// Relay is one relay node.
type Relay struct {
	cfg       Config
	log       *slog.Logger
	live      atomic.Pointer[live]
	admission atomic.Pointer[admission]
	metrics   *metrics
	guards    guards
	dir       *directory
	cluster   *cluster
	node      bus.Node
	pool      *bufpool.Pool
	memory    *memory
	pace      atomic.Pointer[pace]
	web       *webUI

	queues      *queueBounds // of peers
	trunkQueues *queueBounds

	reloading sync.Mutex // one reload at a time

	running sync.WaitGroup // one for each connection
	tasks   sync.WaitGroup // what waits for other nodes, and the ends of trunks

	mu       sync.Mutex
	conns    map[*conn]struct{}
	crowds   map[netip.Addr]int // connections of each address
	draining bool
	closing  bool
	left     chan struct{} // signalled when a connection has gone
}

// New checks the configuration and returns a running relay. The caller ends it
// with Shutdown and closes the store afterwards.
func New(cfg Config) (*Relay, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	now, err := Settings{PublicURLs: cfg.PublicURLs, AllowedOrigins: cfg.AllowedOrigins, TrustedProxies: cfg.TrustedProxies, Limits: cfg.Limits}.live()
	if err != nil {
		return nil, err
	}
	who, err := newAdmission(cfg.Admission)
	if err != nil {
		return nil, err
	}
	web, err := newWebUI(cfg.Web)
	if err != nil {
		return nil, fmt.Errorf("relay: %w", err)
	}
	l := cfg.Limits
	r := &Relay{
		cfg: cfg, log: cfg.Logger, web: web,
		metrics: newMetrics(cfg.Collectors),
		guards:  newGuards(l),
		pool:    new(bufpool.Pool),
		conns:   make(map[*conn]struct{}),
		crowds:  make(map[netip.Addr]int),
		left:    make(chan struct{}, 1),
	}
	r.live.Store(now)
	r.admission.Store(who)
	r.bound(l)
	if err := r.join(cfg.Bus); err != nil {
		return nil, err
	}
	r.watchState()
	return r, nil
}

// bound makes the account of memory and the bounds of queues and of bytes a second.
func (r *Relay) bound(l Limits) {
	r.memory = &memory{pool: r.pool}
	r.memory.limit.Store(l.Memory)
	r.metrics.watchMemory(r.memory)
	r.queues = newQueueBounds(l.ofQueues(), r.memory)
	r.trunkQueues = newQueueBounds(l.ofTrunkQueues(), r.memory)
	r.pace.Store(new(pace).with(l.Bytes))
}

// join starts the routing state and enters the bus. No bus means no other nodes.
func (r *Relay) join(to bus.Bus) error {
	alone := to == nil
	if alone {
		to = bus.NewLocal()
	}
	r.cluster = newCluster(r, alone)
	r.dir = newDirectory(r)
	r.dir.start()
	node, err := to.Attach(r.heard)
	if err != nil {
		r.dir.stop()
		return fmt.Errorf("relay: joining the bus: %w", err)
	}
	r.node = node
	if err := r.cluster.start(); err != nil {
		r.dir.stop()
		return errors.Join(err, node.Close())
	}
	return nil
}

var errClosing = errors.New("relay is shutting down")
var errFull = errors.New("relay has reached its limit of connections")
var errCrowd = errors.New("relay has too many connections from this address")
var errMemory = errors.New("relay is short of memory")

// adopt starts to serve an upgraded connection.
func (r *Relay) adopt(up *ws.Upgraded, addr netip.Addr, as dialled) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.roomLocked(addr); err != nil {
		return err
	}
	c := newConn(r, up, addr, as)
	r.conns[c] = struct{}{}
	r.crowds[addr]++
	r.memory.conns.Add(1)
	r.running.Go(c.run)
	return nil
}

// room tells whether another connection of an address would be adopted. The zero
// address is nobody's.
func (r *Relay) room(addr netip.Addr) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.roomLocked(addr)
}

// roomLocked is room with r.mu held.
func (r *Relay) roomLocked(addr netip.Addr) error {
	switch {
	case r.closing, r.draining:
		return errClosing
	case len(r.conns) >= r.limits().Connections:
		return errFull
	case !addr.IsLoopback() && r.crowds[addr] >= r.limits().ConnectionsPerAddress:
		return errCrowd
	case !r.memory.roomForConn():
		return errMemory
	}
	return nil
}

func (r *Relay) forget(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
	if r.crowds[c.addr]--; r.crowds[c.addr] <= 0 {
		delete(r.crowds, c.addr)
	}
	r.memory.conns.Add(-1)
	poke(r.left)
}

// Shutdown says goodbye to every peer and returns when all connections have
// ended. When ctx ends first it cuts those that are left and returns ctx.Err().
// Calling it again is harmless.
func (r *Relay) Shutdown(ctx context.Context) error {
	leaving := r.close()
	for i, c := range leaving {
		c.dismiss(r.comeBack(i, len(leaving), 0))
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
			hangUp(c.net) // its reader sees the error
		}
		<-ended
	}
	r.cluster.stop()
	err = errors.Join(err, r.node.Close())
	r.tasks.Wait()
	r.dir.stop()
	return err
}

// close lets nobody in any more and returns who is there.
func (r *Relay) close() []*conn {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = true
	out := make([]*conn, 0, len(r.conns))
	for c := range r.conns {
		out = append(out, c)
	}
	return out
}

// storeContext bounds one question to the store.
func (r *Relay) storeContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), r.limits().StoreTimeout)
}

// storeFailed counts and logs a store that did not answer.
func (r *Relay) storeFailed(operation string, err error) {
	r.metrics.storeErrors.WithLabelValues(operation).Inc()
	r.log.Error("store did not answer", "operation", operation, "error", err)
}

// nowMillis is the wire's form of now.
func nowMillis() int64 { return time.Now().UnixMilli() }
