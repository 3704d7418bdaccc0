package cluster

import (
	"encoding/json"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/ws"
)

func (c *Cluster) beatLoop() {
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

func (c *Cluster) beat() {
	if err := c.publishBeat(false); err != nil {
		c.happened(BeatFailed, err)
		return
	}
	c.happened(BeatSent, nil)
	c.Handler.AnnounceLogins()
	for _, n := range c.silentNodes() {
		c.Log.Warn("a node stopped responding", "node", n.id)
		c.forget(n)
	}
	for _, t := range c.trunks() {
		if len(t.Channels()) > 0 {
			t.Put(ws.OpPing, nil) // shows the other node what it missed
		}
	}
}

// publishBeat publishes a heartbeat, or the last one.
func (c *Cluster) publishBeat(leaving bool) error {
	kind := NoticeBeat
	if leaving {
		kind = NoticeLeaving
	}
	c.mu.Lock()
	n := Notice{Kind: kind, Node: c.self, Epoch: c.epoch, News: c.news}
	c.mu.Unlock()
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return c.node.Publish(SubjectNodes, data)
}

// checkLoop keeps the bindings up to date with the store. Other nodes publish their
// changes, but notices can be lost, and a node without a bus still writes.
func (c *Cluster) checkLoop() {
	ticker := time.NewTicker(beatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if s := c.State(); c.Alone && s.Bindings == Known && !s.Blind {
				continue // no other node writes
			}
		case <-c.check:
		case <-c.quit:
			return
		}
		c.happened(CheckBegan, nil)
		if err := c.Handler.CheckBindings(); err != nil {
			c.happened(CheckFailed, err)
		} else {
			c.happened(CheckPassed, nil)
		}
	}
}

// wake wakes a loop.
func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default: // already awake
	}
}
