// Package bus carries what relay nodes tell each other. One node needs none;
// Local joins the nodes of one process.
//
// Delivery: messages of one publisher on one subject arrive in order, at most
// once, and never at their publisher. Nothing is kept for a node that is not
// subscribed. A node that falls behind or is cut off loses messages and is told so
// by a Message with Lost set, never silently. Interest takes a moment to travel:
// right after Subscribe another node may still find nobody there.
package bus

import (
	"context"
	"errors"
)

var (
	// ErrNoResponders is wrapped by Request when no other node subscribes to the subject.
	ErrNoResponders = errors.New("bus: no responders")
	// ErrUnreachable is wrapped by Attach when nothing of the bus answers.
	ErrUnreachable = errors.New("bus: cannot be reached")
	// ErrClosed is wrapped by every call on a closed Node.
	ErrClosed = errors.New("bus: closed")
)

// MaxData is the largest Data of a message in bytes.
const MaxData = 512 << 10

// Message is one message, as a node's handler gets it.
type Message struct {
	Subject string
	Data    []byte // the handler may keep it and must not change it
	// Respond answers a request; it is nil for a publication. Only the first
	// answer to a request counts.
	Respond func(data []byte) error
	// Lost says that messages were dropped before this one, or that the bus was or
	// is out of reach. It carries nothing else: what they would have said must be
	// read again elsewhere.
	Lost bool
}

// Bus joins nodes.
type Bus interface {
	// Attach adds a node. All its messages go to handle, one at a time, from one
	// goroutine that Close waits for. handle must not call Close.
	Attach(handle func(Message)) (Node, error)
}

// Node is one node's end of the bus. It is safe for concurrent use. A subject is
// letters, digits, "_", "-" and dots between them.
type Node interface {
	// Subscribe makes the node hear a subject; again is no error.
	Subscribe(subject string) error
	// Unsubscribe ends that; a message under way may still arrive.
	Unsubscribe(subject string) error
	// Publish tells the other subscribers. It does not wait for them, but may wait
	// for the network. The caller may change data afterwards.
	Publish(subject string, data []byte) error
	// Request returns the first answer, or an error that wraps ErrNoResponders. ctx
	// must have a deadline: the answer may be lost.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
	// Check tells whether the bus works now.
	Check(ctx context.Context) error
	Close() error
}
