package cluster

import (
	"encoding/json"
	"sync"

	"github.com/scorel/scorel/apps/relay/bus"
)

// maxOutbox is how many notices may wait for the bus.
const maxOutbox = 1 << 16

// outbox performs operations on the bus in order, so that no other goroutine waits
// for its network, least of all the loop of the routing state.
type outbox struct {
	cluster *Cluster
	wake    chan struct{}
	ended   chan struct{}

	mu      sync.Mutex
	waiting []func(bus.Node) error
	closed  bool
}

func (o *outbox) init(c *Cluster) {
	o.cluster, o.wake, o.ended = c, make(chan struct{}, 1), make(chan struct{})
}

func (o *outbox) start() { go o.run() }

func (o *outbox) run() {
	defer close(o.ended)
	for range o.wake {
		batch, closed := o.take()
		for len(batch) > 0 {
			for _, do := range batch {
				if err := do(o.cluster.node); err != nil {
					o.cluster.Metrics.BusErrors.Inc()
					o.cluster.Log.Debug("publishing to the bus failed", "error", err)
				}
			}
			batch, closed = o.take()
		}
		if closed {
			return
		}
	}
}

func (o *outbox) take() (batch []func(bus.Node) error, closed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch, o.waiting = o.waiting, nil
	return batch, o.closed
}

// stop returns when all queued operations are done.
func (o *outbox) stop() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	wake(o.wake)
	<-o.ended
}

func (o *outbox) size() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting)
}

// put queues an operation; it does not block. The operation is dropped if most are
// already queued; 0 means no limit.
func (o *outbox) put(do func(bus.Node) error, most int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.cluster.Alone {
		return
	}
	if most > 0 && len(o.waiting) >= most {
		o.cluster.Metrics.BusErrors.Inc()
		o.cluster.happened(NoticeFailed, nil)
		return
	}
	o.waiting = append(o.waiting, do)
	wake(o.wake)
}

// Waiting is how many notices and subscriptions wait for the bus.
func (c *Cluster) Waiting() int { return c.outbox.size() }

// Subscribe subscribes this node to a subject. Subscribe and Unsubscribe keep their
// order; the bus repeats failed ones after a reconnection.
func (c *Cluster) Subscribe(subject string) {
	c.outbox.put(func(n bus.Node) error { return n.Subscribe(subject) }, 0)
}

// Unsubscribe ends a subscription.
func (c *Cluster) Unsubscribe(subject string) {
	c.outbox.put(func(n bus.Node) error { return n.Unsubscribe(subject) }, 0)
}

// Publish notifies the other nodes. It does not block.
func (c *Cluster) Publish(subject string, n Notice) {
	data, err := json.Marshal(n)
	if err != nil {
		c.Log.Error("encoding a notice", "notice", n.Kind, "error", err)
		return
	}
	c.outbox.put(func(node bus.Node) error {
		err := node.Publish(subject, data)
		if err != nil {
			c.happened(NoticeFailed, err)
		}
		return err
	}, maxOutbox)
}

// Settled is closed when every operation queued so far is done.
func (c *Cluster) Settled() <-chan struct{} {
	done := make(chan struct{})
	o := &c.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || c.Alone {
		close(done)
		return done
	}
	o.waiting = append(o.waiting, func(bus.Node) error { close(done); return nil })
	wake(o.wake)
	return done
}
