package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Pairings runs the pairings of one connection. The connection's Handler passes
// frames to Control; the other methods block and are called from other goroutines.
type Pairings struct {
	// Static after NewPairings.
	conn *relayconn.Conn
	keys *ident.Private
	lost chan struct{} // closed by Lost

	mu        sync.Mutex
	last      int
	byRequest map[string]*Pairing
	bySlot    map[string]*Pairing
}

// NewPairings prepares pairings on conn with the keys that logged it in.
func NewPairings(conn *relayconn.Conn, keys *ident.Private) *Pairings {
	return &Pairings{conn: conn, keys: keys, lost: make(chan struct{}), byRequest: map[string]*Pairing{}, bySlot: map[string]*Pairing{}}
}

// Pairing is one ceremony. Call Await, then Accept or Reject; Reject may also be
// called after any error.
type Pairing struct {
	Code      pair.Code
	ExpiresAt time.Time // zero for a redeemed code

	owner   *Pairings
	creator bool
	inbox   chan wire.Frame
	peer    wire.Peer
}

// pairingInbox is larger than the number of frames in a ceremony.
const pairingInbox = 8

// PairError is why a pairing failed, in a sentence for people.
type PairError struct {
	Kind    wire.Kind
	Message string
}

func (e *PairError) Error() string { return e.Message }

func pairError(kind wire.Kind, message string) *PairError {
	switch kind {
	case wire.KindPairUnknown:
		message = "this code is not valid: it was mistyped, was already used, or has expired; ask for a new one"
	case wire.KindRateLimited:
		message = "too many attempts: wait a minute and try again"
	case wire.KindPairBusy:
		message = "this code is already in use: ask for a new one"
	case wire.KindPairSelf:
		message = "this code was made by the same kind of device: pair a browser or terminal with a machine that runs a host"
	}
	return &PairError{Kind: kind, Message: message}
}

// Create requests a slot from the relay and generates a code.
func (p *Pairings) Create(ctx context.Context) (*Pairing, error) {
	pairing, frame, err := p.begin(ctx, true, func(requestID string) wire.Frame {
		return wire.CreatePairSession{RequestID: requestID}
	})
	if err != nil {
		return nil, err
	}
	session, ok := frame.(*wire.PairSession)
	if !ok {
		return nil, fmt.Errorf("the relay answered %s to a request for a pairing code", frame.FrameType())
	}
	if pairing.Code, err = pair.NewCode(session.Slot, rand.Reader); err != nil {
		return nil, err
	}
	pairing.ExpiresAt = time.UnixMilli(session.ExpiresAt)
	return pairing, nil
}

// Redeem redeems a code that the other side shows.
func (p *Pairings) Redeem(ctx context.Context, code pair.Code) (*Pairing, error) {
	pairing, frame, err := p.begin(ctx, false, func(requestID string) wire.Frame {
		return wire.RedeemPair{RequestID: requestID, Slot: code.Slot()}
	})
	if err != nil {
		return nil, err
	}
	joined, ok := frame.(*wire.PairJoined)
	if !ok {
		return nil, fmt.Errorf("the relay answered %s to a pairing code", frame.FrameType())
	}
	pairing.Code, pairing.peer = code, joined.Peer
	return pairing, nil
}

// begin sends a request and waits for its answer.
func (p *Pairings) begin(ctx context.Context, creator bool, request func(string) wire.Frame) (*Pairing, wire.Frame, error) {
	pairing := &Pairing{owner: p, creator: creator, inbox: make(chan wire.Frame, pairingInbox)}
	p.mu.Lock()
	p.last++
	requestID := "pair-" + strconv.Itoa(p.last)
	p.byRequest[requestID] = pairing
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.byRequest, requestID)
		p.mu.Unlock()
	}()
	if err := p.conn.Send(ctx, request(requestID)); err != nil {
		return nil, nil, err
	}
	frame, err := pairing.next(ctx)
	return pairing, frame, err
}

