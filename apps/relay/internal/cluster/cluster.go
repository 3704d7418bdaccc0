// Package cluster connects a relay node to the other nodes that share its store, over a
// bus. It detects which nodes are alive, carries notices and questions between them, and
// runs trunks: channels whose ends are on different nodes share one trunk for each pair of
// nodes. A Handler decides what notices, questions and frames mean.
//
// State is what a node knows about its own contact to the others, with all transitions.
//
// An epoch ends when the bus fails: all channels to other nodes close, here at once and
// there as soon as the new epoch, or silence, is noticed.
package cluster

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// beatInterval is how often a node publishes a heartbeat and checks the store for
	// changes by other nodes. Revocations take effect within one interval even if the bus
	// loses their notice.
	beatInterval = time.Second
	// nodeTimeout is how long a node may be silent before its channels close.
	nodeTimeout = 3500 * time.Millisecond
	// AskTimeout bounds a question to another node. It is repeated after each askAgain.
	AskTimeout = 2 * time.Second
	askAgain   = 500 * time.Millisecond
	// InterestPause is how long a new subscription may take to reach other nodes.
	InterestPause = 50 * time.Millisecond
)

// Handler is the node that a Cluster connects. NodeLost, NodeGone, HandleNotice, Answer,
// CompleteOpening and TrunkFrame are called from the bus's goroutine among others, the rest
// from goroutines of the cluster. None is called with a lock held.
type Handler interface {
	// HandleNotice handles a notice. Handling it twice must change nothing.
	HandleNotice(n Notice)
	// Answer answers a question. It may be asked twice.
	Answer(n Notice) Reply
	// CompleteOpening opens the channel num on this side, after the device's node has. It
	// does nothing for a number that is not being opened.
	CompleteOpening(num uint32, node string)
	// TrunkFrame handles a control frame that another node sent about a pairing.
	TrunkFrame(t *Trunk, f wire.Frame)
	// NodeLost ends the pairings with a node whose trunk is gone.
	NodeLost(node string)
	// NodeGone takes the devices of a node offline.
	NodeGone(node string)
	// CheckBindings asks the store what other nodes changed, and applies it.
	CheckBindings() error
	// RefreshPresence asks the other nodes where devices are.
	RefreshPresence()
	// AnnounceLogins repeats the notices of recent logins. It is called after each heartbeat
	// that was sent.
	AnnounceLogins()
	// CloseChannels closes every channel of this node.
	CloseChannels()
}

// Config is what New makes a Cluster from.
type Config struct {
	Handler Handler
	Log     *slog.Logger
	Metrics *metrics.Metrics
	Pool    *bufpool.Pool
	Queues  *queue.Bounds // of trunks
	Alone   bool          // there are no other nodes: nothing is published or asked
}

// Cluster is a node's contact to the others. It is safe for concurrent use.
type Cluster struct {
	Config
	self   string // random for each process
	node   bus.Node
	outbox outbox
	kick   chan struct{} // a heartbeat is due now
	check  chan struct{} // the store must be asked now
	quit   chan struct{}
	loops  sync.WaitGroup // beatLoop publishes heartbeats and notices silence; checkLoop asks the store
	tasks  sync.WaitGroup // the ends of trunks

	nextNum atomic.Uint32 // of channels that this node asks for

	mu      sync.Mutex
	state   State
	epoch   uint32
	news    uint32 // grows when others may have missed notices of this node
	nodes   map[string]*nodeState
	closing bool
}

// New returns a cluster that is not connected. The caller calls Join.
func New(cfg Config) *Cluster {
	var raw [10]byte
	rand.Read(raw[:])
	c := &Cluster{
		Config: cfg,
		self:   strings.ToLower(base32.StdEncoding.EncodeToString(raw[:])),
		kick:   make(chan struct{}, 1),
		check:  make(chan struct{}, 1),
		quit:   make(chan struct{}),
		nodes:  make(map[string]*nodeState),
		epoch:  1,
	}
	c.outbox.init(c)
	return c
}

// Join connects to the bus and starts. The caller ends it with Stop.
func (c *Cluster) Join(to bus.Bus) error {
	node, err := to.Attach(c.Receive)
	if err != nil {
		return fmt.Errorf("relay: joining the bus: %w", err)
	}
	c.node = node
	if c.Alone {
		c.start()
		return nil
	}
	for _, subject := range []string{SubjectNodes, SubjectNews, NodeSubject(c.self)} {
		if err := node.Subscribe(subject); err != nil {
			return errors.Join(fmt.Errorf("relay: joining the bus: %w", err), node.Close())
		}
	}
	c.Metrics.BusUp.Set(1)
	c.loops.Go(c.beatLoop)
	c.start()
	return nil
}

func (c *Cluster) start() {
	c.loops.Go(c.checkLoop)
	c.outbox.start()
}

// Stop says goodbye to the other nodes, leaves the bus and returns when all
// goroutines have ended. All peers must be disconnected by then. Calling it again
// is harmless.
func (c *Cluster) Stop() error {
	c.mu.Lock()
	closing := c.closing
	c.closing = true
	c.mu.Unlock()
	if !closing {
		c.leave()
	}
	err := c.node.Close()
	c.tasks.Wait()
	return err
}

func (c *Cluster) leave() {
	close(c.quit)
	c.loops.Wait()
	c.outbox.stop()
	for _, t := range c.trunks() {
		t.CloseAll(wire.ReasonPeerGone)
		t.Out.Finish(nil, nil)
		t.Out.Drain()
	}
	if !c.Alone {
		_ = c.publishBeat(true) // if the bus is unreachable, the others notice the silence
	}
}

// Self is the name of this node.
func (c *Cluster) Self() string { return c.self }

// Stopping is closed when the cluster stops.
func (c *Cluster) Stopping() <-chan struct{} { return c.quit }

// CheckBus reports whether the bus works now.
func (c *Cluster) CheckBus(ctx context.Context) error { return c.node.Check(ctx) }

// Reachable reports whether other nodes can be reached, as far as this node knows.
func (c *Cluster) Reachable() bool {
	return !c.Alone && c.State().Bus == Up
}

// Blind reports whether no channel may be open, because revocations could be unknown.
func (c *Cluster) Blind() bool { return c.State().Blind }

// State returns the current state.
func (c *Cluster) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// ErrBlind is the answer to requests that need bindings while the node is blind.
func ErrBlind() *wire.Error {
	return wire.Errorf(wire.KindUnavailable, "the relay cannot check its bindings now; try again later")
}

// ErrUnreachable is the answer to requests that need other nodes while the bus is down.
func ErrUnreachable() *wire.Error {
	return wire.Errorf(wire.KindUnavailable, "the relay cannot reach its other nodes now; try again later")
}

// NextNum returns a number for a channel that this node asks for.
func (c *Cluster) NextNum() uint32 { return c.nextNum.Add(1) &^ channel.FromHost }

// CheckNow schedules a check of the store.
func (c *Cluster) CheckNow() { wake(c.check) }

func (c *Cluster) currentEpoch() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}
