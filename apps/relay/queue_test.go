package relay

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
	"github.com/scorel/scorel/apps/relay/internal/ws"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func newTestQueue(limits queueLimits) (*queue, net.Conn) {
	near, far := net.Pipe()
	limits.timeout = time.Minute
	q := new(queue)
	q.init(near, new(bufpool.Pool), newQueueBounds(limits, nil), func(error) {})
	return q, far
}

// oneRun is a run of one record.
func oneRun(payload []byte) run {
	return run{data: wire.AppendRecord(nil, 0, payload), records: 1}
}

// record queues one record and sees to it that it leaves.
func (q *queue) record(to *port, payload []byte) verdict {
	by := touched{by: new(lane)}
	defer by.flush()
	_, v := q.run(to, oneRun(payload), &by)
	return v
}

type message struct {
	op   ws.Op
	data []byte
}

// readMessages reads unmasked frames until the end of the stream.
func readMessages(t *testing.T, r io.Reader) []message {
	t.Helper()
	all, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	var out []message
	for len(all) > 0 {
		n, at := int(all[1]), 2
		switch n {
		case 126:
			n, at = int(all[2])<<8|int(all[3]), 4
		case 127:
			n, at = int(all[7])<<16|int(all[8])<<8|int(all[9]), 10
		}
		out = append(out, message{ws.Op(all[0] & 0x0F), all[at : at+n]})
		all = all[at+n:]
	}
	return out
}

func TestRecordsThatWaitLeaveInOneMessageAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, far := newTestQueue(queueLimits{channel: 1 << 20, data: 1 << 20, total: 1 << 20})
		a, b := &port{num: 1}, &port{num: 2}
		q.record(a, []byte("first")) // the writer takes this and blocks
		synctest.Wait()
		want := []byte{}
		for i := range 50 {
			payload := bytes.Repeat([]byte{byte(i)}, i+1)
			to := a
			if i%2 == 1 {
				to = b
			}
			if q.record(to, payload) != queued {
				t.Fatal("not queued")
			}
			want = wire.AppendRecord(want, to.num, payload)
		}
		q.control(ws.OpText, []byte("{1}"))
		q.record(a, []byte("behind the control frame"))
		q.finish([][]byte{[]byte("{2}")}, ws.ClosePayload(1000, "x"))
		if q.record(a, []byte("late")) != queueClosed || q.control(ws.OpText, nil) != queueClosed {
			t.Error("a finished queue takes more")
		}
		go func() {
			synctest.Wait()
			_ = q.conn.Close() // the reader below sees the end
		}()
		got := readMessages(t, far)
		q.close()
		expect := []message{
			{ws.OpBinary, wire.AppendRecord(nil, 1, []byte("first"))},
			{ws.OpBinary, want},
			{ws.OpText, []byte("{1}")},
			{ws.OpBinary, wire.AppendRecord(nil, 1, []byte("behind the control frame"))},
			{ws.OpText, []byte("{2}")},
			{ws.OpClose, ws.ClosePayload(1000, "x")},
		}
		var joined []message // chunk borders may split a batch
		for _, m := range got {
			if n := len(joined); n > 1 && m.op == ws.OpBinary && joined[n-1].op == ws.OpBinary {
				joined[n-1].data = append(bytes.Clone(joined[n-1].data), m.data...)
				continue
			}
			joined = append(joined, m)
		}
		if len(joined) != len(expect) || len(got) > len(expect)+2 {
			t.Fatalf("%d messages, %d without chunk borders, want %d", len(got), len(joined), len(expect))
		}
		for i := range expect {
			if joined[i].op != expect[i].op || !bytes.Equal(joined[i].data, expect[i].data) {
				t.Errorf("message %d: op %v %q\nwant op %v %q", i, joined[i].op, joined[i].data, expect[i].op, expect[i].data)
			}
		}
	})
}

func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, far := newTestQueue(queueLimits{channel: 3000, data: 5000, total: 7000})
		a, b, c := &port{num: 1}, &port{num: 2}, &port{num: 3}
		payload := make([]byte, 1000)
		q.record(c, payload) // in the writer's hands, and still counted
		synctest.Wait()
		fill := func(p *port) (n int) {
			for q.record(p, payload) == queued {
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
		for q.control(ws.OpText, payload) == queued {
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
		q.close()
	})
}

func TestPeerThatReadsNoControlFramesIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestRelay(t, Limits{ControlRoom: 128 << 10, Queue: wire.MaxRecord, ChannelQueue: wire.MaxRecord})
		c, far := pipeConn(t, r)
		n := 0
		for ; !c.ended(); n++ {
			c.tell(&wire.CloseChannel{Channel: 1})
		}
		if *c.reason.Load() != wire.ReasonSlowConsumer || n < 100 || n > 10_000 {
			t.Errorf("ended for %s after %d frames", *c.reason.Load(), n)
		}
		c.teardown()
		_ = far.Close() // the pipe's other end
		if err := r.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A reader that writes for a receiver that stands still must neither wait for it nor
// lose or mix up what the socket took in part.
func TestFlushLeavesTheRestToAWriter(t *testing.T) {
	near, far := tcpPair(t)
	q := new(queue)
	q.init(near, new(bufpool.Pool), newQueueBounds(queueLimits{channel: 64 << 20, data: 64 << 20, total: 65 << 20, timeout: time.Minute}, nil), func(error) {})
	if q.direct == nil && canTryWrite {
		t.Fatal("a TCP connection is not written to directly")
	}
	p := &port{num: 7}
	var want []byte
	for i := range 600 { // about 10 MB: more than the socket's buffers take
		by := touched{by: new(lane)}
		for k := range 1 + i%3 {
			payload := bytes.Repeat([]byte{byte(i), byte(k)}, 4000+i)
			if _, v := q.run(p, oneRun(payload), &by); v != queued {
				t.Fatal("not queued")
			}
			want = wire.AppendRecord(want, p.num, payload)
		}
		by.flush()
	}
	q.finish(nil, ws.ClosePayload(1000, "x"))
	go func() {
		q.drain()
		_ = near.Close() // the reader sees the end
	}()
	var got []byte
	for _, m := range readMessages(t, far) {
		if m.op == ws.OpBinary {
			got = append(got, m.data...)
		}
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes arrived, not the %d that were sent in their order", len(got), len(want))
	}
}

func tcpPair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if far, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = near.Close(), far.Close() }) // the test has closed one
	return near, far
}
