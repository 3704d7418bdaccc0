package queue

import (
	"bytes"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/apps/relay/internal/ws/wstest"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func newTestQueue(limits Limits) (*Queue, net.Conn) {
	near, far := net.Pipe()
	limits.Timeout = time.Minute
	q := new(Queue)
	q.Init(near, new(bufpool.Pool), NewBounds(limits, nil), func(error) {})
	return q, far
}

// oneRecord is a group of one record.
func oneRecord(payload []byte) Group {
	return Group{Data: wire.AppendRecord(nil, 0, payload), Records: 1}
}

// record queues one record and sees to it that it leaves.
func (q *Queue) record(to *Flow, payload []byte) Result {
	pending := Pending{Reader: new(Queue)}
	defer pending.Flush()
	_, v := q.Put(to, oneRecord(payload), &pending)
	return v
}

// openFlow is the flow of an open channel.
func openFlow(num uint32) *Flow { return &Flow{Channel: num, Closed: new(atomic.Bool)} }

func TestRecordsThatWaitLeaveInOneMessageAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, far := newTestQueue(Limits{Channel: 1 << 20, Data: 1 << 20, Total: 1 << 20})
		a, b := openFlow(1), openFlow(2)
		q.record(a, []byte("first")) // the writer takes this and blocks
		synctest.Wait()
		want := []byte{}
		for i := range 50 {
			payload := bytes.Repeat([]byte{byte(i)}, i+1)
			to := a
			if i%2 == 1 {
				to = b
			}
			if q.record(to, payload) != Queued {
				t.Fatal("not Queued")
			}
			want = wire.AppendRecord(want, to.Channel, payload)
		}
		q.Control(ws.OpText, []byte("{1}"))
		q.record(a, []byte("behind the control frame"))
		q.Finish([][]byte{[]byte("{2}")}, ws.ClosePayload(1000, "x"))
		if q.record(a, []byte("late")) != Closed || q.Control(ws.OpText, nil) != Closed {
			t.Error("a finished queue takes more")
		}
		go func() {
			synctest.Wait()
			_ = q.conn.Close() // the reader below sees the end
		}()
		got := wstest.ReadMessages(t, far)
		q.Close()
		expect := []wstest.Message{
			{Op: ws.OpBinary, Data: wire.AppendRecord(nil, 1, []byte("first"))},
			{Op: ws.OpBinary, Data: want},
			{Op: ws.OpText, Data: []byte("{1}")},
			{Op: ws.OpBinary, Data: wire.AppendRecord(nil, 1, []byte("behind the control frame"))},
			{Op: ws.OpText, Data: []byte("{2}")},
			{Op: ws.OpClose, Data: ws.ClosePayload(1000, "x")},
		}
		var joined []wstest.Message // chunk borders may split a batch
		for _, m := range got {
			if n := len(joined); n > 1 && m.Op == ws.OpBinary && joined[n-1].Op == ws.OpBinary {
				joined[n-1].Data = append(bytes.Clone(joined[n-1].Data), m.Data...)
				continue
			}
			joined = append(joined, m)
		}
		if len(joined) != len(expect) || len(got) > len(expect)+2 {
			t.Fatalf("%d messages, %d without chunk borders, want %d", len(got), len(joined), len(expect))
		}
		for i := range expect {
			if joined[i].Op != expect[i].Op || !bytes.Equal(joined[i].Data, expect[i].Data) {
				t.Errorf("message %d: op %v %q\nwant op %v %q", i, joined[i].Op, joined[i].Data, expect[i].Op, expect[i].Data)
			}
		}
	})
}

func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, far := newTestQueue(Limits{Channel: 3000, Data: 5000, Total: 7000})
		a, b, c := openFlow(1), openFlow(2), openFlow(3)
		payload := make([]byte, 1000)
		q.record(c, payload) // in the writer's hands, and still counted
		synctest.Wait()
		fill := func(p *Flow) (n int) {
			for q.record(p, payload) == Queued {
				n++
			}
			return n
		}
		if n := fill(a); n != 2 {
			t.Errorf("one channel took %d records of 1 KB, want 2 of 3000 bytes", n)
		}
		if n := fill(b); n != 1 {
			t.Errorf("another channel took %d, want the 1 that is left of 5000 bytes", n)
		}
		n := 0
		for q.Control(ws.OpText, payload) == Queued {
			n++
		}
		if n < 2 {
			t.Errorf("%d control frames found room in a full queue, want 2", n)
		}
		if q.waiting > 7000+2*ws.HeaderRoom {
			t.Errorf("%d bytes wait", q.waiting)
		}
		go io.Copy(io.Discard, far)
		synctest.Wait()
		if q.waiting != 0 || len(q.chunks) != 0 || q.writing {
			t.Errorf("after all was read: %d bytes, %d chunks, writer runs %v", q.waiting, len(q.chunks), q.writing)
		}
		if n := fill(a); n < 1 {
			t.Error("nothing fits in an empty queue")
		}
		_ = q.conn.Close() // ends the writer
		q.Close()
	})
}

// A reader that writes for a receiver that stands still must neither wait for it nor
// lose or mix up what the socket took in part.
func TestFlushLeavesTheRestToAWriter(t *testing.T) {
	near, far := wstest.TCPPair(t)
	q := new(Queue)
	q.Init(near, new(bufpool.Pool), NewBounds(Limits{Channel: 64 << 20, Data: 64 << 20, Total: 65 << 20, Timeout: time.Minute}, nil), func(error) {})
	if q.direct == nil && canTryWrite {
		t.Fatal("a TCP connection is not written to directly")
	}
	p := openFlow(7)
	var want []byte
	for i := range 600 { // about 10 MB: more than the socket's buffers take
		pending := Pending{Reader: new(Queue)}
		for k := range 1 + i%3 {
			payload := bytes.Repeat([]byte{byte(i), byte(k)}, 4000+i)
			if _, v := q.Put(p, oneRecord(payload), &pending); v != Queued {
				t.Fatal("not Queued")
			}
			want = wire.AppendRecord(want, p.Channel, payload)
		}
		pending.Flush()
	}
	q.Finish(nil, ws.ClosePayload(1000, "x"))
	go func() {
		q.Drain()
		_ = near.Close() // the reader sees the end
	}()
	var got []byte
	for _, m := range wstest.ReadMessages(t, far) {
		if m.Op == ws.OpBinary {
			got = append(got, m.Data...)
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, not the %d that were sent in their order", len(got), len(want))
	}
}
