package client_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const testChannel = 7

// wireBetween logs two peers in and passes the binary messages of each to the
// other: the part of a relay that a channel needs.
type wireBetween struct {
	t      *testing.T
	joined chan *websocket.Conn // the first peer leaves its end here for the second
	back   chan *websocket.Conn
}

func (w *wireBetween) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(rw, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
	if err != nil {
		w.t.Errorf("accepting: %v", err)
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(wire.MaxMessage + 1)
	if err := welcome(r.Context(), ws); err != nil {
		w.t.Errorf("logging a peer in: %v", err)
		return
	}
	var other *websocket.Conn
	select {
	case w.joined <- ws:
		other = <-w.back
	case other = <-w.joined:
		w.back <- ws
	case <-w.t.Context().Done():
		return
	}
	for {
		kind, data, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		if kind == websocket.MessageBinary && other.Write(r.Context(), kind, data) != nil {
			return
		}
	}
}

func welcome(ctx context.Context, ws *websocket.Conn) error {
	hello, err := wire.EncodeControl(wire.RelayHello{Version: wire.Version, Nonce: make([]byte, wire.NonceLen), Limits: wire.DefaultLimits()})
	if err != nil {
		return err
	}
	if err := ws.Write(ctx, websocket.MessageText, hello); err != nil {
		return err
	}
	_, data, err := ws.Read(ctx)
	if err != nil {
		return err
	}
	frame, err := wire.DecodeControl(data, wire.MaxControl)
	if err != nil {
		return err
	}
	answer := wire.Welcome{}
	switch f := frame.(type) {
	case *wire.HostHello:
		answer.ID = f.ID
	case *wire.EntryHello:
		answer.ID = f.ID
	}
	data, err = wire.EncodeControl(answer)
	if err != nil {
		return err
	}
	return ws.Write(ctx, websocket.MessageText, data)
}

// end is one peer's connection with its sealed end.
type end struct {
	*client.Sealed
	delivered atomic.Int64 // bytes of records, the handshake aside
	moved     chan struct{}
}

func (*end) Control(wire.Frame) {}

func (e *end) Records(_ uint32, payloads [][]byte) {
	e.Deliver(payloads...)
	for _, payload := range payloads {
		if len(payload) != seal.HandshakeLen {
			e.delivered.Add(int64(len(payload)))
		}
	}
	select {
	case e.moved <- struct{}{}:
	default:
	}
}

// sealedPair opens a channel between a host's end and an entry's. Everything
// ends with the test; stop ends it sooner.
func sealedPair(t *testing.T, ctx context.Context) (host, entry *end, stop func()) {
	t.Helper()
	leakcheck.Check(t)
	between := &wireBetween{t: t, joined: make(chan *websocket.Conn), back: make(chan *websocket.Conn)}
	server := httptest.NewServer(between)
	device, phone := keys(t, ident.KindDevice), keys(t, ident.KindClient)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	connect := func(self, peer *ident.Private) *end {
		conn, err := relayconn.Dial(ctx, relayconn.Config{RelayURL: server.URL, Keys: self, Label: "test"})
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := client.NewSealed(conn, testChannel, self, seal.Peer{ID: peer.ID(), Key: peer.Public().Seal}, nil)
		if err != nil {
			t.Fatal(err)
		}
		e := &end{Sealed: sealed, moved: make(chan struct{}, 1)}
		running.Go(func() { _ = conn.Run(ctx, e) })
		return e
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait(); server.Close() })
	t.Cleanup(stop)
	host, entry = connect(device, phone), connect(phone, device)
	responded := make(chan error, 1)
	go func() { responded <- host.Respond(ctx) }()
	if err := errors.Join(entry.Initiate(ctx), <-responded); err != nil {
		t.Fatal(err)
	}
	return host, entry, stop
}

func keys(t *testing.T, kind ident.Kind) *ident.Private {
	t.Helper()
	private, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return private
}

// noise is n bytes that do not compress.
func noise(seed byte, n int) []byte {
	out := make([]byte, n)
	_, _ = mathrand.NewChaCha8([32]byte{seed}).Read(out)
	return out
}

// awaitWindow waits until what came fills the window but for less than a record.
func (e *end) awaitWindow(t *testing.T, ctx context.Context) {
	t.Helper()
	for e.delivered.Load() <= seal.Window-seal.MaxRecord {
		select {
		case <-e.moved:
		case <-ctx.Done():
			t.Fatalf("only %d bytes came", e.delivered.Load())
		}
	}
}

// readAll reads until ctx ends, because the sender at the same end needs the
// acknowledgements, and closes all when the last of want came.
func (e *end) readAll(ctx context.Context, want [][]byte, all chan<- struct{}) error {
	for n := 0; ; n++ {
		got, err := e.Receive(ctx)
		switch {
		case err != nil && n < len(want):
			return fmt.Errorf("message %d: %w", n, err)
		case err != nil:
			return nil
		case n >= len(want) || !bytes.Equal(got, want[n]):
			return fmt.Errorf("message %d has %d bytes and is not the one sent", n, len(got))
		case n == len(want)-1:
			close(all)
		}
	}
}

func TestSendStopsAtTheWindow(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	host, entry, stop := sealedPair(t, ctx)
	sendCtx, giveUp := context.WithCancel(ctx)
	sent := make(chan error, 1)
	go func() { sent <- host.Send(sendCtx, noise(1, 3*seal.Window)) }()
	entry.awaitWindow(t, ctx)
	giveUp()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Errorf("a message of three windows was sent to an end that does not read: %v", err)
	}
	stop()
	if n := entry.delivered.Load(); n > seal.Window {
		t.Errorf("%d bytes came unacknowledged, the window is %d", n, seal.Window)
	}
}

// Both ends fill their windows before they read, and neither may wait for the
// other for ever.
func TestBothEndsSendLargeMessages(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	host, entry, _ := sealedPair(t, ctx)
	var messages [][]byte
	for n := range 6 {
		messages = append(messages, noise(byte(n), []int{3 << 20, 40}[n%2]))
	}
	ends := []*end{host, entry}
	var senders, readers sync.WaitGroup
	for _, e := range ends {
		senders.Go(func() {
			for n, message := range messages {
				if err := e.Send(ctx, message); err != nil {
					t.Errorf("sending message %d: %v", n, err)
				}
			}
		})
	}
	for _, e := range ends {
		e.awaitWindow(t, ctx)
	}
	readCtx, stopReading := context.WithCancel(ctx)
	defer stopReading()
	arrived := []chan struct{}{make(chan struct{}), make(chan struct{})}
	for i, e := range ends {
		readers.Go(func() {
			if err := e.readAll(readCtx, messages, arrived[i]); err != nil {
				t.Error(err)
				cancel() // no one else is to wait
			}
		})
	}
	for _, all := range arrived {
		select {
		case <-all:
		case <-ctx.Done():
			t.Error("not every message came")
		}
	}
	senders.Wait()
	stopReading()
	readers.Wait()
}
