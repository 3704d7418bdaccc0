package relay

import (
	"encoding/json"
	"sync"

	"github.com/scorel/scorel/apps/relay/bus"
)

// maxOutbox is how many notices may wait for the bus.
const maxOutbox = 1 << 16

// outbox does in order what has to be done on the bus, so that nobody else waits
// for the bus's network, the directory least of all.
type outbox struct {
	relay *Relay
	wake  chan struct{}
	ended chan struct{}

	mu      sync.Mutex
	waiting []func(bus.Node) error
	closed  bool
}

func (o *outbox) init(r *Relay) {
	o.relay, o.wake, o.ended = r, make(chan struct{}, 1), make(chan struct{})
}

func (o *outbox) start() { go o.run() }

func (o *outbox) run() {
	defer close(o.ended)
	for range o.wake {
		for {
			o.mu.Lock()
			batch, closed := o.waiting, o.closed
			o.waiting = nil
			o.mu.Unlock()
			for _, do := range batch {
				if err := do(o.relay.node); err != nil {
					o.relay.metrics.busErrors.Inc()
					o.relay.log.Debug("the bus took something not", "error", err)
				}
			}
			if len(batch) > 0 {
				continue
			}
			if closed {
				return
			}
			break
		}
	}
}

// stop returns when all that waits is done.
func (o *outbox) stop() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	poke(o.wake)
	<-o.ended
}

// put queues something; it does not block. most bounds what may wait for it to be
// taken, 0 means any.
func (o *outbox) put(do func(bus.Node) error, most int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.relay.cluster.alone {
		return
	}
	if most > 0 && len(o.waiting) >= most {
		o.relay.metrics.busErrors.Inc()
		return // the next sign of life makes the others ask, see cluster.news
	}
	o.waiting = append(o.waiting, do)
	poke(o.wake)
}

// subscribe and unsubscribe keep their order. What fails is repeated by the bus
// when it is back.
func (o *outbox) subscribe(subject string) {
	o.put(func(n bus.Node) error { return n.Subscribe(subject) }, 0)
}

func (o *outbox) unsubscribe(subject string) {
	o.put(func(n bus.Node) error { return n.Unsubscribe(subject) }, 0)
}

// publish tells other nodes.
func (o *outbox) publish(subject string, n notice) {
	data, err := json.Marshal(n)
	if err != nil {
		o.relay.log.Error("encoding a notice", "notice", n.Kind, "error", err)
		return
	}
	o.put(func(node bus.Node) error {
		err := node.Publish(subject, data)
		if err != nil {
			o.relay.cluster.news.Add(1)
		}
		return err
	}, maxOutbox)
}

// settled is closed when everything that was put before is done.
func (o *outbox) settled() <-chan struct{} {
	done := make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.relay.cluster.alone {
		close(done)
		return done
	}
	o.waiting = append(o.waiting, func(bus.Node) error { close(done); return nil })
	poke(o.wake)
	return done
}
