// Package ws implements the server side of RFC 6455 as far as a relay needs it: the
// upgrade, a reader that parses frames in place, and frame headers for writing. It
// supports no extension and never compresses, because a relay carries encrypted
// data.
//
// It exists because a relay holds many idle connections and forwards many small
// messages. An idle connection keeps IdleBuffer bytes; larger buffers are borrowed
// while bytes arrive. A message is delivered while it is still arriving, and
// reading one does not allocate.
//
// A Reader belongs to one goroutine. This package starts none.
package ws

import (
	"errors"
	"fmt"
)

// Op is the opcode of a frame.
type Op byte

// The opcodes of RFC 6455, section 5.2.
const (
	OpContinuation Op = 0x0
	OpText         Op = 0x1
	OpBinary       Op = 0x2
	OpClose        Op = 0x8
	OpPing         Op = 0x9
	OpPong         Op = 0xA
)

// The status codes that a relay sends (RFC 6455, section 7.4.1).
const (
	StatusNormal      = 1000
	StatusGoingAway   = 1001
	StatusProtocol    = 1002
	StatusPolicy      = 1008
	StatusTooBig      = 1009
	StatusTryAgain    = 1013
	maxControlPayload = 125
)

// ErrNoRoom ends a connection whose message needs a larger buffer than is
// available.
var ErrNoRoom = errors.New("ws: no room for the message")

// ProtocolError means that the peer violated RFC 6455 or a limit of this reader. The
// connection must end.
type ProtocolError struct {
	Status int    // status code for the close frame
	Text   string // what was wrong
}

func (e *ProtocolError) Error() string { return fmt.Sprintf("ws: %s (status %d)", e.Text, e.Status) }
