// Package bus carries messages between relay nodes. A single node needs none; Local
// connects the nodes of one process.
//
// Delivery: messages of one publisher on one subject arrive in order, at most once,
// and never at their publisher. Nothing is stored for a node that is not
// subscribed. A node that falls behind or is disconnected loses messages, which a
// Message with Lost set reports. Interest takes a moment to propagate: right after
// Subscribe another node may still find no subscriber.
package bus

import (
	"context"
	"errors"
)

var (
	// ErrNoResponders is wrapped by Request if no other node subscribes to the
	// subject.
	ErrNoResponders = errors.New("bus: no responders")
	// ErrUnreachable is wrapped by Attach if the bus cannot be reached.
	ErrUnreachable = errors.New("bus: cannot be reached")
	// ErrClosed is wrapped by every call on a closed Node.
	ErrClosed = errors.New("bus: closed")
)

// MaxData is the largest Data of a message in bytes.
const MaxData = 512 << 10

// Message is a message as passed to a node's handler.
type Message struct {
	Subject string
	Data    []byte // the handler may keep it but must not modify it
	// Respond answers a request; it is nil for a publication. Only the first answer
	// to a request is used.
	Respond func(data []byte) error
	// Lost means that messages before this one were dropped, or that the bus was or
	// is unreachable. Such a message carries nothing else: the lost content must be
	// read from elsewhere.
	Lost bool
}

// Bus connects nodes.
type Bus interface {
	// Attach adds a node. All its messages are passed to handle, one at a time,
	// from one goroutine that Close waits for. handle must not call Close.
	Attach(handle func(Message)) (Node, error)
}

// Node is one node's connection to the bus. It is safe for concurrent use. A
// subject consists of letters, digits, "_", "-" and dots between them.
type Node interface {
	// Subscribe subscribes the node to a subject. Subscribing again is not an
	// error.
	Subscribe(subject string) error
	// Unsubscribe ends a subscription; a message in flight may still arrive.
	Unsubscribe(subject string) error
	// Publish sends to the other subscribers. It does not wait for them but may
	// wait for the network. The caller may modify data afterwards.
	Publish(subject string, data []byte) error
	// Request returns the first answer, or an error that wraps ErrNoResponders. ctx
	// must have a deadline: the answer may be lost.
	Request(ctx context.Context, subject string, data []byte) ([]byte, error)
	// Check returns an error if the bus does not work at the moment.
	Check(ctx context.Context) error
	Close() error
}
