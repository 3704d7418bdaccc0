package relayconn

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// writes notes the sizes of what is written, and takes all of it.
type writes struct {
	io.ReadWriteCloser
	sizes []int
	all   []byte
	err   error
}

func (w *writes) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.sizes, w.all = append(w.sizes, len(p)), append(w.all, p...)
	return len(p), nil
}

// TestAMessageLeavesWithOneWrite: a message is one frame, and what the library writes
// passes unchanged.
func TestAMessageLeavesWithOneWrite(t *testing.T) {
	to := &writes{}
	s := newStream(to)
	if n, err := s.Write([]byte("pong")); n != 4 || err != nil {
		t.Fatal(n, err)
	}
	payload := bytes.Repeat([]byte("payload "), 20_000)
	if err := s.writeMessage(opBinary, append(make([]byte, frameRoom), payload...)); err != nil {
		t.Fatal(err)
	}
	if sizes := []int{4, len(payload) + frameRoom}; !slices.Equal(to.sizes, sizes) {
		t.Errorf("writes of %v bytes, want %v", to.sizes, sizes)
	}
	if opcode, _, got := readFrame(t, to.all[4:]); opcode != opBinary || !bytes.Equal(got, payload) {
		t.Error("the message is another one")
	}
	to.err = io.ErrClosedPipe
	if err := s.writeMessage(opText, make([]byte, frameRoom)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write that failed: %v", err)
	}
}

// echoRelay lets everybody in and sends each message of records back.
func echoRelay(t *testing.T) http.Handler {
	return relayThat(t, func(ctx context.Context, ws *websocket.Conn) {
		ws.SetReadLimit(wire.MaxMessage)
		for {
			kind, data, err := ws.Read(ctx)
			if err != nil || ws.Write(ctx, kind, data) != nil {
				return // it hung up
			}
		}
	})
}

// relayThat is a relay that lets everybody in, and then does something with each.
func relayThat(t *testing.T, do func(ctx context.Context, ws *websocket.Conn)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.Subprotocol}})
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = ws.CloseNow() }() // the peer has gone
		if err := letIn(r.Context(), ws); err != nil {
			t.Error(err)
		}
		do(r.Context(), ws)
	})
}

// collect takes what comes until all of it is there.
type collect struct {
	want    int
	all     chan struct{}
	got     []byte
	batches int
}

func (*collect) Control(wire.Frame) {}

func (c *collect) Records(channel uint32, payloads [][]byte) {
	c.batches++
	for _, p := range payloads {
		c.got = append(append(c.got, byte(channel)), p...)
		if c.want--; c.want == 0 {
			close(c.all)
		}
	}
}

