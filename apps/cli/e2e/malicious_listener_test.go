package e2e

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// rawListener accepts connections, of which serve does anything, until the test ends. It
// returns its URL.
func rawListener(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu      sync.Mutex
		open    []net.Conn
		running sync.WaitGroup
	)
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			running.Go(func() { serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, conn := range open {
			_ = conn.Close()
		}
		mu.Unlock()
		running.Wait()
	})
	return "http://" + l.Addr().String()
}

// wsListener accepts WebSockets and sends messages on them.
func wsListener(t *testing.T, messages ...string) string {
	t.Helper()
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
		if err != nil {
			return
		}
		defer ws.CloseNow()
		for _, m := range messages {
			_ = ws.Write(r.Context(), websocket.MessageText, []byte(m))
		}
		<-ended
	}))
	t.Cleanup(func() { close(ended); server.Close() })
	return server.URL
}

// listenerThatLies passes logins on to the relay, and changes records or frames.
func (w *world) listenerThatLies(t *testing.T, records func(int, wire.Record) []wire.Record, frames func([]byte) []byte) string {
	m := newMiddle(t, w.relay.URL)
	m.records, m.frames = records, frames
	return m.URL
}

// recorded returns what the host sent in one connection of a client.
func (w *world) recorded(t *testing.T, e *entry) (sent []wire.Record) {
	m := newMiddle(t, w.relay.URL)
	var mu sync.Mutex
	m.records = func(_ int, r wire.Record) []wire.Record {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, wire.Record{Channel: r.Channel, Payload: bytes.Clone(r.Payload)})
		return []wire.Record{r}
	}
	through := dialEntry(t, m.URL, e.keys)
	transport, err := through.OpenDevice(t.Context(), w.id, e.pin, "the host")
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, nil)
	defer c.Close()
	if _, err := client.Call(t.Context(), c, api.GetHost, api.Empty{}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return sent
}

// maliciousListeners are listeners in the local network that are not the device's.
func (w *world) maliciousListeners(t *testing.T, e *entry) map[string]string {
	replayed := w.recorded(t, e)
	noChannel := func(data []byte) []byte {
		frame, err := wire.DecodeControl(data, wire.MaxControl)
		if _, opened := frame.(*wire.ChannelOpened); err == nil && opened {
			return nil
		}
		return data
	}
	return map[string]string{
		"silent":           rawListener(t, func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }),
		"closes":           rawListener(t, func(conn net.Conn) { _ = conn.Close() }),
		"garbage":          rawListener(t, func(conn net.Conn) { _, _ = conn.Write(bytes.Repeat([]byte("\xff\x00?"), 4096)) }),
		"endless header":   rawListener(t, func(conn net.Conn) { endless(conn, "HTTP/1.1 101 Switching Protocols\r\n", "X: y\r\n") }),
		"accepts anything": rawListener(t, func(conn net.Conn) { endless(conn, "HTTP/1.1 200 OK\r\n\r\n", "yes ") }),
		"no login":         wsListener(t),
		"garbage login":    wsListener(t, `{"type":"welcome"}`, "\x00", `{`),
		"no channel":       w.listenerThatLies(t, nil, noChannel),
		"no handshake":     w.listenerThatLies(t, func(int, wire.Record) []wire.Record { return nil }, nil),
		"other keys": w.listenerThatLies(t, func(_ int, r wire.Record) []wire.Record {
			return []wire.Record{{Channel: r.Channel, Payload: bytes.Repeat([]byte{7}, len(r.Payload))}}
		}, nil),
		"replay": w.listenerThatLies(t, func(n int, r wire.Record) []wire.Record {
			if n >= len(replayed) {
				return nil
			}
			return []wire.Record{{Channel: r.Channel, Payload: replayed[n].Payload}}
		}, nil),
	}
}

// endless writes until the connection ends.
func endless(conn net.Conn, first, more string) {
	_, err := io.WriteString(conn, first)
	for err == nil {
		_, err = io.WriteString(conn, more)
	}
}

// TestAMaliciousListenerHoldsNobodyUp: whatever a listener in the local network does, a client
// uses the next path, and an attempt at the listener alone ends.
func TestAMaliciousListenerHoldsNobodyUp(t *testing.T) {
	w := newWorld(t)
	e := w.pairEntry(t)
	for name, url := range w.maliciousListeners(t, e) {
		t.Run(name, func(t *testing.T) {
			bad := paths.Known{Path: paths.Path{Kind: paths.Network, URL: url}, Bound: true}
			good := paths.Known{Path: paths.Path{Kind: paths.Relay, URL: w.relay.URL}, Bound: true}
			reach := func(timeout time.Duration, known ...paths.Known) *paths.Device {
				dialer := &paths.Dialer{Keys: e.keys, Label: "laptop", Device: w.id, Seal: e.pin, Name: "desk", Timeout: timeout}
				return paths.New(paths.Config{Known: func() ([]paths.Known, error) { return known, nil }, Dial: dialer.Dial})
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			device := reach(0, bad, good)
			defer device.Close()
			transport, err := device.Dial(ctx)
			if err != nil {
				t.Fatal(err)
			}
			c := client.New(transport, nil)
			defer c.Close()
			if _, err := client.Call(ctx, c, api.GetHost, api.Empty{}); err != nil {
				t.Errorf("over the next path: %v", err)
			}
			if used, _ := device.Used(); used != good.Path {
				t.Errorf("the path in use is %s", used)
			}
			alone := reach(300*time.Millisecond, bad)
			defer alone.Close()
			if transport, err := alone.Dial(ctx); err == nil || ctx.Err() != nil {
				t.Errorf("the listener alone: %v, %v", transport, err)
			}
		})
	}
}
