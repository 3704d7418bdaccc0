package link

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

func TestStreamWritesWhatWasHeldAtOnce(t *testing.T) {
	to := &writes{}
	s := newStream(to)
	var want []byte
	write := func(sizes ...int) {
		t.Helper()
		for _, n := range sizes {
			p := bytes.Repeat([]byte{byte(len(want))}, n)
			want = append(want, p...)
			if got, err := s.Write(p); got != n || err != nil {
				t.Fatal(got, err)
			}
		}
	}
	write(10, 20)
	s.hold()
	write(4096, 4096, 100)
	if len(to.sizes) != 2 {
		t.Errorf("held, it wrote %v", to.sizes)
	}
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	write(7)
	s.hold()
	write(streamWrite-1, 2, streamWrite+5, 3)
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	sizes := []int{10, 20, 8292, 7, streamWrite - 1, 2, streamWrite + 5, 3}
	if !slices.Equal(to.sizes, sizes) || !bytes.Equal(to.all, want) {
		t.Errorf("writes of %v bytes, want %v; all came: %v", to.sizes, sizes, bytes.Equal(to.all, want))
	}
	s.hold()
	write(5)
	to.err = io.ErrClosedPipe
	if err := s.release(); !errors.Is(err, io.ErrClosedPipe) {
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
	trusting := newHTTPClient()
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
	if err := new(Conn).takeRecords(message, h); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(h.got, want) || h.batches != 5 {
		t.Errorf("%d bytes in %d pieces, want %d in 5", len(h.got), h.batches, len(want))
	}
	if err := new(Conn).takeRecords(message[:len(message)-1], &collect{}); err == nil {
		t.Error("a message that is cut was taken")
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
	if err != nil || !bytes.Equal(s.data, want) || q.size != 0 || len(q.segments) != 0 {
		t.Errorf("%x, %v, want %x; %d bytes and %d messages are left", s.data, err, want, q.size, len(q.segments))
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
