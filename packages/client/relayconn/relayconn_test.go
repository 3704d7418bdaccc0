package relayconn

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestParseURL(t *testing.T) {
	good := map[string][2]string{ // URL -> what is dialed, authority
		"https://relay.example":         {"wss://relay.example/v1/connect", "relay.example"},
		"https://Relay.Example:443/":    {"wss://Relay.Example:443/v1/connect", "relay.example"},
		"wss://relay.example:8443":      {"wss://relay.example:8443/v1/connect", "relay.example:8443"},
		"http://127.0.0.1:7420":         {"ws://127.0.0.1:7420/v1/connect", "127.0.0.1:7420"},
		"http://localhost:80":           {"ws://localhost:80/v1/connect", "localhost"},
		"http://[::1]:7420":             {"ws://[::1]:7420/v1/connect", "[::1]:7420"},
		" https://relay.example/base/ ": {"wss://relay.example/base/v1/connect", "relay.example"},
	}
	for text, want := range good {
		dial, authority, err := ParseURL(text)
		if err != nil || dial.String() != want[0] || authority != want[1] {
			t.Errorf("%q: got %v %q %v, want %v", text, dial, authority, err, want)
		}
	}
	for _, text := range []string{
		"", "relay.example", "ftp://relay.example", "https://", "https://user:pw@relay.example",
		"https://relay.example?x=1", "https://relay.example/#frag", "http://%zz",
	} {
		if _, _, err := ParseURL(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestQueueJoinsRecordsAndKeepsOrder(t *testing.T) {
	q, ctx := newQueue(), t.Context()
	put := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put(q.putRecords(ctx, 1, [][]byte{[]byte("a"), []byte("b")}))
	put(q.putRecords(ctx, 2, [][]byte{[]byte("c")}))
	put(q.putText(ctx, []byte("{}")))
	put(q.putRecords(ctx, 1, [][]byte{[]byte("d")}))
	var got []string
	for range 3 {
		s, err := q.take()
		put(err)
		if s.text {
			got = append(got, "text")
			continue
		}
		joined := ""
		for data := s.message(); len(data) > 0; {
			record, rest, err := wire.NextRecord(data)
			put(err)
			joined += string(record.Payload)
			data = rest
		}
		got = append(got, joined)
	}
	if got[0] != "abc" || got[1] != "text" || got[2] != "d" {
		t.Fatalf("got %q", got)
	}
}

func TestQueueSplitsMessagesAtTheLimit(t *testing.T) {
	q, ctx := newQueue(), t.Context()
	for range 10 {
		if err := q.putRecords(ctx, 1, [][]byte{make([]byte, wire.MaxRecordPayload)}); err != nil {
			t.Fatal(err)
		}
	}
	for total := 0; total < 10*wire.MaxRecord; {
		s, err := q.take()
		if err != nil {
			t.Fatal(err)
		}
		if len(s.message()) > wire.MaxMessage {
			t.Fatalf("a message of %d bytes", len(s.message()))
		}
		total += len(s.message())
	}
}

func TestQueueMakesASenderWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, ctx := newQueue(), t.Context()
		if err := q.putText(ctx, make([]byte, maxQueued)); err != nil {
			t.Fatal(err)
		}
		sent := make(chan error, 2)
		go func() { sent <- q.putText(ctx, []byte("x")) }()
		cancelled, cancel := context.WithCancel(ctx)
		go func() { sent <- q.putText(cancelled, []byte("y")) }()
		synctest.Wait()
		if len(sent) != 0 {
			t.Fatal("a full queue took more")
		}
		cancel()
		if err := <-sent; !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		if _, err := q.take(); err != nil {
			t.Fatal(err)
		}
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		q.close()
		if err := q.putText(ctx, nil); !errors.Is(err, ErrClosed) {
			t.Fatalf("got %v, want ErrClosed", err)
		}
	})
}

// TestQueueHasRoomForTheEndsOfChannels: for those of all channels, and no more. A connection
// without room for one ends.
func TestQueueHasRoomForTheEndsOfChannels(t *testing.T) {
	c := newConn(nil, nil, nil, nil)
	if err := c.queue.putText(t.Context(), make([]byte, maxQueued)); err != nil {
		t.Fatal(err)
	}
	sent := uint32(0)
	for {
		err := c.CloseChannel(1<<30+sent, wire.ReasonNotAuthorized)
		if errors.Is(err, errFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		sent++
	}
	if sent < wire.MaxChannelsPerHost {
		t.Errorf("there is room for %d", sent)
	}
	if err := c.CloseChannel(1, wire.ReasonClosed); !errors.Is(err, ErrClosed) {
		t.Errorf("the connection goes on: %v", err)
	}
	for range sent + 1 { // what was queued is sent
		if _, err := c.queue.take(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.queue.take(); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}

func TestPauses(t *testing.T) {
	bye := func(reason wire.Reason, after int64) error {
		return &GoodbyeError{wire.Goodbye{Reason: reason, RetryAfter: after}}
	}
	tests := map[string]struct {
		err         error
		wait        time.Duration
		connected   bool
		least, most time.Duration
	}{
		"no server":          {errors.New("refused"), time.Second, false, 500 * time.Millisecond, time.Second},
		"a loss":             {errors.New("lost"), time.Second, true, 500 * time.Millisecond, time.Second + lossSpread},
		"replaced by a twin": {bye(wire.ReasonReplaced, 0), time.Second, true, backoffReplaced, 2 * backoffReplaced},
		"the relay's figure": {bye(wire.ReasonShutdown, 1500), time.Second, true, 1500 * time.Millisecond, 1500 * time.Millisecond},
		"a tiny figure":      {bye(wire.ReasonShutdown, 1), time.Second, true, 500 * time.Millisecond, time.Second},
		"an absurd figure":   {bye(wire.ReasonShutdown, 1<<50), time.Second, true, 10 * time.Minute, 10 * time.Minute},
		"a refusal":          {wire.Errorf(wire.KindBadProof, "no"), time.Second, false, backoffMost / 2, backoffMost},
	}
	for name, test := range tests {
		for range 50 {
			if got := pauseAfter(test.err, test.wait, test.connected); got < test.least || got > test.most {
				t.Errorf("%s: waits %s, want %s to %s", name, got, test.least, test.most)
			}
		}
	}
}

// A thousand peers that lose their relay at one moment do not dial at one.
func TestLossesSpread(t *testing.T) {
	const slots = 10
	var seen [slots]int
	first := backoffFirst/2 + lossSpread
	for range 1000 {
		got := pauseAfter(errors.New("lost"), backoffFirst, true) - backoffFirst/2
		seen[min(slots-1, int(got*slots/first))]++
	}
	for i, n := range seen {
		if n > 200 {
			t.Errorf("%d of 1000 dial in part %d of %d: %v", n, i, slots, seen)
		}
	}
}

func TestKeepBacksOffAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		tries := 0
		cfg := Config{RelayURL: "not a URL"}
		err := Keep(ctx, cfg, func(s State) {
			tries++
			if s.Connected || s.Err == nil || s.RetryIn > backoffMost {
				t.Errorf("state %+v", s)
			}
		}, func(context.Context, *Conn) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("got %v", err)
		}
		// Thirty seconds at the most and half of it at the least between two tries.
		if tries < 20 || tries > 60 {
			t.Fatalf("%d tries in ten minutes", tries)
		}
	})
}
