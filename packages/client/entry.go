package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Entry is a client's own connection to a relay: devices, channels, pairing. It
// does not reconnect after a loss; its caller does.
type Entry struct {
	// Static after DialEntry.
	conn     *relayconn.Conn
	keys     *ident.Private
	pairings *Pairings
	cancel   context.CancelFunc
	done     chan struct{}

	mu       sync.Mutex
	peers    []wire.Peer
	channels map[uint32]entryChannel
	asking   map[string]question
	absent   map[ident.ID]chan struct{} // see Absent
	last     int
	ended    bool
	err      error
}

// entryChannel is an open channel to a device.
type entryChannel struct {
	*Sealed
	device ident.ID
}

// question is a request that waits for the relay's answer.
type question struct {
	device ident.ID // to which a channel was requested, if one was
	answer chan reply
}

// reply is the relay's answer to a request.
type reply struct {
	frame  wire.Frame
	sealed *Sealed // set with channel_opened; may already be closed again
}

// DialEntry connects to a relay and logs in as the client that owns cfg.Keys.
func DialEntry(ctx context.Context, cfg relayconn.Config) (*Entry, error) {
	conn, err := relayconn.Dial(ctx, cfg)
	if err != nil {
		return nil, err
	}
	runCtx, cancel := context.WithCancel(context.Background())
	e := &Entry{
		conn:     conn,
		keys:     cfg.Keys,
		pairings: NewPairings(conn, cfg.Keys),
		cancel:   cancel,
		done:     make(chan struct{}),
		peers:    conn.Welcome().Peers,
		channels: map[uint32]entryChannel{},
		asking:   map[string]question{},
		absent:   map[ident.ID]chan struct{}{},
	}
	go e.run(runCtx)
	return e, nil
}

func (e *Entry) run(ctx context.Context) {
	err := e.conn.Run(ctx, e)
	e.pairings.Lost()
	e.mu.Lock()
	e.err, e.ended = err, true
	channels := e.channels
	e.channels = map[uint32]entryChannel{}
	for device := range e.absent {
		e.returned(device)
	}
	e.mu.Unlock()
	for _, s := range channels {
		s.Closed(wire.ReasonReadError)
	}
	close(e.done)
}

// Close ends the connection and waits for its goroutines.
func (e *Entry) Close() {
	e.cancel()
	<-e.done
}

// Pairings returns the pairings of this connection.
func (e *Entry) Pairings() *Pairings { return e.pairings }

// Peers returns the bound devices as the relay knows them, with presence.
func (e *Entry) Peers() []wire.Peer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.peers)
}

// Revoke revokes the binding with a device at the relay.
func (e *Entry) Revoke(ctx context.Context, device ident.ID) error {
	answer, err := e.ask(ctx, func(requestID string) wire.Frame {
		return wire.RevokeBinding{RequestID: requestID, PeerID: device}
	})
	if err != nil {
		return err
	}
	if _, ok := answer.frame.(*wire.BindingRevoked); !ok {
		return fmt.Errorf("the relay answered %s to a revocation", answer.frame.FrameType())
	}
	return nil
}

// ServerTime returns the relay's clock at the login.
func (e *Entry) ServerTime() time.Time { return time.UnixMilli(e.conn.Welcome().ServerTime) }

// OpenDevice opens a sealed channel to a device whose pinned seal key is given.
func (e *Entry) OpenDevice(ctx context.Context, device ident.ID, pinned ident.SealPublic, label string) (Transport, error) {
	s, err := e.OpenChannel(ctx, device)
	if err == nil {
		err = e.Seal(ctx, s, device, pinned)
	}
	if err != nil {
		return nil, DescribeOpen(err, label)
	}
	return s, nil
}

// OpenChannel requests a channel to a device from the relay. It carries nothing
// until Seal has run, and the caller must close it. A refusal is a *wire.Error.
func (e *Entry) OpenChannel(ctx context.Context, device ident.ID) (*Sealed, error) {
	answer, err := e.ask(ctx, func(requestID string) wire.Frame {
		return wire.OpenChannel{RequestID: requestID, DeviceID: device}
	})
	if err != nil {
		return nil, err
	}
	opened, ok := answer.frame.(*wire.ChannelOpened)
	if !ok {
		return nil, fmt.Errorf("the relay answered %s to a request for a channel", answer.frame.FrameType())
	}
	if opened.PeerID != device {
		return nil, errors.Join(errors.New("the relay opened a channel to a different device than requested"), answer.sealed.Close())
	}
	return answer.sealed, nil
}

