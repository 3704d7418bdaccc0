package peer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/load"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// scorel speaks to our relay with the codec of package wire over a bare socket,
// without a seal.
type scorel struct{}

// Connect implements Protocol.
func (scorel) Connect(ctx context.Context, t Target, hosts, perHost int) (*load.Fleet, error) {
	f, err := connectBoth(hosts, hosts*perHost,
		func(i int) (load.Endpoint, error) { return login(ctx, t.HostAddr, t.Parties.Hosts[i]) },
		func(i int) (load.Endpoint, error) {
			e, err := login(ctx, t.EntryAddr, t.Parties.Entry(i))
			if err != nil {
				return nil, err
			}
			return e, e.open(t.Parties.Host(i).ID())
		})
	if err != nil {
		return nil, err
	}
	for _, h := range f.Hosts {
		if err := h.(*scorelEnd).awaitChannels(perHost); err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// Idle implements Protocol.
func (scorel) Idle(ctx context.Context, t Target, n int) (io.Closer, error) {
	e, err := login(ctx, t.HostAddr, t.Parties.Hosts[n])
	if err != nil {
		return nil, err
	}
	return keepIdle(e), nil
}

// scorelEnd is one logged-in connection.
type scorelEnd struct {
	*socket
	channels []uint32       // by peer
	peers    map[uint32]int // by channel
}

// login dials and logs in.
func login(ctx context.Context, addr string, keys *ident.Private) (*scorelEnd, error) {
	s, err := dialSocket(ctx, addr, wire.ConnectPath, wire.Subprotocol)
	if err != nil {
		return nil, err
	}
	_ = s.conn.SetDeadline(time.Now().Add(dialTimeout)) // fails only when it is closed
	e := &scorelEnd{socket: s, peers: make(map[uint32]int)}
	if err := e.sayHello(addr, keys); err != nil {
		return nil, errors.Join(fmt.Errorf("logging in: %w", err), s.close())
	}
	_ = s.conn.SetDeadline(time.Time{}) // as above
	return e, nil
}

func (e *scorelEnd) sayHello(addr string, keys *ident.Private) error {
	hello, err := expect[*wire.RelayHello](e)
	if err != nil {
		return err
	}
	own := wire.Hello{Authority: addr, Label: "bench"}
	own.Sign(keys, hello.Nonce)
	var answer wire.Frame = wire.EntryHello{Hello: own}
	if keys.ID().Kind() == ident.KindDevice {
		answer = wire.HostHello{Hello: own}
	}
	if err := e.tell(answer); err != nil {
		return err
	}
	_, err = expect[*wire.Welcome](e)
	return err
}

func (e *scorelEnd) tell(f wire.Frame) error {
	data, err := wire.EncodeControl(f)
	if err != nil {
		return err
	}
	return e.send(opText, data)
}

// expect reads until a frame of a type comes. Presence is skipped.
func expect[F wire.Frame](e *scorelEnd) (F, error) {
	var none F
	for {
		op, payload, err := e.await()
		if err != nil {
			return none, err
		}
		if op != opText {
			continue
		}
		frame, err := wire.DecodeControl(payload, wire.MaxControl)
		if err != nil {
			return none, err
		}
		switch f := frame.(type) {
		case F:
			return f, nil
		case *wire.ErrorFrame:
			return none, &wire.Error{Kind: f.Kind, Message: f.Message}
		}
	}
}

// open opens a channel.
func (e *scorelEnd) open(device ident.ID) error {
	if err := e.tell(wire.OpenChannel{RequestID: "bench", DeviceID: device}); err != nil {
		return err
	}
	return e.awaitChannels(1)
}

func (e *scorelEnd) awaitChannels(n int) error {
	for len(e.channels) < n {
		opened, err := expect[*wire.ChannelOpened](e)
		if err != nil {
			return fmt.Errorf("opening a channel: %w", err)
		}
		e.peers[opened.Channel] = len(e.channels)
		e.channels = append(e.channels, opened.Channel)
	}
	return nil
}

// Peers implements load.Endpoint.
func (e *scorelEnd) Peers() int { return len(e.channels) }

// Send implements load.Endpoint.
func (e *scorelEnd) Send(peer int, payload []byte) error { return e.record(e.channels[peer], payload) }

// Flush implements load.Endpoint.
func (e *scorelEnd) Flush() error { return e.flush() }

// Close implements load.Endpoint.
func (e *scorelEnd) Close() error { return e.close() }

// Run implements load.Endpoint.
func (e *scorelEnd) Run(handle load.Handler) error {
	return e.serve(func() error { return e.pending(handle) }, e.flush)
}

// pending handles the frames that are in the buffer.
func (e *scorelEnd) pending(handle load.Handler) error {
	for {
		op, payload, ok := e.next()
		if !ok {
			return nil
		}
		switch op {
		case opBinary:
			if err := e.records(payload, handle); err != nil {
				return err
			}
		case opPing:
			if err := e.flush(); err != nil {
				return err
			}
			if err := e.send(opPong, payload); err != nil {
				return err
			}
		case opText:
			if err := e.control(payload); err != nil {
				return err
			}
		case opClose:
			return errors.New("the relay closed the connection")
		}
	}
}

func (e *scorelEnd) records(data []byte, handle load.Handler) error {
	for len(data) > 0 {
		record, rest, err := wire.NextRecord(data)
		if err != nil {
			return err
		}
		peer, ok := e.peers[record.Channel]
		if !ok {
			return fmt.Errorf("a record on channel %d, which is not open", record.Channel)
		}
		if err := handle(peer, record.Payload); err != nil {
			return err
		}
		data = rest
	}
	return nil
}

func (e *scorelEnd) control(data []byte) error {
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if err != nil {
		return err
	}
	switch f := frame.(type) {
	case *wire.Goodbye:
		return fmt.Errorf("the relay said goodbye: %s", f.Reason)
	case *wire.ChannelClosed:
		if !e.ended() && f.Reason != wire.ReasonPeerGone { // at the end of a run the other side goes first
			return fmt.Errorf("channel closed: %s", f.Reason)
		}
	}
	return nil
}
