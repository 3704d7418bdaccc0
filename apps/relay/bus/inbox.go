package bus

import "sync"

const (
	// inboxBytes limits the messages that wait for a node's handler.
	inboxBytes = 16 << 20
	// messageCost is added for each message to the size of its data, so that empty
	// ones are limited too.
	messageCost = 128
)

// Inbox queues messages for a node's handler, limited in bytes, and runs the
// handler in one goroutine. Implementations of Bus share it.
type Inbox struct {
	handle func(Message)
	wake   chan struct{} // holds a token while the goroutine has work
	ended  chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex
	waiting []Message
	bytes   int
	lost    bool // messages were dropped since the last report to the handler
	closed  bool
}

// NewInbox starts the handler's goroutine; Close ends it.
func NewInbox(handle func(Message)) *Inbox {
	b := &Inbox{handle: handle, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go b.handleLoop()
	return b
}

// Put queues a message without blocking. One that does not fit is lost, and the
// loss is reported to the handler.
func (b *Inbox) Put(msg Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	cost := messageCost + len(msg.Data)
	switch {
	case b.closed:
		return
	case b.bytes+cost > inboxBytes:
		b.lost = true
		return
	}
	b.reportLoss()
	b.waiting = append(b.waiting, msg)
	b.bytes += cost
	b.notify()
}

// Lose reports to the handler that messages were lost elsewhere.
func (b *Inbox) Lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = true
	b.notify()
}

// reportLoss queues the message that reports a loss. b.mu must be held.
func (b *Inbox) reportLoss() {
	if b.lost {
		b.lost = false
		b.waiting = append(b.waiting, Message{Lost: true})
	}
}

func (b *Inbox) notify() {
	select {
	case b.wake <- struct{}{}:
	default: // already awake
	}
}

func (b *Inbox) handleLoop() {
	defer close(b.ended)
	for range b.wake {
		batch, closed := b.take()
		for len(batch) > 0 {
			for i, msg := range batch {
				b.handle(msg)
				batch[i] = Message{}
				if !msg.Lost {
					b.handled(messageCost + len(msg.Data))
				}
			}
			batch, closed = b.take()
		}
		if closed {
			return
		}
	}
}

func (b *Inbox) take() (batch []Message, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reportLoss()
	batch, b.waiting = b.waiting, nil
	return batch, b.closed
}

func (b *Inbox) handled(cost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes -= cost
}

// Close stops accepting messages and returns when the handler has handled those
// that waited.
func (b *Inbox) Close() {
	b.mu.Lock()
	b.closed = true
	b.notify()
	b.mu.Unlock()
	<-b.ended
}
