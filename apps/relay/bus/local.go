package bus

import (
	"bytes"
	"context"
	"fmt"
	"sync"
)

// Local is a Bus within one process.
type Local struct {
	mu       sync.RWMutex
	subjects map[string]map[*localNode]struct{}
}

// NewLocal returns a Local without nodes.
func NewLocal() *Local { return &Local{subjects: make(map[string]map[*localNode]struct{})} }

type localNode struct {
	bus   *Local
	inbox *Inbox

	mu     sync.Mutex
	closed bool
	mine   map[string]struct{}
}

// Attach implements Bus.
func (b *Local) Attach(handle func(Message)) (Node, error) {
	return &localNode{bus: b, inbox: NewInbox(handle), mine: make(map[string]struct{})}, nil
}

// Subscribe implements Node.
func (n *localNode) Subscribe(subject string) error {
	if err := n.change(subject, true); err != nil {
		return err
	}
	n.bus.mu.Lock()
	defer n.bus.mu.Unlock()
	nodes := n.bus.subjects[subject]
	if nodes == nil {
		nodes = make(map[*localNode]struct{}, 1)
		n.bus.subjects[subject] = nodes
	}
	nodes[n] = struct{}{}
	return nil
}

// Unsubscribe implements Node.
func (n *localNode) Unsubscribe(subject string) error {
	if err := n.change(subject, false); err != nil {
		return err
	}
	n.bus.drop(n, subject)
	return nil
}

func (n *localNode) change(subject string, add bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return fmt.Errorf("%w: subscribing", ErrClosed)
	}
	if add {
		n.mine[subject] = struct{}{}
	} else {
		delete(n.mine, subject)
	}
	return nil
}

func (b *Local) drop(n *localNode, subject string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.subjects[subject], n)
	if len(b.subjects[subject]) == 0 {
		delete(b.subjects, subject)
	}
}

// others returns the subscribers of subject except n.
func (n *localNode) others(subject string) []*localNode {
	n.bus.mu.RLock()
	defer n.bus.mu.RUnlock()
	var out []*localNode
	for other := range n.bus.subjects[subject] {
		if other != n {
			out = append(out, other)
		}
	}
	return out
}

// Publish implements Node.
func (n *localNode) Publish(subject string, data []byte) error {
	if err := n.sendable(data); err != nil {
		return err
	}
	others := n.others(subject)
	if len(others) > 0 {
		data = bytes.Clone(data) // the caller may reuse its buffer
	}
	for _, other := range others {
		other.inbox.Put(Message{Subject: subject, Data: data})
	}
	return nil
}

// Request implements Node.
func (n *localNode) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if err := n.sendable(data); err != nil {
		return nil, err
	}
	others := n.others(subject)
	if len(others) == 0 {
		return nil, fmt.Errorf("%w on %s", ErrNoResponders, subject)
	}
	answer := make(chan []byte, 1)
	respond := func(data []byte) error {
		select {
		case answer <- data:
		default: // another answer came first
		}
		return nil
	}
	data = bytes.Clone(data)
	for _, other := range others {
		other.inbox.Put(Message{Subject: subject, Data: data, Respond: respond})
	}
	select {
	case data := <-answer:
		return data, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("bus: waiting for a response on %s: %w", subject, ctx.Err())
	}
}

func (n *localNode) sendable(data []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("%w: sending", ErrClosed)
	case len(data) > MaxData:
		return fmt.Errorf("bus: message of %d bytes is over the limit of %d", len(data), MaxData)
	}
	return nil
}

// Check implements Node.
func (n *localNode) Check(context.Context) error { return n.sendable(nil) }

// Close implements Node. It returns when the handler has ended.
func (n *localNode) Close() error {
	n.mu.Lock()
	mine := n.mine
	n.closed, n.mine = true, nil
	n.mu.Unlock()
	for subject := range mine {
		n.bus.drop(n, subject)
	}
	n.inbox.Close()
	return nil
}
