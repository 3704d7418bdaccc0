package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// nodeState is what is known of another node. cluster.mu guards it.
type nodeState struct {
	id     string
	trunk  *trunk
	seen   time.Time
	epoch  uint32
	news   uint32
	expect uint64 // the next seq
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

// heardLoss acts on lost messages: the store is asked what was missed, and so are
// the other nodes, both here and, for what we told, there.
func (c *cluster) heardLoss() {
	c.relay.metrics.busLosses.Inc()
	c.unsure.Store(true)
	c.stale.Store(true)
	c.news.Add(1)
	poke(c.kick)
	poke(c.check)
}

// heardBeat notes a sign of life. hearNode has done most of it.
func (c *cluster) heardBeat(n notice) {
	c.mu.Lock()
	p := c.nodes[n.Node]
	fresh := p != nil && (p.news != n.News+1)
	if p != nil {
		p.news = n.News + 1 // 0 is a node that was never heard
	}
	c.mu.Unlock()
	switch {
	case p == nil:
	case n.Kind == noticeLeaving:
		c.relay.log.Info("a node leaves", "node", n.Node)
		c.forget(p)
	case fresh:
		c.relay.log.Info("a node has news", "node", n.Node)
		c.stale.Store(true)
		poke(c.check)
	}
}
