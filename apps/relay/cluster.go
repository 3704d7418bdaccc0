package relay

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
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

// nodeState is what is known of another node. cluster.mu guards it.
type nodeState struct {
	id     string
	trunk  *trunk
	seen   time.Time
	epoch  uint32
	news   uint32
	expect uint64 // the next seq
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

// trunk returns the trunk to a node.
func (c *cluster) trunk(node string) *trunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.nodes[node]
	if p == nil {
		p = &nodeState{id: node, seen: time.Now(), expect: 1}
		c.nodes[node] = p
	}
	if p.trunk == nil {
		p.trunk = newTrunk(c, node, c.epoch)
	}
	return p.trunk
}

// silentNodes are those that have not been heard of in time.
func (c *cluster) silentNodes() []*nodeState {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*nodeState
	for _, p := range c.nodes {
		if time.Since(p.seen) > nodeTimeout {
			out = append(out, p)
		}
	}
	c.relay.metrics.nodes.Set(float64(len(c.nodes) - len(out)))
	return out
}

func (c *cluster) trunks() []*trunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*trunk
	for _, p := range c.nodes {
		if p.trunk != nil {
			out = append(out, p.trunk)
		}
	}
	return out
}

// forget ends everything that went through a node: it has gone.
func (c *cluster) forget(p *nodeState) {
	c.mu.Lock()
	t := p.trunk
	p.trunk = nil
	if c.nodes[p.id] == p {
		delete(c.nodes, p.id)
	}
	c.mu.Unlock()
	if t != nil {
		t.shut(true)
	}
	c.relay.dir.lostNode(p.id)
	_ = c.relay.dir.do(func() { c.relay.dir.nodeGone(p.id) }) // a stopped directory has nobody to tell
}

// resync closes the channels with a node whose messages were lost, and tells it.
func (c *cluster) resync(node string) {
	t := c.trunk(node)
	for _, l := range t.links() {
		l.close(wire.ReasonSlowConsumer, nil)
	}
	t.put(ws.OpClose, nil)
	c.relay.dir.lostNode(node)
}

// hearNode notes a sign of life of a node and reports whether it counts: one of an
// epoch that has ended does not. A new epoch ends the channels of the old one,
// and none that is opened afterwards.
func (c *cluster) hearNode(node string, epoch uint32) bool {
	c.mu.Lock()
	p := c.nodes[node]
	if p == nil {
		p = &nodeState{id: node, epoch: epoch, expect: 1}
		c.nodes[node] = p
	}
	p.seen = time.Now()
	old := p.epoch
	var ended []*link
	if old < epoch {
		p.epoch, p.expect = epoch, 1
		if old != 0 && p.trunk != nil {
			ended = p.trunk.links()
		}
	}
	t := p.trunk
	c.mu.Unlock()
	for _, l := range ended {
		l.close(wire.ReasonPeerGone, &t.lane) // the other node has closed its ends
	}
	if old != 0 && old < epoch {
		c.relay.dir.lostNode(node)
	}
	return old <= epoch
}

// inOrder takes note of a trunk message and reports whether it is the next.
func (c *cluster) inOrder(node string, seq uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.nodes[node]
	if p == nil {
		return true // forgotten a moment ago
	}
	want := p.expect
	p.expect = seq + 1
	return seq == want
}

// ask asks whoever hears a subject and returns the answer. That nobody does is
// believed the second time, because interest takes a moment to travel, and the
// question is repeated when no answer comes, because a node that is just losing
// interest may swallow it. So what is asked must bear being asked twice.
func (c *cluster) ask(subject string, question notice) (reply, error) {
	question.Node, question.Epoch = c.self, c.currentEpoch()
	data, err := json.Marshal(question)
	if err != nil {
		return reply{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	for nobody := 0; ; {
		got, err := c.askOnce(ctx, subject, data)
		switch {
		case err == nil:
			var a reply
			if err := json.Unmarshal(got, &a); err != nil {
				return reply{}, fmt.Errorf("reading the answer of another node: %w", err)
			}
			return a, nil
		case errors.Is(err, bus.ErrNoResponders):
			if nobody++; nobody > 1 || question.Once {
				return reply{}, err
			}
			<-time.After(interestPause)
		case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
			return reply{}, err
		}
	}
}

func (c *cluster) askOnce(ctx context.Context, subject string, data []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askAgain)
	defer cancel()
	return c.relay.node.Request(ctx, subject, data)
}

// poke wakes a loop.
func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // it is awake
	}
}
