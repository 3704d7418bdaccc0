package relay

import (
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// countRecords reads what the relay sends to one peer and counts the bytes of
// records. It returns when the connection ends.
func countRecords(far net.Conn) (bytes int) {
	var head [10]byte
	for {
		if _, err := io.ReadFull(far, head[:2]); err != nil {
			return bytes
		}
		n := uint64(head[1])
		switch n {
		case 126:
			_, _ = io.ReadFull(far, head[2:4]) // the payload's read tells of an error
			n = uint64(binary.BigEndian.Uint16(head[2:]))
		case 127:
			_, _ = io.ReadFull(far, head[2:10])
			n = binary.BigEndian.Uint64(head[2:])
		}
		got, err := io.CopyN(io.Discard, far, int64(n))
		if head[0]&0x0f == 2 {
			bytes += int(got)
		}
		if err != nil {
			return bytes
		}
	}
}

// Many peers that read nothing are flooded. What the relay holds for them stays under
// the limit, one that reads does not notice, and in the end all is given back.
func TestMemoryIsBoundedUnderSlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			slow, rounds = 64, 40
			memory       = 24 << 20
			size         = 60_000
		)
		r := newTestRelay(t, Limits{Memory: memory})
		host, hostFar := pipeConn(t, r)
		go io.Copy(io.Discard, hostFar)
		innocent, innocentFar := pipeConn(t, r)
		got := make(chan int)
		go func() { got <- countRecords(innocentFar) }()
		conns := []*conn{host, innocent}
		for range slow {
			c, _ := pipeConn(t, r)
			conns = append(conns, c)
		}
		r.memory.conns.Add(int64(len(conns)))
		for _, c := range conns[1:] {
			if err := openLink(c, host, "open"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait() // the innocent has its channel_opened
		payload := make([]byte, size)
		send := func(num uint32) {
			by := touched{by: &host.lane}
			host.route(run{channel: num, data: wire.AppendRecord(nil, num, payload), records: 1}, &by)
			by.flush()
		}
		most := int64(0)
		for range rounds {
			for num := uint32(2); num < slow+2; num++ {
				send(num)
				most = max(most, r.memory.used())
			}
			send(1)
			most = max(most, r.memory.used())
			synctest.Wait()
		}
		if most > memory || most < memory/2 {
			t.Errorf("the relay held up to %d bytes, want near %d and never more", most, memory)
		}
		if n := len(host.links()); n != 1 || innocent.port(1) == nil {
			t.Errorf("%d channels are left, want that of the innocent", n)
		}
		<-time.After(r.cfg.Limits.WriteTimeout + time.Second) // virtual: the slow ones are given up
		synctest.Wait()
		for _, c := range conns {
			if slow := c != host && c != innocent; slow != c.ended() {
				t.Errorf("ended: %v, slow: %v", c.ended(), slow)
			}
		}
		stop(t, r)
		if want := rounds * (size + wire.RecordHeaderLen); <-got != want {
			t.Errorf("the innocent did not get its %d bytes", want)
		}
		if used := r.memory.used(); used != 0 {
			t.Errorf("%d bytes were never given back", used)
		}
	})
}

// fillMemory borrows until a share in percent is used, and returns what gives it back.
func fillMemory(r *Relay, percent int64) func() {
	var held [][]byte
	for r.memory.used() < r.memory.share(percent) {
		held = append(held, r.pool.Get(bufpool.Large))
	}
	return func() {
		for _, b := range held {
			r.pool.Put(b)
		}
	}
}

