package relay

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/conn"
	"github.com/scorel/scorel/apps/relay/internal/limits"
	"github.com/scorel/scorel/apps/relay/internal/queue"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestReloadReachesEveryRate(t *testing.T) {
	r := newTestRelay(t, Limits{})
	defer func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	odd := Rate{Burst: 77, Every: 77 * time.Second}
	var limits Limits
	fields := reflect.ValueOf(&limits).Elem()
	for i := range fields.NumField() {
		if fields.Field(i).Type() == reflect.TypeFor[Rate]() {
			fields.Field(i).Set(reflect.ValueOf(odd))
		}
	}
	r.guards.Set(limits)
	guards := reflect.ValueOf(r.guards).Elem()
	for i := range guards.NumField() {
		rate := guards.Field(i).Elem().FieldByName("rate")
		if rate.FieldByName("Burst").Int() != int64(odd.Burst) {
			t.Errorf("%s is left as it was", guards.Type().Field(i).Name)
		}
	}
}

func TestReloadOfLimits(t *testing.T) {
	r := newTestRelay(t, Limits{Connections: 1, Logins: Rate{Burst: 1, Every: time.Hour}})
	defer func() {
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	id := ident.NewID(ident.KindClient, ident.Public{})
	if !r.guards.MayLogin(id) || r.guards.MayLogin(id) {
		t.Fatal("the first limit does not hold")
	}
	r.mu.Lock()
	r.open[new(conn.Conn)] = struct{}{}
	r.mu.Unlock()
	ready := func() int {
		rec := httptest.NewRecorder()
		r.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "http://localhost"+wire.ConnectPath, nil))
		return rec.Code
	}
	if got := ready(); got != http.StatusServiceUnavailable {
		t.Fatalf("a full relay answers %d", got)
	}
	if err := r.Reload(Settings{Limits: Limits{Connections: 2, Logins: Rate{Burst: 2, Every: time.Hour}}}); err != nil {
		t.Fatal(err)
	}
	if got := ready(); got == http.StatusServiceUnavailable || !r.guards.MayLogin(id) || r.guards.MayLogin(id) {
		t.Fatalf("the new limits do not hold: %d", got)
	}
	if err := r.Reload(Settings{Limits: Limits{Connections: -1}}); err == nil || r.limits().Connections != 2 {
		t.Fatalf("bad limits: %v, %d connections", err, r.limits().Connections)
	}
	r.mu.Lock()
	clear(r.open)
	r.mu.Unlock()
}

// openFlow is the flow of an open channel.
func openFlow(num uint32) *queue.Flow { return &queue.Flow{Channel: num, Closed: new(atomic.Bool)} }

// record queues one record and sends it.
func record(q *queue.Queue, to *queue.Flow, payload []byte) queue.Result {
	pending := queue.Pending{Reader: new(queue.Queue)}
	defer pending.Flush()
	_, result := q.Put(to, queue.Group{Data: wire.AppendRecord(nil, 0, payload), Records: 1}, &pending)
	return result
}

// What waits for a receiver under the old sizes still leaves, and the new ones hold
// once nothing waits.
func TestReloadOfQueueSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{ChannelQueue: 1 << 20, Queue: 1 << 20, ControlRoom: wire.MaxControl})
		defer stop(t, r)
		c, far := pipeConn(t, r)
		to, payload := openFlow(1), make([]byte, 60_000)
		fill := func() (n int) {
			for record(&c.Out, to, payload) == queue.Queued {
				n++
			}
			return n
		}
		record(&c.Out, to, payload) // in the writer's hands, and still counted
		synctest.Wait()
		if n := fill(); n != 16 {
			t.Errorf("%d records of 60 kB fit beside one in 1 MiB", n)
		}
		small := Limits{ChannelQueue: wire.MaxRecord, Queue: wire.MaxRecord, ControlRoom: wire.MaxControl, WriteTimeout: time.Second}
		if err := r.Reload(Settings{Limits: small}); err != nil {
			t.Fatal(err)
		}
		if c.Out.Control(ws.OpPing, nil) != queue.Queued || c.Ended() {
			t.Fatal("smaller queues cut a peer that held more")
		}
		read := make(chan int)
		go func() { read <- wstest.CountRecords(far) }()
		synctest.Wait()
		_ = far.SetReadDeadline(time.Now()) // the peer stands still again
		if got := <-read; got != 17*(len(payload)+wire.RecordHeaderLen) {
			t.Errorf("%d bytes of 17 records arrived", got)
		}
		if n, most := fill(), wire.MaxRecord/len(payload); n > most {
			t.Errorf("%d records fit in a queue of %d bytes, want at most %d", n, wire.MaxRecord, most)
		}
		_ = far.Close()
	})
}

func TestReloadOfTheWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{})
		defer stop(t, r)
		c, far := pipeConn(t, r)
		defer far.Close()
		// The first frame is written with the timeout of before: it must be out.
		if err := far.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, far); n == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("the relay's first frame: %d bytes, %v", n, err)
		}
		if err := r.Reload(Settings{Limits: Limits{WriteTimeout: 3 * time.Second}}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		record(&c.Out, openFlow(1), []byte("nobody reads this"))
		for !c.Ended() {
			<-time.After(100 * time.Millisecond) // virtual
		}
		if took := time.Since(start); took < 3*time.Second || took > 4*time.Second {
			t.Errorf("a peer that reads nothing was cut after %s", took)
		}
	})
}

func TestReloadOfMemory(t *testing.T) {
	r := newTestRelay(t, Limits{Memory: 64 << 20})
	defer stop(t, r)
	release := fillMemory(r, 50)
	load := func(memory int64) error { return r.Reload(Settings{Limits: Limits{Memory: memory}}) }
	if err := load(32 << 20); err == nil || !strings.Contains(err.Error(), "too small") || r.memory.Limit() != 64<<20 {
		t.Errorf("less than is in use: %v, the limit is %d", err, r.memory.Limit())
	}
	if !r.memory.RoomForConn() {
		t.Error("a half-full relay has no room")
	}
	if err := load(48 << 20); err != nil || !r.memory.Grants(0, 160<<10) || r.memory.Grants(1<<20, 1<<20) {
		t.Errorf("48 MiB: %v; a thin one gets %v, a fat one %v", err, r.memory.Grants(0, 160<<10), r.memory.Grants(1<<20, 1<<20))
	}
	if err := load(256 << 20); err != nil || !r.memory.Grants(1<<20, 64<<20) {
		t.Errorf("256 MiB are not there: %v", err)
	}
	release()
	if err := load(8 << 20); err != nil || r.memory.Grants(0, 9<<20) {
		t.Errorf("8 MiB: %v", err)
	}
	if err := load(1); err == nil || r.limits().Memory != 8<<20 {
		t.Errorf("a byte: %v, %d", err, r.limits().Memory)
	}
}

func TestReloadOfBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{})
		defer stop(t, r)
		var own limits.Bucket
		id, addr := ident.NewID(ident.KindClient, ident.Public{}), netip.MustParseAddr("203.0.113.7")
		pauses := func(bytes int) time.Duration {
			wait := r.conns.Pace.Load().Owe(bytes, &own, id, addr)
			<-time.After(wait) // virtual
			return wait
		}
		if took := pauses(1 << 30); took != 0 {
			t.Errorf("without a limit a reader paused for %s", took)
		}
		for name, rates := range map[string]ByteRates{
			"connection": {Connection: 1 << 20}, "identity": {Identity: 1 << 20}, "address": {Address: 1 << 20}, "all": {All: 1 << 20},
		} {
			own = limits.Bucket{}
			set := func(b ByteRates) {
				t.Helper()
				if err := r.Reload(Settings{Limits: Limits{Bytes: b}}); err != nil {
					t.Fatal(err)
				}
			}
			set(rates)
			if took := pauses(5 << 20); took < 2900*time.Millisecond || took > 3100*time.Millisecond {
				t.Errorf("%s: 5 MiB at 1 MiB/s with 2 at once took %s", name, took)
			}
			set(rates) // the same again: what was sent stays counted
			if took := pauses(1 << 20); took < 900*time.Millisecond {
				t.Errorf("%s: a reload forgave what was sent: %s", name, took)
			}
			set(ByteRates{})
			if took := pauses(1 << 30); took != 0 {
				t.Errorf("%s: the limit is gone, and a reader paused for %s", name, took)
			}
		}
	})
}

func TestReloadChecksTheNumberOfNodes(t *testing.T) {
	r := newTestRelay(t, Limits{})
	defer stop(t, r)
	pairs := Limits{AllPairs: Rate{Burst: 500, Every: 3 * time.Millisecond}}
	if err := r.Reload(Settings{Limits: pairs}); err != nil {
		t.Errorf("one node: %v", err)
	}
	if err := r.Reload(Settings{Limits: pairs, Nodes: 300}); err == nil || !strings.Contains(err.Error(), "on 300 nodes") {
		t.Errorf("300 nodes: %v", err)
	}
}
