package e2e

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// middle is a relay that lies: it stands between an entry and the real relay and
// may change what goes to the entry.
type middle struct {
	*httptest.Server
	target   string
	wg       sync.WaitGroup
	outgoing func([]byte) []byte // control frames to the relay; nil passes on

	mu      sync.Mutex
	records func(n int, record wire.Record) []wire.Record // nil passes on
	frames  func([]byte) []byte                           // control frames to the peer; nil passes on
	invent  func([]byte) []wire.Frame                     // goes to the peer before a control frame; nil is nothing
}

func newMiddle(t *testing.T, target string) *middle {
	t.Helper()
	m := &middle{target: strings.Replace(target, "http", "ws", 1) + wire.ConnectPath}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() { m.Server.Close(); m.wg.Wait() })
	return m
}

func (m *middle) serve(w http.ResponseWriter, r *http.Request) {
	m.wg.Add(1)
	defer m.wg.Done()
	near, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
	if err != nil {
		return
	}
	defer near.CloseNow()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// The real relay is given the name that the entry dialed, so that the login,
	// which signs that name, is accepted: the worst case.
	far, _, err := websocket.Dial(ctx, m.target, &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}, Host: r.Host})
	if err != nil {
		return
	}
	defer far.CloseNow()
	near.SetReadLimit(1 << 20)
	far.SetReadLimit(1 << 20)
	m.wg.Go(func() {
		defer cancel()
		pipe(ctx, far, near, m.onTheWayOut)
	})
	n := 0
	pipe(ctx, near, far, func(kind websocket.MessageType, data []byte) []byte {
		m.mu.Lock()
		defer m.mu.Unlock()
		if kind == websocket.MessageText {
			m.sendInvented(ctx, near, data)
			if m.frames != nil {
				return m.frames(data)
			}
			return data
		}
		return m.change(&n, data)
	})
}

func (m *middle) sendInvented(ctx context.Context, near *websocket.Conn, before []byte) {
	if m.invent == nil {
		return
	}
	for _, frame := range m.invent(before) {
		data, err := wire.EncodeControl(frame)
		if err == nil {
			err = near.Write(ctx, websocket.MessageText, data)
		}
		if err != nil {
			return // the peer is gone
		}
	}
}

func (m *middle) onTheWayOut(kind websocket.MessageType, data []byte) []byte {
	if kind == websocket.MessageText && m.outgoing != nil {
		return m.outgoing(data)
	}
	return data
}

func (m *middle) change(n *int, data []byte) []byte {
	if m.records == nil {
		return data
	}
	var out []byte
	for len(data) > 0 {
		record, rest, err := wire.NextRecord(data)
		if err != nil {
			return nil
		}
		for _, changed := range m.records(*n, record) {
			out = wire.AppendRecord(out, changed.Channel, changed.Payload)
		}
		*n++
		data = rest
	}
	return out
}

func pipe(ctx context.Context, to, from *websocket.Conn, change func(websocket.MessageType, []byte) []byte) {
	for {
		kind, data, err := from.Read(ctx)
		if err != nil {
			return
		}
		if data = change(kind, data); len(data) == 0 {
			continue
		}
		if err := to.Write(ctx, kind, data); err != nil {
			return
		}
	}
}

// TestALyingRelayIsFoundOut drops, repeats, reorders and changes records on their
// way to the entry: the channel ends, and no wrong message comes out of it.
func TestALyingRelayIsFoundOut(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	// Record 0 ends the handshake; 1 answers the first request.
	var held []wire.Record
	attacks := map[string]func(int, wire.Record) []wire.Record{
		"drop": func(n int, r wire.Record) []wire.Record {
			if n == 1 {
				return nil
			}
			return []wire.Record{r}
		},
		"repeat": func(n int, r wire.Record) []wire.Record {
			if n == 1 {
				return []wire.Record{r, r}
			}
			return []wire.Record{r}
		},
		"reorder": func(n int, r wire.Record) []wire.Record {
			r.Payload = append([]byte(nil), r.Payload...)
			switch n {
			case 1:
				held = []wire.Record{r}
				return nil
			case 2:
				return append([]wire.Record{r}, held...)
			}
			return []wire.Record{r}
		},
		"flip a bit": func(n int, r wire.Record) []wire.Record {
			if n == 1 {
				r.Payload = append([]byte(nil), r.Payload...)
				r.Payload[3] ^= 1
			}
			return []wire.Record{r}
		},
		"forge the handshake": func(n int, r wire.Record) []wire.Record {
			if n == 0 {
				r.Payload = make([]byte, len(r.Payload))
			}
			return []wire.Record{r}
		},
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			m := newMiddle(t, w.relay.URL)
			m.records = attack
			through := dialEntry(t, m.URL, e.keys)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			transport, err := through.OpenDevice(ctx, w.id, e.pin, "the host")
			if err != nil {
				return // found out at once
			}
			c := client.New(transport, nil)
			defer c.Close()
			// Three requests at once, so that a record follows the one that is attacked.
			var wg sync.WaitGroup
			errs := make([]error, 3)
			for i := range errs {
				wg.Go(func() { _, errs[i] = client.Call(ctx, c, api.GetHost, api.Empty{}) })
			}
			wg.Wait()
			answered := 0
			for _, err := range errs {
				if err == nil {
					answered++
				} else if !errors.Is(err, client.ErrLost) {
					t.Fatalf("got %v, want a lost connection", err)
				}
			}
			if most := map[string]int{"repeat": 1}[name]; answered > most {
				t.Fatalf("%d requests were answered in spite of the attack", answered)
			}
		})
	}
}

// TestARelayCannotSwapKeys: the relay tells the entry the keys of someone else
// during the pairing, and is found out by the confirmation.
func TestARelayCannotSwapKeys(t *testing.T) {
	w := newWorld(t)
	m := newMiddle(t, w.relay.URL)
	mallory, err := ident.Generate(ident.KindDevice, zeroReader{})
	if err != nil {
		t.Fatal(err)
	}
	m.frames = func(data []byte) []byte {
		frame, err := wire.DecodeControl(data, wire.MaxControl)
		joined, ok := frame.(*wire.PairJoined)
		if err != nil || !ok {
			return data
		}
		joined.Peer.ID, joined.Peer.Public = mallory.ID(), mallory.Public()
		swapped, err := wire.EncodeControl(joined)
		if err != nil {
			return nil
		}
		return swapped
	}
	e := dialEntry(t, m.URL, newKeys(t))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	pairing, err := e.Pairings().Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hostSide := make(chan error, 1)
	go func() {
		redeemed, err := client.Call(ctx, w.local, api.RedeemPairing, api.RedeemPairingRequest{Code: pairing.Code.Reveal()})
		if err == nil {
			_, err = client.Call(ctx, w.local, api.AwaitPairing, api.PairingRequest(redeemed))
		}
		hostSide <- err
	}()
	peer, err := pairing.Await(ctx)
	if err == nil {
		t.Fatalf("the entry accepted %s", peer.ID)
	}
	if err := <-hostSide; err == nil {
		t.Fatal("the host accepted")
	}
	if n := len(ask(t, w.local, api.ListClients, api.Empty{}).Clients); n != 0 {
		t.Fatalf("%d clients are known after a failed pairing", n)
	}
}
