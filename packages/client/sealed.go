package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// ClosedError is why a channel was closed.
type ClosedError struct{ Reason wire.Reason }

func (e *ClosedError) Error() string {
	switch e.Reason {
	case wire.ReasonNotAuthorized, wire.ReasonRevoked:
		return "this client was removed on the device: pair again"
	case wire.ReasonExpired:
		return "the access of this client on the device has expired: ask its owner for more time, or pair again"
	case wire.ReasonPeerGone:
		return "the device went offline"
	case wire.ReasonSealBroken:
		return "the sealed channel broke: records were dropped, repeated or changed in transit"
	}
	return "the channel was closed: " + string(e.Reason)
}

// inboxBytes limits the unopened records of one channel. A relay that delivers
// faster than a peer reads loses the channel but does not exhaust the peer's
// memory.
const inboxBytes = 8 << 20

// Sealed is a Transport over one relay channel. The connection's Handler calls
// Deliver and Closed.
type Sealed struct {
	// Static after construction.
	conn    *relayconn.Conn
	channel uint32
	onClose func()
	inbox   *inbox

	// Set by start and by the handshake, before Send and Receive.
	shake  *seal.Handshake
	sealed *seal.Channel

	// Owned by Receive.
	received, acked uint64 // bytes of records: opened, and told so
	heard           uint64 // last acknowledgement sent

	sendMu sync.Mutex    // keeps the pieces of a message together
	moved  chan struct{} // holds one token if the other end may have acknowledged

	sent atomic.Uint64 // bytes of records
}

// NewSealed returns the sealed end of an opened channel. Initiate or Respond must
// run before Send and Receive. Close calls onClose, which may be nil.
func NewSealed(conn *relayconn.Conn, channel uint32, self *ident.Private, peer seal.Peer, onClose func()) (*Sealed, error) {
	s := newSealed(conn, channel, onClose)
	return s, s.start(self, peer)
}

func newSealed(conn *relayconn.Conn, channel uint32, onClose func()) *Sealed {
	return &Sealed{conn: conn, channel: channel, onClose: onClose, inbox: newInbox(inboxBytes), moved: make(chan struct{}, 1)}
}

func (s *Sealed) start(self *ident.Private, peer seal.Peer) (err error) {
	s.shake, err = seal.NewHandshake(self, peer, rand.Reader)
	return err
}

// Deliver passes on records from the connection's reader. It copies them and never
// blocks.
func (s *Sealed) Deliver(payloads ...[]byte) {
	if !s.inbox.put(payloads...) {
		s.fail(wire.ReasonSlowConsumer)
	}
}

// Closed reports that the channel was closed.
func (s *Sealed) Closed(reason wire.Reason) { s.inbox.close(&ClosedError{reason}) }

// Initiate runs the entry's half of the handshake.
func (s *Sealed) Initiate(ctx context.Context) error {
	first, err := s.shake.Start()
	if err != nil {
		return err
	}
	if err := s.conn.SendRecords(ctx, s.channel, first); err != nil {
		return err
	}
	second, err := s.inbox.take(ctx)
	if err != nil {
		return err
	}
	if s.sealed, err = s.shake.Finish(second); err != nil {
		s.fail(wire.ReasonSealBroken)
	}
	return err
}

// Respond runs the host's half of the handshake.
func (s *Sealed) Respond(ctx context.Context) error {
	first, err := s.inbox.take(ctx)
	if err != nil {
		return err
	}
	second, sealed, err := s.shake.Answer(first)
	if err != nil {
		s.fail(wire.ReasonSealBroken)
		return err
	}
	s.sealed = sealed
	return s.conn.SendRecords(ctx, s.channel, second)
}

