package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client/link"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Pairings runs the pairings of one connection. The connection's Handler feeds
// it with Control; the other methods block and are called from elsewhere.
type Pairings struct {
	// Static after NewPairings.
	conn *link.Conn
	keys *ident.Private

	mu        sync.Mutex
	last      int
	byRequest map[string]*Pairing
	bySlot    map[string]*Pairing
}

// NewPairings prepares for pairings on conn with the keys that logged it in.
func NewPairings(conn *link.Conn, keys *ident.Private) *Pairings {
	return &Pairings{conn: conn, keys: keys, byRequest: map[string]*Pairing{}, bySlot: map[string]*Pairing{}}
}

// Pairing is one ceremony. Await, then Accept or Reject; Reject is also right
// after any error.
type Pairing struct {
	Code      pair.Code
	ExpiresAt time.Time // zero for a redeemed code

	owner   *Pairings
	creator bool
	inbox   chan wire.Frame
	peer    wire.Peer
}

// pairingInbox is more frames than a ceremony has.
const pairingInbox = 8

// PairError says why a pairing failed, in a sentence for people.
type PairError struct {
	Kind    wire.Kind
	Message string
}

func (e *PairError) Error() string { return e.Message }

func pairError(kind wire.Kind, message string) *PairError {
	switch kind {
	case wire.KindPairUnknown:
		message = "this code is not valid: it was mistyped, used already, or has expired; ask for a new one"
	case wire.KindRateLimited:
		message = "too many attempts: wait a minute and try again"
	case wire.KindPairBusy:
		message = "this code is being used by somebody else: ask for a new one"
	case wire.KindPairSelf:
		message = "this code was made by the same kind of device: a browser or terminal pairs with a machine that runs a host"
	}
	return &PairError{Kind: kind, Message: message}
}

// Create asks the relay for a slot and draws a code.
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

// Redeem takes a code that the other side shows.
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

// Control takes a frame from the connection's reader; false when it is not part
// of a pairing. It does not block.
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
	default: // more frames than a ceremony has: the relay misbehaves, the ceremony times out
	}
	return true
}

// pairingKeys tells which pairing a frame belongs to.
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
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Await waits for the other side and runs the confirmation. It returns who
// proved to know the code.
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
			return &PairError{Kind: wire.KindBadProof, Message: "the codes do not match: it was mistyped, or somebody is in between; ask for a new code"}
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

// Accept tells the relay that this side agrees and waits until the other does
// and the binding is written.
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
				return wire.Peer{}, errors.New("pairing: the relay completed it with somebody else")
			}
			return p.peer, nil
		}
	}
}

// Reject burns the slot.
func (p *Pairing) Reject() {
	defer p.forget()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()                                                         // nobody waits for a rejection
	_ = p.owner.conn.Send(ctx, wire.PairReject{Slot: p.Code.Slot()}) // a lost connection burns it too
}

func (p *Pairing) forget() {
	p.owner.mu.Lock()
	defer p.owner.mu.Unlock()
	delete(p.owner.bySlot, p.Code.Slot())
}
