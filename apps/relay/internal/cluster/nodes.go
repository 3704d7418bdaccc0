package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// nodeState is what is known about another node. Cluster.mu guards it.
type nodeState struct {
	id     string
	trunk  *Trunk
	seen   time.Time
	epoch  uint32
	news   uint32 // that of its last heartbeat, plus 1; 0 before the first
	expect uint64 // the next seq, or anySeq
}

// anySeq is expected from every node when an epoch of this node ends. A node that has forgotten
// this one meanwhile begins a trunk and counts from 1, the others go on, and it does not matter
// what was lost: no channel of before is open.
const anySeq = 0

// Trunk returns the trunk to a node. A new one begins with a ping, so that the other node, if
// it expects any seq, knows the next one before a channel opens.
func (c *Cluster) Trunk(node string) *Trunk {
	t, isNew := c.trunk(node)
	if isNew {
		t.Put(ws.OpPing, nil)
	}
	return t
}

func (c *Cluster) trunk(node string) (t *Trunk, isNew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[node]
	if n == nil {
		n = &nodeState{id: node, seen: time.Now(), expect: 1}
		c.nodes[node] = n
	}
	isNew = n.trunk == nil
	if isNew {
		n.trunk = newTrunk(c, node, c.epoch)
	}
	return n.trunk, isNew
}

// excuseSilence counts the silence of the other nodes from now on: their heartbeats could not
// reach this node before. c.mu must be held.
func (c *Cluster) excuseSilence() {
	for _, n := range c.nodes {
		n.seen = time.Now()
	}
}

// silentNodes returns the nodes that have not sent a heartbeat in time.
func (c *Cluster) silentNodes() []*nodeState {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*nodeState
	for _, n := range c.nodes {
		if time.Since(n.seen) > nodeTimeout {
			out = append(out, n)
		}
	}
	c.Metrics.Nodes.Set(float64(len(c.nodes) - len(out)))
	return out
}

// Others reports whether another node is there.
func (c *Cluster) Others() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.nodes {
		if time.Since(n.seen) <= nodeTimeout {
			return true
		}
	}
	return false
}

func (c *Cluster) trunks() []*Trunk {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*Trunk
	for _, n := range c.nodes {
		if n.trunk != nil {
			out = append(out, n.trunk)
		}
	}
	return out
}

// forget ends everything that went through a node that is gone.
func (c *Cluster) forget(n *nodeState) {
	c.mu.Lock()
	t := n.trunk
	n.trunk = nil
	if c.nodes[n.id] == n {
		delete(c.nodes, n.id)
	}
	c.mu.Unlock()
	if t != nil {
		t.shut(true)
	}
	c.Handler.NodeLost(n.id)
	c.Handler.NodeGone(n.id)
}

// resync closes the channels with a node whose messages were lost, and informs the
// node.
func (c *Cluster) resync(node string) {
	t := c.Trunk(node)
	for _, ch := range t.Channels() {
		ch.Close(wire.ReasonSlowConsumer, nil)
	}
	t.Put(ws.OpClose, nil)
	c.Handler.NodeLost(node)
}

// ObserveNode records a heartbeat of a node and reports whether it is valid: one of
// an epoch that has ended is not. A new epoch closes the channels of the old one,
// but none that is opened afterwards. The other node then expects any seq, so a ping
// shows it the present one.
func (c *Cluster) ObserveNode(node string, epoch uint32) bool {
	c.mu.Lock()
	n := c.nodes[node]
	if n == nil {
		n = &nodeState{id: node, epoch: epoch, expect: 1}
		c.nodes[node] = n
	}
	n.seen = time.Now()
	old := n.epoch
	var ended []*channel.Channel
	if old < epoch {
		n.epoch, n.expect = epoch, 1
		if old != 0 && n.trunk != nil {
			ended = n.trunk.Channels()
		}
	}
	t := n.trunk
	c.mu.Unlock()
	for _, ch := range ended {
		ch.Close(wire.ReasonPeerGone, &t.Mux) // the other node has closed its ends
	}
	if old != 0 && old < epoch {
		if t != nil {
			t.Put(ws.OpPing, nil)
		}
		c.Handler.NodeLost(node)
	}
	return old <= epoch
}

// inOrder notes a trunk message and reports whether it is the next one.
func (c *Cluster) inOrder(node string, seq uint64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[node]
	if n == nil {
		return true // forgotten a moment ago
	}
	want := n.expect
	n.expect = seq + 1
	return want == anySeq || seq == want
}

// handleBeat handles a heartbeat. ObserveNode has done most of it.
func (c *Cluster) handleBeat(beat Notice) {
	c.mu.Lock()
	n := c.nodes[beat.Node]
	hasNews := n != nil && n.news != beat.News+1
	if n != nil {
		n.news = beat.News + 1
	}
	c.mu.Unlock()
	switch {
	case n == nil:
	case beat.Kind == NoticeLeaving:
		c.Log.Info("a node is leaving", "node", beat.Node)
		c.forget(n)
	case hasNews:
		c.Log.Info("a node reports changes", "node", beat.Node)
		c.happened(NodeHasNews, nil)
	}
}

// Ask asks the nodes that subscribe to a subject and returns the first answer. The question
// is asked again if no node subscribes, because a subscription takes a moment to travel, or
// if the device is said to be offline, because the node that it has just left may answer
// before the one that it came to; unless question.Once is set. It is also repeated if no
// answer comes, because a node that is just unsubscribing may lose it. So it must be safe to
// ask twice.
func (c *Cluster) Ask(subject string, question Notice) (Reply, error) {
	question.Node, question.Epoch = c.self, c.currentEpoch()
	data, err := json.Marshal(question)
	if err != nil {
		return Reply{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), AskTimeout)
	defer cancel()
	for absent := 0; ; {
		a, err := c.askOnce(ctx, subject, data)
		switch {
		case errors.Is(err, bus.ErrNoResponders), err == nil && a.Kind == wire.KindDeviceOffline:
			if absent++; absent > 1 || question.Once {
				return a, err
			}
			<-time.After(InterestPause)
		case err == nil:
			return a, nil
		case !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil:
			return Reply{}, err
		}
	}
}

func (c *Cluster) askOnce(ctx context.Context, subject string, data []byte) (a Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, askAgain)
	defer cancel()
	got, err := c.node.Request(ctx, subject, data)
	if err != nil {
		return a, err
	}
	if err := exactjson.Unmarshal(got, &a); err != nil {
		return a, fmt.Errorf("reading another node's answer: %w", err)
	}
	return a, nil
}
