package client_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// played is a relay that the test plays: it is given each login and each frame.
type played struct {
	t      *testing.T
	url    string
	logins chan *websocket.Conn
	frames chan wire.Frame
}

// within returns a context for a wait that an event must end.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func play(t *testing.T) *played {
	p := &played{t: t, logins: make(chan *websocket.Conn, 8), frames: make(chan wire.Frame, 64)}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(rw, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
		if err != nil {
			t.Errorf("accepting: %v", err)
			return
		}
		defer func() { _ = ws.CloseNow() }()
		if err := welcome(r.Context(), ws); err != nil {
			t.Errorf("logging in: %v", err)
			return
		}
		p.logins <- ws
		for {
			_, data, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			if frame, err := wire.DecodeControl(data, wire.MaxControl); err == nil {
				p.frames <- frame
			}
		}
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func (p *played) entry() (*client.Entry, *websocket.Conn) {
	p.t.Helper()
	e, err := client.DialEntry(p.t.Context(), relayconn.Config{RelayURL: p.url, Keys: keys(p.t, ident.KindClient), Label: "test"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(e.Close)
	return e, <-p.logins
}

func (p *played) send(ws *websocket.Conn, frames ...wire.Frame) {
	p.t.Helper()
	for _, frame := range frames {
		data, err := wire.EncodeControl(frame)
		if err == nil {
			err = ws.Write(p.t.Context(), websocket.MessageText, data)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// refuse answers the request for a channel that must come next, and sends what follows at once.
func (p *played) refuse(ws *websocket.Conn, e *client.Entry, device ident.ID, follows ...wire.Frame) {
	p.t.Helper()
	refused := make(chan error, 1)
	go func() { _, err := e.OpenChannel(p.t.Context(), device); refused <- err }()
	asked := (<-p.frames).(*wire.OpenChannel)
	p.send(ws, append([]wire.Frame{wire.ErrorFrame{RequestID: asked.RequestID, Kind: wire.KindDeviceOffline, Message: "offline"}}, follows...)...)
	var offline *wire.Error
	if err := <-refused; !errors.As(err, &offline) || offline.Kind != wire.KindDeviceOffline {
		p.t.Fatalf("got %v", err)
	}
}

// open opens a channel, which only the relay's frames are for.
func (p *played) open(ws *websocket.Conn, e *client.Entry, device ident.ID, channel uint32) *client.Sealed {
	p.t.Helper()
	opened := make(chan *client.Sealed, 1)
	go func() {
		s, err := e.OpenChannel(p.t.Context(), device)
		if err != nil {
			p.t.Errorf("opening: %v", err)
		}
		opened <- s
	}()
	asked := (<-p.frames).(*wire.OpenChannel)
	p.send(ws, wire.ChannelOpened{RequestID: asked.RequestID, Channel: channel, PeerID: device})
	return <-opened
}

// TestAnAttemptFollowsPresence: while a device is offline nothing but the relay's report ends the
// wait, and the attempt that follows needs no login.
func TestAnAttemptFollowsPresence(t *testing.T) {
	p := play(t)
	device, other := keys(t, ident.KindDevice).ID(), keys(t, ident.KindDevice).ID()
	s := client.NewStandby(device)
	defer s.Close()
	e, ws := p.entry()
	channel := p.open(ws, e, device, 7)
	s.Opened()

	// The host stops: its channel is closed, then the relay reports it offline.
	p.send(ws, wire.ChannelClosed{Channel: 7, Reason: wire.ReasonPeerGone}, wire.DeviceOffline{DeviceID: device})
	if _, err := channel.Receive(t.Context()); err == nil {
		t.Fatal("the channel still receives")
	}
	_ = channel.Close()
	s.Ended("relay", e)
	if again := s.Take("relay"); again != e {
		t.Fatal("the connection was not kept")
	}
	p.refuse(ws, e, device)
	s.Hold("relay", e)

	waited := make(chan error, 1)
	go func() { waited <- s.Wait(within(t), time.Hour) }()
	p.send(ws, wire.DeviceOnline{DeviceID: other})
	p.refuse(ws, e, other) // its answer comes after the report
	select {
	case <-waited:
		t.Fatal("another device ended the wait")
	default:
	}
	p.send(ws, wire.DeviceOnline{DeviceID: device})
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	if again := s.Take("relay"); again != e {
		t.Fatal("the connection was not kept")
	}
	_ = p.open(ws, e, device, 8).Close()
	if len(p.logins) > 0 {
		t.Error("it logged in again")
	}
	e.Close()
}

// TestAReportBeforeTheWait: the device is back before anyone waits for it.
func TestAReportBeforeTheWait(t *testing.T) {
	p := play(t)
	device := keys(t, ident.KindDevice).ID()
	s := client.NewStandby(device)
	defer s.Close()
	e, ws := p.entry()
	p.refuse(ws, e, device, wire.DeviceOnline{DeviceID: device})
	select {
	case <-e.Absent(device):
	case <-within(t).Done():
		t.Fatal("the report was not noted")
	}
	s.Hold("relay", e)
	if err := s.Wait(within(t), time.Hour); err != nil {
		t.Fatal(err)
	}
	if s.Take("relay") != e {
		t.Fatal("the connection was not kept")
	}
	// It was a false report, so that the next wait is for another one.
	p.refuse(ws, e, device)
	s.Hold("relay", e)
	ctx, cancel := context.WithCancel(t.Context())
	waited := make(chan error, 1)
	go func() { waited <- s.Wait(ctx, time.Hour) }()
	cancel()
	if err := <-waited; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestALostConnectionEndsTheWait: the relay restarts while the device is offline.
func TestALostConnectionEndsTheWait(t *testing.T) {
	p := play(t)
	device := keys(t, ident.KindDevice).ID()
	s := client.NewStandby(device)
	defer s.Close()
	e, ws := p.entry()
	p.refuse(ws, e, device)
	s.Hold("relay", e)
	waited := make(chan error, 1)
	go func() { waited <- s.Wait(within(t), time.Hour) }()
	_ = ws.CloseNow()
	if err := <-waited; err != nil {
		t.Fatal(err)
	}
	if s.Take("relay") != nil {
		t.Error("a connection that has ended was kept")
	}
}

// TestWhatIsNotHeld: connections that no report can come over, and those beside an open channel,
// are closed.
func TestWhatIsNotHeld(t *testing.T) {
	p := play(t)
	device := keys(t, ident.KindDevice).ID()
	s := client.NewStandby(device)
	closed := func(what string, e *client.Entry) {
		t.Helper()
		if _, err := e.OpenChannel(t.Context(), device); !errors.Is(err, client.ErrLost) && !errors.Is(err, relayconn.ErrClosed) {
			t.Errorf("%s is open: %v", what, err)
		}
		if s.Take("relay") != nil {
			t.Errorf("%s is held", what)
		}
	}
	e, _ := p.entry()
	s.Hold("relay", e)
	closed("a connection whose device is not absent", e)

	e, ws := p.entry()
	p.refuse(ws, e, device)
	s.Opened()
	s.Hold("relay", e)
	closed("a connection beside an open channel", e)

	first, ws := p.entry()
	p.refuse(ws, first, device)
	second, ws := p.entry()
	p.refuse(ws, second, device)
	s.Ended("relay", first)
	s.Hold("relay", second)
	if s.Take("relay") != second {
		t.Error("the newer connection is not held")
	}
	closed("the older of two", first)
	s.Hold("relay", second)
	s.Close()
	closed("after Close", second)
	var none *client.Standby
	e, _ = p.entry()
	none.Hold("relay", e)
	if err := none.Wait(t.Context(), 0); err != nil || none.Take("relay") != nil {
		t.Errorf("a nil Standby: %v", err)
	}
}