// Seal runs the entry's half of the handshake on a new channel, with the pinned
// seal key of the device. A *ClosedError says how the other side closed the
// channel. The channel is closed after any error.
func (e *Entry) Seal(ctx context.Context, s *Sealed, device ident.ID, pinned ident.SealPublic) error {
	err := s.start(e.keys, seal.Peer{ID: device, Key: pinned})
	if err == nil {
		err = s.Initiate(ctx)
	}
	if err != nil {
		return errors.Join(err, s.Close())
	}
	return nil
}

// ask sends a request and waits for its answer; an error frame is a *wire.Error.
func (e *Entry) ask(ctx context.Context, request func(string) wire.Frame) (reply, error) {
	answer := make(chan reply, 1)
	e.mu.Lock()
	e.last++
	requestID := "entry-" + strconv.Itoa(e.last)
	frame := request(requestID)
	asked := question{answer: answer}
	if open, ok := frame.(wire.OpenChannel); ok {
		asked.device = open.DeviceID
	}
	e.asking[requestID] = asked
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.asking, requestID)
		e.mu.Unlock()
	}()
	if err := e.conn.Send(ctx, frame); err != nil {
		return reply{}, err
	}
	select {
	case got := <-answer:
		if refused, ok := got.frame.(*wire.ErrorFrame); ok {
			return reply{}, &wire.Error{Kind: refused.Kind, Message: refused.Message}
		}
		return got, nil
	case <-e.done:
		return reply{}, fmt.Errorf("%w: %w", ErrLost, e.failure())
	case <-ctx.Done():
		return reply{}, context.Cause(ctx)
	}
}

func (e *Entry) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Control implements relayconn.Handler.
func (e *Entry) Control(frame wire.Frame) {
	switch f := frame.(type) {
	case *wire.ChannelOpened:
		e.opened(f)
	case *wire.ChannelClosed:
		e.closed(f)
	case *wire.BindingRevoked:
		e.unbind(f)
	case *wire.BindingClaimed:
		e.answer(f.RequestID, reply{frame: f})
	case *wire.DeviceOnline:
		e.presence(f.DeviceID, true)
	case *wire.DeviceOffline:
		e.presence(f.DeviceID, false)
	case *wire.ErrorFrame:
		if !e.answer(f.RequestID, reply{frame: f}) {
			e.pairings.Control(f)
		}
	case *wire.PairComplete:
		e.bind(f.Peer)
		e.pairings.Control(f)
	default:
		e.pairings.Control(frame)
	}
}

// Records implements relayconn.Handler.
func (e *Entry) Records(channel uint32, payloads [][]byte) {
	e.mu.Lock()
	s, ok := e.channels[channel]
	e.mu.Unlock()
	if ok {
		s.Deliver(payloads...)
	}
}

// opened registers the channel from the reader, before its first record can arrive.
func (e *Entry) opened(f *wire.ChannelOpened) {
	channel := f.Channel
	s := newSealed(e.conn, channel, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.channels, channel)
	})
	e.mu.Lock()
	e.channels[channel] = entryChannel{s, f.PeerID}
	delete(e.absent, f.PeerID)
	e.mu.Unlock()
	if !e.answer(f.RequestID, reply{frame: f, sealed: s}) { // the caller has given up
		_ = s.Close()
	}
}

func (e *Entry) closed(f *wire.ChannelClosed) {
	e.mu.Lock()
	s, ok := e.channels[f.Channel]
	delete(e.channels, f.Channel)
	if ok && (f.Reason == wire.ReasonPeerGone || f.Reason == wire.ReasonClosed) {
		e.left(s.device)
	}
	e.mu.Unlock()
	if ok {
		s.Closed(f.Reason)
	}
}

func (e *Entry) answer(requestID string, got reply) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked, ok := e.asking[requestID]
	if ok {
		delete(e.asking, requestID)
		if refused, is := got.frame.(*wire.ErrorFrame); is && asked.device != (ident.ID{}) {
			if refused.Kind == wire.KindDeviceOffline {
				e.left(asked.device)
			} else {
				delete(e.absent, asked.device) // a report does not end what this refusal means
			}
		}
		asked.answer <- got // holds one; each id is answered once
	}
	return ok
}

func (e *Entry) bind(peer wire.Peer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.peers = slices.DeleteFunc(e.peers, func(p wire.Peer) bool { return p.ID == peer.ID })
	e.peers = append(e.peers, peer)
}

func (e *Entry) unbind(f *wire.BindingRevoked) {
	e.mu.Lock()
	e.peers = slices.DeleteFunc(e.peers, func(p wire.Peer) bool { return p.ID == f.PeerID })
	e.mu.Unlock()
	e.answer(f.RequestID, reply{frame: f})
}

func (e *Entry) presence(device ident.ID, online bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.peers {
		if e.peers[i].ID == device {
			e.peers[i].Online = online
		}
	}
	if online {
		e.returned(device)
	}
}