func TestShortMemoryRefusesNewWorkFirst(t *testing.T) {
	r := newTestRelay(t, Limits{Memory: 64 << 20})
	entry, far := pipeConn(t, r)
	defer far.Close()
	defer stop(t, r)
	entry.id = ident.NewID(ident.KindClient, ident.Public{})
	dial := func() int {
		req := httptest.NewRequest(http.MethodGet, "http://localhost"+wire.ConnectPath, nil)
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, req)
		if rec.Code == http.StatusServiceUnavailable && rec.Header().Get("Retry-After") == "" {
			t.Error("503 without Retry-After")
		}
		return rec.Code
	}
	open := func() wire.Kind { return entry.tryOpen(&wire.OpenChannel{}).Kind }
	for _, tc := range []struct {
		percent    int64
		dial       int
		open       wire.Kind
		thin, fat  bool
		readsLarge bool
	}{
		{0, http.StatusUpgradeRequired, wire.KindUnauthorized, true, true, true}, // both got as far as they can here
		{70, http.StatusUpgradeRequired, wire.KindUnauthorized, true, false, true},
		{80, http.StatusServiceUnavailable, wire.KindUnauthorized, true, false, true},
		{85, http.StatusServiceUnavailable, wire.KindLimit, true, false, true},
		{100, http.StatusServiceUnavailable, wire.KindLimit, false, false, false},
	} {
		release := fillMemory(r, tc.percent)
		if got := dial(); got != tc.dial {
			t.Errorf("at %d %%: a connection gets %d, want %d", tc.percent, got, tc.dial)
		}
		if got := open(); got != tc.open {
			t.Errorf("at %d %%: a channel gets %s, want %s", tc.percent, got, tc.open)
		}
		if thin, fat := r.memory.grants(0, bufpool.Small), r.memory.grants(1<<20, bufpool.Small); thin != tc.thin || fat != tc.fat {
			t.Errorf("at %d %%: thin %v, fat %v; want %v, %v", tc.percent, thin, fat, tc.thin, tc.fat)
		}
		if got := r.memory.grants(bufpool.Medium, bufpool.Large); got != tc.readsLarge {
			t.Errorf("at %d %%: a reader gets a large buffer: %v", tc.percent, got)
		}
		release()
	}
	rec := httptest.NewRecorder()
	r.MetricsHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`scorel_relay_refused_total{reason="memory"} 3`, `scorel_relay_memory_limit_bytes 6.7108864e+07`, `scorel_relay_memory_bytes 0`,
	} {
		if !strings.Contains(rec.Body.String(), want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
}

// stop ends a relay whose connections were made by pipeConn. In a bubble nothing of it
// may be left.
func stop(t *testing.T, r *Relay) {
	t.Helper()
	for _, c := range r.close() {
		c.cut(wire.ReasonClosed)
		c.teardown()
	}
	if err := r.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

// maskedHeader is the beginning of a frame from a peer, with a mask of zeroes.
func maskedHeader(first byte, n int) []byte {
	head := []byte{first, 0x80 | 127}
	head = binary.BigEndian.AppendUint64(head, uint64(n))
	return append(head, 0, 0, 0, 0)
}

func TestMessagesThatNeverEndHoldNoBuffer(t *testing.T) {
	for name, frames := range map[string]struct {
		start []byte // of a message
		drip  []byte // again and again
	}{
		"a record, byte by byte": {append(maskedHeader(0x82, 65_543), append([]byte{0, 0, 0, 1, 0, 0, 0xff, 0xff}, make([]byte, 1000)...)...), []byte{0}},
		"text in fragments, with pongs": {
			append(maskedHeader(0x01, 2000), make([]byte, 2000)...),
			append(append(maskedHeader(0x00, 1), ' '), 0x8a, 0x80, 0, 0, 0, 0),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTestRelay(t, Limits{})
				c, far := pipeConn(t, r)
				go io.Copy(io.Discard, far)
				var dripping sync.WaitGroup
				dripping.Go(func() {
					_, err := far.Write(frames.start)
					for err == nil {
						<-time.After(time.Second) // virtual
						_, err = far.Write(frames.drip)
					}
				})
				c.alive.Store(true)
				c.startPings()
				start := time.Now()
				c.readLoop()
				if took, most := time.Since(start), (heldTicks+2)*r.cfg.Limits.PingInterval*12/10; took > most {
					t.Errorf("ended after %s, want within %s", took, most)
				}
				stop(t, r)
				dripping.Wait()
				if lent := r.pool.Lent(); lent != 0 {
					t.Errorf("%d bytes were never given back", lent)
				}
			})
		})
	}
}

func TestWhoSendsTooMuchIsPaced(t *testing.T) {
	const rate = 2 << 20
	for name, tc := range map[string]struct {
		bytes ByteRates
		conns int           // of one identity, which send at the same time
		want  time.Duration // for 8 MiB each
	}{
		"no limit":       {ByteRates{}, 1, 0},
		"per connection": {ByteRates{Connection: rate}, 2, 2 * time.Second},
		"per identity":   {ByteRates{Identity: rate}, 2, 6 * time.Second},
		"per address":    {ByteRates{Address: rate}, 2, 6 * time.Second},
		"everybody":      {ByteRates{All: rate}, 2, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newTestRelay(t, Limits{Bytes: tc.bytes})
				start, done := time.Now(), make(chan struct{})
				for range tc.conns {
					c, far := pipeConn(t, r)
					defer far.Close()
					go func() {
						for range (8 << 20) / 1000 {
							c.uncounted += 1000
							c.keepPace()
						}
						done <- struct{}{}
					}()
				}
				for range tc.conns {
					<-done
				}
				defer stop(t, r)
				if took := time.Since(start); (took - tc.want).Abs() > 500*time.Millisecond {
					t.Errorf("took %s, want %s", took, tc.want)
				}
			})
		})
	}
}

// TestEachByteThatArrivesIsCounted: a peer that cuts its messages into many frames sends
// little and costs as much.
func TestEachByteThatArrivesIsCounted(t *testing.T) {
	r := newTestRelay(t, Limits{})
	c, far := pipeConn(t, r)
	stream := append(maskedHeader(0x02, 9), 0, 0, 0, 1, 0, 0, 0, 1, 'x')
	for range 20 {
		stream = append(stream, maskedHeader(0x00, 0)...)
	}
	stream = append(stream, maskedHeader(0x80, 0)...)
	stream = append(append(stream, maskedHeader(0x81, 2)...), "{}"...)
	go func() {
		defer far.Close()
		if _, err := far.Write(stream); err != nil {
			t.Error(err)
		}
	}()
	go io.Copy(io.Discard, far)
	c.readLoop()
	if c.uncounted != len(stream) {
		t.Errorf("%d bytes were counted, %d arrived", c.uncounted, len(stream))
	}
	stop(t, r)
}

func TestPaceEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{Bytes: ByteRates{Connection: minByteRate}})
		c, _ := pipeConn(t, r)
		time.AfterFunc(time.Second, func() { c.cut(wire.ReasonRevoked) })
		start := time.Now()
		c.uncounted = 1 << 30
		c.keepPace()
		defer stop(t, r)
		if took := time.Since(start); took > time.Second+pauseMost {
			t.Errorf("went on for %s after the end", took-time.Second)
		}
	})
}
