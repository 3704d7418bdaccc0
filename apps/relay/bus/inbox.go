package bus

import "sync"

const (
	// inboxBytes is how much may wait for the handler of a node.
	inboxBytes = 16 << 20
	// messageCost is counted for each message on top of its data, so that empty
	// ones are bounded too.
	messageCost = 128
)

// Inbox holds what waits for a node's handler, bounded in bytes, and runs the
// handler in one goroutine. Implementations of Bus share it.
type Inbox struct {
	handle func(Message)
	wake   chan struct{} // holds a token while the goroutine has something to do
	ended  chan struct{} // closed when the goroutine is gone

	mu      sync.Mutex
	waiting []Message
	bytes   int
	lost    bool // messages were dropped since the handler was last told
	closed  bool
}

// NewInbox starts the handler's goroutine, which Close ends.
func NewInbox(handle func(Message)) *Inbox {
	b := &Inbox{handle: handle, wake: make(chan struct{}, 1), ended: make(chan struct{})}
	go b.handleLoop()
	return b
}

// Put hands a message over without blocking. What does not fit is lost, and the
// handler will be told.
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
	b.tellLoss()
	b.waiting = append(b.waiting, msg)
	b.bytes += cost
	b.nudge()
}

// Lose tells the handler that messages were lost elsewhere.
func (b *Inbox) Lose() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = true
	b.nudge()
}

// tellLoss puts the news of a loss in its place. b.mu must be held.
func (b *Inbox) tellLoss() {
	if b.lost {
		b.lost = false
		b.waiting = append(b.waiting, Message{Lost: true})
	}
}

func (b *Inbox) nudge() {
	select {
	case b.wake <- struct{}{}:
	default: // it will look anyway
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
	b.tellLoss()
	batch, b.waiting = b.waiting, nil
	return batch, b.closed
}

func (b *Inbox) handled(cost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes -= cost
}

// Close lets nothing more in and returns when the handler has had what waited.
func (b *Inbox) Close() {
	b.mu.Lock()
	b.closed = true
	b.nudge()
	b.mu.Unlock()
	<-b.ended
}
