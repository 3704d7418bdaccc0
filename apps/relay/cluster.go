package relay

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// beatInterval is how often a node says that it is there, and checks the store
	// for what others wrote. Revocations count within one of them even when the bus
	// loses the news.
	beatInterval = time.Second
	// nodeTimeout is how long a node may be silent before its channels close.
	nodeTimeout = 3500 * time.Millisecond
	// askTimeout bounds a question to another node, which is repeated after each
	// askAgain.
	askTimeout = 2 * time.Second
	askAgain   = 500 * time.Millisecond
	// interestPause is how long interest in a subject may take to travel.
	interestPause = 50 * time.Millisecond
	// trunkShare is how many times the queue of one peer a trunk may hold.
	trunkShare = 16
	nodeIDLen  = 16
)

// Subjects of the bus.
const (
	subjectNodes = "scorel.nodes" // every node says that it is there
	subjectNews  = "scorel.news"  // bindings written and ended; every node hears it
)

// partySubject is where a device can be asked for, and where the presence of its
// devices is told to a client. A node with that party hears it.
func partySubject(id ident.ID) string { return "scorel.party." + id.String() }

// nodeSubject is where a node's trunks end.
func nodeSubject(node string) string { return "scorel.node." + node }

// isNode tells whether a text is the name of a node, which makes a subject.
func isNode(name string) bool {
	return len(name) == nodeIDLen && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '2' || r > '7')
	})
}

// slotSubject is where a pairing code can be redeemed.
func slotSubject(slot string) string { return "scorel.slot." + slot }

// cluster is what a node knows of the others. Two goroutines work for it: beatLoop
// says that the node is there and notices who is not, checkLoop asks the store.
//
// An epoch ends when the bus fails: all channels to other nodes close, here at
// once and there as soon as the new epoch, or silence, is noticed.
type cluster struct {
	relay  *Relay
	self   string // random for each process
	alone  bool   // there is no bus: nothing is told or asked
	outbox outbox
	kick   chan struct{} // the bus has news of its own state
	check  chan struct{} // the store must be asked now
	quit   chan struct{}
	loops  sync.WaitGroup

	up      atomic.Bool   // the last sign of life could be sent
	broken  atomic.Uint32 // the epoch whose trunks broke last
	blind   atomic.Bool   // neither bus nor store can tell what is revoked
	unsure  atomic.Bool   // the bus lost news, and the store was not asked since
	stale   atomic.Bool   // what is known of devices elsewhere may be wrong
	news    atomic.Uint32 // grows when others may have missed what we told
	nextNum atomic.Uint32 // of channels that we ask for

	mu      sync.Mutex
	epoch   uint32
	nodes   map[string]*nodeState
	closing bool
}

func newCluster(r *Relay, alone bool) *cluster {
	var raw [10]byte
	rand.Read(raw[:])
	c := &cluster{
		relay: r, alone: alone,
		self:  strings.ToLower(base32.StdEncoding.EncodeToString(raw[:])),
		kick:  make(chan struct{}, 1),
		check: make(chan struct{}, 1),
		quit:  make(chan struct{}),
		nodes: make(map[string]*nodeState),
		epoch: 1,
	}
	c.outbox.init(r)
	c.up.Store(true)
	return c
}

// start joins the others. The node is on the bus already.
func (c *cluster) start() error {
	if !c.alone {
		for _, subject := range []string{subjectNodes, subjectNews, nodeSubject(c.self)} {
			if err := c.relay.node.Subscribe(subject); err != nil {
				return fmt.Errorf("relay: joining the bus: %w", err)
			}
		}
		c.relay.metrics.busUp.Set(1)
		c.loops.Go(c.beatLoop)
	}
	c.loops.Go(c.checkLoop)
	c.outbox.start()
	return nil
}

// stop says goodbye to the other nodes. No peer is connected any more.
func (c *cluster) stop() {
	c.mu.Lock()
	closing := c.closing
	c.closing = true
	c.mu.Unlock()
	if closing {
		return
	}
	close(c.quit)
	c.loops.Wait()
	c.outbox.stop()
	for _, t := range c.trunks() {
		t.closeLinks(wire.ReasonPeerGone)
		t.out.finish(nil, nil)
		t.out.drain()
	}
	if !c.alone {
		c.tellNodes(true) // when the bus is out of reach they find out by themselves
	}
}

func (c *cluster) beatLoop() {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	for {
		c.beat()
		select {
		case <-ticker.C:
		case <-c.kick:
		case <-c.quit:
			return
		}
	}
}

func (c *cluster) beat() {
	if err := c.tellNodes(false); err != nil {
		if c.up.Swap(false) {
			c.relay.log.Warn("the bus is out of reach; channels to other nodes close", "error", err)
			c.relay.metrics.busUp.Set(0)
		}
		c.endEpoch()
		return
	}
	if c.broken.Load() == c.currentEpoch() {
		c.endEpoch()
	}
	if !c.up.Swap(true) {
		c.relay.log.Info("the bus is back")
		c.relay.metrics.busUp.Set(1)
	}
	for _, p := range c.silentNodes() {
		c.relay.log.Warn("a node has gone", "node", p.id)
		c.forget(p)
	}
	for _, t := range c.trunks() {
		if len(t.links()) > 0 {
			t.put(ws.OpPing, nil) // shows the other node what it missed
		}
	}
}

// tellNodes publishes a sign of life, or the last one.
func (c *cluster) tellNodes(leaving bool) error {
	kind := noticeBeat
	if leaving {
		kind = noticeLeaving
	}
	data, err := json.Marshal(notice{Kind: kind, Node: c.self, Epoch: c.currentEpoch(), News: c.news.Load()})
	if err != nil {
		return err
	}
	return c.relay.node.Publish(subjectNodes, data)
}

func (c *cluster) currentEpoch() uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.epoch
}

// fail says that a trunk of an epoch broke. Any goroutine may call it, the
// directory's too: the work is left to beatLoop.
func (c *cluster) fail(epoch uint32) {
	c.broken.Store(epoch)
	poke(c.kick)
}

// endEpoch closes all channels to other nodes. Only beatLoop calls it.
func (c *cluster) endEpoch() {
	c.mu.Lock()
	var trunks []*trunk
	for _, p := range c.nodes {
		if p.trunk != nil {
			trunks = append(trunks, p.trunk)
			p.trunk = nil
		}
	}
	if len(trunks) > 0 {
		c.epoch++
	}
	c.mu.Unlock()
	for _, t := range trunks {
		t.shut(false)
		c.relay.dir.lostNode(t.node)
	}
}

// poke wakes a loop.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // it is awake
	}
}