// Control handles a frame from the connection's reader; it returns false if the
// frame is not part of a pairing. It does not block.
func (p *Pairings) Control(frame wire.Frame) bool {
	requestID, slot, ours := pairingKeys(frame)
	if !ours {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pairing, ok := p.byRequest[requestID]
	if ok && slot != "" {
		p.bySlot[slot] = pairing
	}
	if !ok {
		if pairing, ok = p.bySlot[slot]; !ok {
			_, isError := frame.(*wire.ErrorFrame)
			return !isError
		}
	}
	select {
	case pairing.inbox <- frame:
	default: // too many frames: the relay misbehaves, and the ceremony times out
	}
	return true
}

// pairingKeys returns which pairing a frame belongs to.
func pairingKeys(frame wire.Frame) (requestID, slot string, ours bool) {
	switch f := frame.(type) {
	case *wire.PairSession:
		return f.RequestID, f.Slot, true
	case *wire.PairJoined:
		return f.RequestID, f.Slot, true
	case *wire.PairMessage:
		return "", f.Slot, true
	case *wire.PairComplete:
		return "", f.Slot, true
	case *wire.PairClosed:
		return "", f.Slot, true
	case *wire.ErrorFrame:
		return f.RequestID, "", f.RequestID != ""
	}
	return "", "", false
}

// next returns the next frame that is not an error.
func (p *Pairing) next(ctx context.Context) (wire.Frame, error) {
	select {
	case frame := <-p.inbox:
		switch f := frame.(type) {
		case *wire.ErrorFrame:
			return nil, pairError(f.Kind, f.Message)
		case *wire.PairClosed:
			return nil, pairError(f.Kind, f.Message)
		}
		return frame, nil
	case <-p.owner.lost:
		return nil, errPairingLost
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// errPairingLost ends the pairings of a lost connection: the relay burns their
// slots with it, so their codes are no longer valid.
var errPairingLost = errors.New("the connection to the relay was lost, and the code is no longer valid: ask for a new one")

// Lost ends all pairings. It must be called once, when the connection has ended.
func (p *Pairings) Lost() { close(p.lost) }

// Await waits for the other side and runs the confirmation. It returns the peer
// that proved to know the code.
func (p *Pairing) Await(ctx context.Context) (wire.Peer, error) {
	if p.creator {
		frame, err := p.next(ctx)
		if err != nil {
			return wire.Peer{}, err
		}
		joined, ok := frame.(*wire.PairJoined)
		if !ok {
			return wire.Peer{}, fmt.Errorf("pairing: the relay sent %s too early", frame.FrameType())
		}
		p.peer = joined.Peer
	}
	if err := p.confirm(ctx); err != nil {
		p.Reject()
		return wire.Peer{}, err
	}
	return p.peer, nil
}

func (p *Pairing) confirm(ctx context.Context) error {
	self := p.owner.keys
	machine, err := pair.New(pair.Config{
		Code:    p.Code,
		Self:    pair.Party{ID: self.ID(), Keys: self.Public()},
		Peer:    pair.Party{ID: p.peer.ID, Keys: p.peer.Public},
		Creator: p.creator,
	}, rand.Reader)
	if err != nil {
		return err
	}
	if err := p.send(ctx, machine.Start()); err != nil {
		return err
	}
	for !machine.Done() {
		frame, err := p.next(ctx)
		if err != nil {
			return err
		}
		message, ok := frame.(*wire.PairMessage)
		if !ok {
			return fmt.Errorf("pairing: the relay sent %s too early", frame.FrameType())
		}
		reply, err := machine.Handle(message.Body)
		if errors.Is(err, pair.ErrConfirm) {
			return &PairError{Kind: wire.KindBadProof, Message: "the codes do not match: the code was mistyped, or the connection is intercepted; ask for a new code"}
		}
		if err != nil {
			return err
		}
		if err := p.send(ctx, reply); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pairing) send(ctx context.Context, body []byte) error {
	if body == nil {
		return nil
	}
	return p.owner.conn.Send(ctx, wire.PairMessage{Slot: p.Code.Slot(), Body: body})
}

// Accept sends this side's acceptance to the relay and waits until the other side
// accepts too and the binding is stored.
func (p *Pairing) Accept(ctx context.Context) (wire.Peer, error) {
	defer p.forget()
	if err := p.owner.conn.Send(ctx, wire.PairAccept{Slot: p.Code.Slot()}); err != nil {
		return wire.Peer{}, err
	}
	for {
		frame, err := p.next(ctx)
		if err != nil {
			return wire.Peer{}, err
		}
		if complete, ok := frame.(*wire.PairComplete); ok {
			if complete.Peer.ID != p.peer.ID {
				return wire.Peer{}, errors.New("pairing: the relay completed the pairing with a different device")
			}
			return p.peer, nil
		}
	}
}

// Reject burns the slot.
func (p *Pairing) Reject() {
	defer p.forget()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()                                                         // do not wait to send a rejection
	_ = p.owner.conn.Send(ctx, wire.PairReject{Slot: p.Code.Slot()}) // a lost connection burns it too
}

func (p *Pairing) forget() {
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	delete(p.owner.bySlot, p.Code.Slot())
}