// Send seals a message and queues its records, each as soon as it fits the window.
func (s *Sealed) Send(ctx context.Context, message []byte) error {
	var room [1]seal.Piece // most messages are one piece
	pieces, err := seal.Split(room[:0], message)
	if err != nil {
		return err
	}
	s.sendMu.Lock()
	defer s.sendMu.Unlock()
	for i, piece := range pieces {
		err := s.awaitRoom(ctx, piece.RecordLen())
		if err == nil {
			err = s.sendPiece(ctx, piece)
		}
		if err != nil && i > 0 {
			// A half-sent message cannot be withdrawn, and the next one must not
			// end up inside it.
			s.fail(wire.ReasonClosed)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// awaitRoom waits until n more bytes fit the window.
func (s *Sealed) awaitRoom(ctx context.Context, n int) error {
	for {
		if s.inbox.ended() {
			return s.inbox.failure()
		}
		acked := s.sealed.Acked() // read before sent, which only grows
		sent := s.sent.Load()
		if acked > sent {
			s.fail(wire.ReasonProtocol)
			return errors.New("the other end acknowledged more than was sent")
		}
		if sent == acked || sent-acked+uint64(n) <= seal.Window {
			return nil
		}
		select {
		case <-s.moved:
		case <-s.inbox.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// sendPiece seals a piece directly into the connection's queue, which ensures that
// records are sealed one at a time, sent in the order of their counters, and always
// sent once sealed.
func (s *Sealed) sendPiece(ctx context.Context, piece seal.Piece) error {
	err := s.conn.AppendRecord(ctx, s.channel, piece.RecordLen(), func(dst []byte) ([]byte, error) {
		s.sent.Add(uint64(piece.RecordLen()))
		return s.sealed.AppendPiece(dst, piece)
	})
	if err != nil && ctx.Err() == nil { // giving up while waiting loses nothing
		s.fail(wire.ReasonClosed)
	}
	return err
}

// Receive implements Transport.
func (s *Sealed) Receive(ctx context.Context) ([]byte, error) {
	for {
		record, err := s.inbox.take(ctx)
		if err != nil {
			return nil, err
		}
		message, err := s.sealed.OpenInPlace(record)
		if err != nil {
			s.fail(wire.ReasonSealBroken)
			return nil, err
		}
		if err := s.acknowledge(ctx, len(record)); err != nil {
			return nil, err
		}
		if message != nil {
			return message, nil
		}
	}
}

// acknowledge wakes a sender that waits for the window, and acknowledges received
// bytes to the other end.
func (s *Sealed) acknowledge(ctx context.Context, n int) error {
	if acked := s.sealed.Acked(); acked != s.heard {
		s.heard = acked
		select {
		case s.moved <- struct{}{}:
		default:
		}
	}
	s.received += uint64(n)
	if s.received-s.acked < seal.AckEvery {
		return nil
	}
	if err := s.sendPiece(ctx, seal.Ack(s.received)); err != nil {
		s.fail(wire.ReasonClosed) // the message that was just opened is lost
		return err
	}
	s.acked = s.received
	return nil
}

// Close closes the channel.
func (s *Sealed) Close() error {
	s.fail(wire.ReasonClosed)
	if s.onClose != nil {
		s.onClose()
	}
	return nil
}

// CloseWith closes the channel and sends the reason to the relay.
func (s *Sealed) CloseWith(reason wire.Reason) { s.fail(reason) }

func (s *Sealed) fail(reason wire.Reason) {
	if !s.inbox.close(&ClosedError{reason}) {
		return // already closed, possibly by the other end
	}
	_ = s.conn.CloseChannel(s.channel, reason) // a connection that has ended has no channels
}

// DescribeOpen adds to an error of OpenChannel or Seal what a person can do about it. label
// names the device.
func DescribeOpen(err error, label string) error {
	var refused *wire.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("opening a channel to %s: %w", label, err)
	}
	switch refused.Kind {
	case wire.KindDeviceOffline:
		return fmt.Errorf("%s is offline: is its host running? (%w)", label, err)
	case wire.KindUnauthorized:
		return fmt.Errorf("the relay has no pairing with %s: pair again (%w)", label, err)
	}
	return fmt.Errorf("opening a channel to %s: %w", label, err)
}