// The whole of messages that are larger than any buffer must come through, below TLS
// as well, and a transport of the user's own must do.
func TestRecordsPassEveryTransport(t *testing.T) {
	plain, secure := httptest.NewServer(echoRelay(t)), httptest.NewTLSServer(echoRelay(t))
	defer plain.Close()
	defer secure.Close()
	trusting := newHTTPClient(false)
	transport, ok := trusting.Transport.(*http.Transport)
	if !ok {
		t.Fatal("the transport is of another type")
	}
	transport.TLSClientConfig = &tls.Config{RootCAs: secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	for name, tc := range map[string]struct {
		url    string
		client *http.Client
	}{
		"plain": {plain.URL, nil}, "TLS": {secure.URL, trusting}, "the user's own": {secure.URL, secure.Client()},
	} {
		t.Run(name, func(t *testing.T) { passRecords(t, tc.url, tc.client) })
	}
}

func passRecords(t *testing.T, url string, client *http.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := Dial(ctx, Config{RelayURL: url, Keys: keys, Label: "test", HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	const rounds = 20
	h := &collect{want: 3 * rounds, all: make(chan struct{})}
	var running sync.WaitGroup
	running.Go(func() { _ = conn.Run(ctx, h) })
	var want []byte
	for n := range rounds {
		small, large := []byte{byte(n)}, bytes.Repeat([]byte{byte(n)}, wire.MaxRecordPayload-n)
		if err := errors.Join(conn.SendRecords(ctx, 1, small, large), conn.SendRecords(ctx, 2, small)); err != nil {
			t.Fatal(err)
		}
		want = append(append(append(append(want, 1, byte(n), 1), large...), 2), byte(n))
	}
	select {
	case <-h.all:
	case <-ctx.Done():
		t.Error("not all came")
	}
	cancel()
	running.Wait()
	if !bytes.Equal(h.got, want) {
		t.Errorf("%d bytes came, want %d, or others than were sent", len(h.got), len(want))
	}
}

func TestRecordsOfOneChannelAreHandedOverTogether(t *testing.T) {
	var message, want []byte
	put := func(channel uint32, times int) {
		for n := range times {
			message = wire.AppendRecord(message, channel, []byte{byte(n)})
			want = append(want, byte(channel), byte(n))
		}
	}
	put(1, 3)
	put(2, 1)
	put(1, maxTogether+2)
	put(3, 2)
	h := &collect{}
	if rest, err := new(Conn).takeRecords(message, h); err != nil || len(rest) > 0 {
		t.Fatalf("%d bytes are left, %v", len(rest), err)
	}
	if !bytes.Equal(h.got, want) || h.batches != 5 {
		t.Errorf("%d bytes in %d pieces, want %d in 5", len(h.got), h.batches, len(want))
	}
}

// one byte a read, as a slow network delivers
func TestRecordsAreHandedOverAsTheyArrive(t *testing.T) {
	var message, want []byte
	for n := range 40 {
		payload := bytes.Repeat([]byte{byte(n)}, 1+n*n)
		message = wire.AppendRecord(message, uint32(n%3+1), payload)
		want = append(append(want, byte(n%3+1)), payload...)
	}
	c, h := new(Conn), &collect{}
	if err := c.readRecords(iotest.OneByteReader(bytes.NewReader(message)), h); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(h.got, want) {
		t.Errorf("%d bytes came, want %d", len(h.got), len(want))
	}
	for cut := 1; cut <= wire.RecordHeaderLen+1; cut++ {
		err := c.readRecords(bytes.NewReader(message[:len(message)-cut]), &collect{})
		if !errors.Is(err, wire.ErrCutRecord) {
			t.Errorf("a message that lacks %d bytes: %v", cut, err)
		}
	}
}

func TestReadingNeedsNoRoomForAWholeMessage(t *testing.T) {
	var message []byte
	for len(message)+wire.MaxRecord <= wire.MaxMessage {
		message = wire.AppendRecord(message, 1, make([]byte, wire.MaxRecordPayload))
	}
	c := new(Conn)
	if err := c.readRecords(bytes.NewReader(message), &collect{}); err != nil {
		t.Fatal(err)
	}
	if cap(c.buffer) >= len(message) {
		t.Errorf("a buffer of %d bytes for a message of %d", cap(c.buffer), len(message))
	}
}

func TestQueueTakesARecordWhereItIsMade(t *testing.T) {
	q, ctx := newQueue(), t.Context()
	write := func(p []byte) func([]byte) ([]byte, error) {
		return func(dst []byte) ([]byte, error) { return append(dst, p...), nil }
	}
	broken := errors.New("broken")
	if err := q.appendRecord(ctx, 1, 3, func(dst []byte) ([]byte, error) { return append(dst, 1), broken }); !errors.Is(err, broken) {
		t.Errorf("a record that could not be made: %v", err)
	}
	if err := q.appendRecord(ctx, 1, 3, write([]byte("abcd"))); err == nil {
		t.Error("a record of another size than announced was queued")
	}
	if err := q.appendRecord(ctx, 7, 2, write([]byte("ab"))); err != nil {
		t.Fatal(err)
	}
	if err := q.appendRecord(ctx, 7, 1, write(nil)); err == nil {
		t.Error("an empty record was queued")
	}
	if err := q.putRecords(ctx, 8, [][]byte{[]byte("c")}); err != nil {
		t.Fatal(err)
	}
	s, err := q.take()
	want := wire.AppendRecord(wire.AppendRecord(nil, 7, []byte("ab")), 8, []byte("c"))
	if err != nil || !bytes.Equal(s.message(), want) || q.size != 0 || len(q.segments) != 0 {
		t.Errorf("%x, %v, want %x; %d bytes and %d messages are left", s.message(), err, want, q.size, len(q.segments))
	}
}

func TestQueueMakesARecordOnlyWhenThereIsRoom(t *testing.T) {
	q := newQueue()
	if err := q.putText(t.Context(), make([]byte, maxQueued)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := q.appendRecord(ctx, 1, 1, func(dst []byte) ([]byte, error) {
		t.Error("made although there was no room")
		return dst, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
