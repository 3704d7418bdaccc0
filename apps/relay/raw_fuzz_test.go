package relay_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// rawPatience bounds one run, so that one that hangs fails.
const rawPatience = 2 * time.Minute

// frame is a frame of a peer, with a mask that is not zero.
func frame(first byte, payload string) string {
	key := [4]byte{1, 2, 3, 4}
	out := []byte{first}
	switch n := len(payload); {
	case n < 126:
		out = append(out, 0x80|byte(n))
	case n < 1<<16:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	out = append(out, key[:]...)
	for i := range len(payload) {
		out = append(out, payload[i]^key[i%4])
	}
	return string(out)
}

// rawSeeds are bytes behind the upgrade: whole, cut, in fragments, too large, nonsense.
func rawSeeds() []string {
	record := string(wire.AppendRecord(nil, 1, []byte("payload")))
	large := string(wire.AppendRecord(nil, 1, make([]byte, wire.MaxRecordPayload)))
	hello := `{"type":"entry_hello","version":1,"id":"cli_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","label":"x","authority":"a","proof":""}`
	return []string{
		"",
		frame(0x82, record), frame(0x82, record+record), frame(0x82, large), frame(0x82, large)[:4000],
		frame(0x02, record[:5]) + frame(0x00, record[5:9]) + frame(0x80, record[9:]), // one record in three fragments
		frame(0x02, record) + frame(0x89, "ping") + frame(0x80, record),              // a ping between fragments
		frame(0x82, "\x00\x00\x00\x01\xff\xff\xff\xff"), frame(0x82, "\x00\x00\x00\x01\x00\x00\x00\x00"), frame(0x82, "\x00"), frame(0x82, ""),
		frame(0x82, strings.Repeat(record, 20_000)), frame(0x81, strings.Repeat(" ", 64<<10+1)),
		frame(0x81, hello), frame(0x01, hello[:7]) + frame(0x80, hello[7:]), frame(0x81, hello)[:20], frame(0x81, "{"), frame(0x81, "\xff\xfe"),
		frame(0x80, "a continuation of nothing"), frame(0x02, record) + frame(0x82, record), // a message inside another
		frame(0xf2, record), frame(0x83, record), frame(0x09, "a ping in fragments"), frame(0x89, strings.Repeat("x", 126)),
		frame(0x88, "\x03\xe8bye") + frame(0x82, record), frame(0x88, "\x03"), frame(0x8a, "pong"),
		"\x82\x05hello", "\x82\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00", "\x82\xff\x80\x00\x00\x00\x00\x00\x00\x00", "\x82\xfe",
		strings.Repeat("\x00", 700), strings.Repeat("\xff", 700), strings.Repeat("GET / HTTP/1.1\r\n", 50),
	}
}

// fuzzedRelay runs a relay that limits no peer.
func fuzzedRelay(f *testing.F) *relaytest.Server {
	plenty := relay.Rate{Burst: 1 << 30, Every: time.Second}
	return relaytest.Start(f, func(cfg *relay.Config) {
		cfg.Limits = relay.Limits{LoginFailures: plenty, AllDials: plenty}
	})
}

// fuzzRaw sends raw bytes to a connection whose peer then hangs up. The relay must come
// to an end with it, hold nothing any more, and be well.
func fuzzRaw(f *testing.F, dial func(t *testing.T, s *relaytest.Server) *net.TCPConn) {
	s := fuzzedRelay(f)
	for _, seed := range rawSeeds() {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		far := dial(t, s)
		_ = far.SetDeadline(time.Now().Add(rawPatience))
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, far) // ends with the connection
		}()
		_, _ = far.Write(data) // the relay may have had enough before the end
		_ = far.Close()
		<-read
		if !s.Relay.AwaitNoConns(rawPatience) {
			t.Fatal("the connection did not end with its peer")
		}
		if lent := s.Relay.Lent(); lent != 0 {
			t.Fatalf("%d bytes were not given back", lent)
		}
	})
}

func FuzzRawBeforeLogin(f *testing.F) {
	fuzzRaw(f, func(t *testing.T, s *relaytest.Server) *net.TCPConn {
		far, err := net.Dial("tcp", s.Authority())
		if err != nil {
			t.Fatal(err)
		}
		upgrade := "GET " + wire.ConnectPath + " HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + wire.Subprotocol + "\r\n\r\n"
		if _, err := io.WriteString(far, upgrade); err != nil {
			t.Fatal(err)
		}
		return far.(*net.TCPConn)
	})
}

func FuzzRawAfterLogin(f *testing.F) {
	fuzzRaw(f, func(t *testing.T, s *relaytest.Server) *net.TCPConn {
		peer, err := relaytest.DialRaw(new(net.Dialer), s.Authority(), relaytest.NewKeys(t, ident.KindClient), "fuzz")
		if err != nil {
			t.Fatal(err)
		}
		return peer.Net
	})
}

// FuzzRequest sends raw bytes to the HTTP server in place of a handshake.
func FuzzRequest(f *testing.F) {
	r := fuzzedRelay(f).Relay
	conns := make(chan net.Conn)
	listener := rawListener{conns: conns, closed: make(chan struct{})}
	server := &http.Server{Handler: r.Handler(), ReadHeaderTimeout: rawPatience, MaxHeaderBytes: 16 << 10}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(listener) }() // ends with Close
	f.Cleanup(func() { _ = server.Close(); <-served })
	good := "GET " + wire.ConnectPath + " HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: " + wire.Subprotocol + "\r\n"
	for _, seed := range []string{
		good + "\r\n", good + "\r\n" + frame(0x81, "{}"), good + "\r\n" + strings.Repeat("x", 5000), good, good[:100],
		good + "Host: evil.example\r\n\r\n", good + "Sec-WebSocket-Key: BBBB\r\n\r\n", good + "Origin: null\r\n\r\n",
		good + "Content-Length: 5\r\n\r\nhello", good + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		good + "X-Forwarded-For: " + strings.Repeat("1.2.3.4,", 1000) + "\r\n\r\n", good + "X: " + strings.Repeat("y", 20_000) + "\r\n\r\n",
		strings.Replace(good, "HTTP/1.1", "HTTP/1.0", 1) + "\r\n", strings.Replace(good, "GET", "POST", 1) + "\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET http://evil.example/v1/connect HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET //../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01", "PROXY TCP4 1.2.3.4 5.6.7.8 9 10\r\n" + good + "\r\n", "\r\n\r\n\r\n", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		near, far := net.Pipe()
		_ = far.SetDeadline(time.Now().Add(rawPatience))
		conns <- near
		read := make(chan struct{})
		go func() {
			defer close(read)
			_, _ = io.Copy(io.Discard, far) // ends with the pipe
		}()
		_, _ = far.Write(data)
		_ = far.Close()
		<-read
		if rec := httptest.NewRecorder(); true {
			r.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost/healthz", nil))
			if rec.Code != http.StatusOK {
				t.Fatal(rec.Body.String())
			}
		}
	})
}

type rawListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l rawListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l rawListener) Close() error   { close(l.closed); return nil }
func (l rawListener) Addr() net.Addr { return &net.TCPAddr{} }
