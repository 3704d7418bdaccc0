package relaytest

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Peer is one connection to a relay. It belongs to one goroutine.
type Peer struct {
	Keys    *ident.Private
	ID      ident.ID
	Hello   *wire.RelayHello // the relay's first frame
	Welcome *wire.Welcome    // nil before Login
	WS      *websocket.Conn

	t       testing.TB
	server  *Server
	records []wire.Record // of the last binary message read
}

// NewKeys generates an identity.
func NewKeys(t testing.TB, kind ident.Kind) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatalf("generating keys: %v", err)
	}
	return keys
}

// Dial opens a WebSocket and reads relay_hello.
func (s *Server) Dial(t testing.TB, keys *ident.Private) *Peer {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, s.URL+wire.ConnectPath, s.dialOptions())
	if err != nil {
		t.Fatalf("dialing %s: %v (response %v)", s.URL, err, resp)
	}
	ws.SetReadLimit(wire.MaxMessage)
	p := &Peer{Keys: keys, ID: keys.ID(), WS: ws, t: t, server: s}
	t.Cleanup(func() { _ = ws.CloseNow() }) // most tests have closed it
	p.Hello = Expect[wire.RelayHello](p)
	return p
}

// Client returns what reaches the relay, also one in memory.
func (s *Server) Client() *http.Client {
	if s.client != nil {
		return s.client
	}
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: s.dial}}
}

func (s *Server) dialOptions() *websocket.DialOptions {
	opts := &websocket.DialOptions{HTTPClient: s.Client(), Subprotocols: []string{wire.Subprotocol}}
	if s.onPing != nil {
		opts.OnPingReceived = func(context.Context, []byte) bool {
			s.onPing()
			return true
		}
	}
	return opts
}

// Login dials and logs in as the kind of party that keys belong to.
func (s *Server) Login(t testing.TB, keys *ident.Private, label string) *Peer {
	t.Helper()
	p := s.Dial(t, keys)
	p.SendHello(func(h *wire.Hello) { h.Label = label })
	p.Welcome = Expect[wire.Welcome](p)
	return p
}

// SendHello sends a valid hello. change, which may be nil, modifies it before it is
// signed.
func (p *Peer) SendHello(change func(*wire.Hello)) {
	p.t.Helper()
	h := wire.Hello{Authority: p.server.Authority(), Label: "test"}
	if change != nil {
		change(&h)
	}
	h.Sign(p.Keys, p.Hello.Nonce)
	p.SendRawHello(h)
}

// SendRawHello sends a hello unchanged.
func (p *Peer) SendRawHello(h wire.Hello) {
	p.t.Helper()
	if h.ID.Kind() == ident.KindDevice {
		p.Send(&wire.HostHello{Hello: h})
	} else {
		p.Send(&wire.EntryHello{Hello: h})
	}
}

// Under makes later failures those of t, such as one run of a fuzz target.
func (p *Peer) Under(t testing.TB) { p.t = t }

// Send sends one control frame.
func (p *Peer) Send(f wire.Frame) {
	p.t.Helper()
	data, err := wire.EncodeControl(f)
	if err != nil {
		p.t.Fatalf("encoding %s: %v", f.FrameType(), err)
	}
	p.SendMessage(websocket.MessageText, data)
}

// SendRecord sends one record in a message of its own.
func (p *Peer) SendRecord(channel uint32, payload []byte) {
	p.t.Helper()
	p.SendMessage(websocket.MessageBinary, wire.AppendRecord(nil, channel, payload))
}

// SendMessage sends one WebSocket message.
func (p *Peer) SendMessage(kind websocket.MessageType, data []byte) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := p.WS.Write(ctx, kind, data); err != nil {
		p.t.Fatalf("%s: sending: %v", p.ID, err)
	}
}

// Next returns the next frame or record.
func (p *Peer) Next() (wire.Frame, *wire.Record, error) {
	p.t.Helper()
	if len(p.records) > 0 {
		rec := p.records[0]
		p.records = p.records[1:]
		return nil, &rec, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	kind, data, err := p.WS.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if kind == websocket.MessageText {
		f, err := wire.DecodeControl(data, wire.MaxControl)
		if err != nil {
			p.t.Fatalf("%s: the relay sent a bad frame: %v", p.ID, err)
		}
		return f, nil, nil
	}
	for len(data) > 0 {
		rec, rest, err := wire.NextRecord(data)
		if err != nil {
			p.t.Fatalf("%s: the relay sent a bad record: %v", p.ID, err)
		}
		p.records = append(p.records, rec)
		data = rest
	}
	return p.Next()
}

// Expect reads a frame that must be of type F.
func Expect[F any](p *Peer) *F {
	p.t.Helper()
	f, rec, err := p.Next()
	got, ok := any(f).(*F)
	if err != nil || rec != nil || !ok {
		p.t.Fatalf("%s: got frame %T %+v, record %v, error %v; want %T", p.ID, f, f, rec != nil, err, got)
	}
	return got
}

// Await reads until a frame of type F arrives, skipping other frames and records.
func Await[F any](p *Peer) *F {
	p.t.Helper()
	for {
		f, _, err := p.Next()
		if err != nil {
			p.t.Fatalf("%s: waiting for %T: %v", p.ID, (*F)(nil), err)
		}
		if got, ok := any(f).(*F); ok {
			return got
		}
	}
}

// ExpectRecord reads a record that must be on channel and have the payload.
func (p *Peer) ExpectRecord(channel uint32, payload []byte) {
	p.t.Helper()
	f, rec, err := p.Next()
	if err != nil || rec == nil {
		p.t.Fatalf("%s: got frame %T %+v, error %v; want a record", p.ID, f, f, err)
	}
	if rec.Channel != channel || !bytes.Equal(rec.Payload, payload) {
		p.t.Fatalf("%s: got %d bytes on channel %d, want %d bytes on %d", p.ID, len(rec.Payload), rec.Channel, len(payload), channel)
	}
}

// ExpectError reads an error frame that must be of kind.
func (p *Peer) ExpectError(kind wire.Kind) *wire.ErrorFrame {
	p.t.Helper()
	f := Expect[wire.ErrorFrame](p)
	if f.Kind != kind {
		p.t.Fatalf("%s: got error %s (%s), want %s", p.ID, f.Kind, f.Message, kind)
	}
	if f.Message == "" || strings.Contains(f.Message, "\n") {
		p.t.Fatalf("%s: message %q is not one sentence", p.ID, f.Message)
	}
	return f
}

// ExpectEnd reads the goodbye and the end of the connection.
func (p *Peer) ExpectEnd(reason wire.Reason) *wire.Goodbye {
	p.t.Helper()
	bye := Expect[wire.Goodbye](p)
	if bye.Reason != reason {
		p.t.Fatalf("%s: goodbye has the reason %q, want %q", p.ID, bye.Reason, reason)
	}
	if f, rec, err := p.Next(); err == nil {
		p.t.Fatalf("%s: got %T, record %v after the goodbye", p.ID, f, rec != nil)
	}
	return bye
}

// Quiet fails the test if the relay has sent anything that was not read: it makes a
// request that must fail and expects that answer next.
func (p *Peer) Quiet() {
	p.t.Helper()
	p.Send(&wire.CloseChannel{Channel: 1 << 30}) // never open: the relay must answer
	p.ExpectError(wire.KindUnknownChannel)
}

// Close hangs up without a goodbye.
func (p *Peer) Close() { _ = p.WS.CloseNow() } // the relay sees the end either way
