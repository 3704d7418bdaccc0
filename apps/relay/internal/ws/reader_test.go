package ws

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/scorel/scorel/apps/relay/internal/bufpool"
)

// clientFrame returns a frame as a browser sends it.
func clientFrame(op Op, fin bool, payload []byte) []byte {
	first := byte(op)
	if fin {
		first |= 0x80
	}
	out := []byte{first}
	switch n := len(payload); {
	case n <= 125:
		out = append(out, 0x80|byte(n))
	case n <= 0xFFFF:
		out = binary.BigEndian.AppendUint16(append(out, 0x80|126), uint16(n))
	default:
		out = binary.BigEndian.AppendUint64(append(out, 0x80|127), uint64(n))
	}
	key := [4]byte{0xA1, 0x02, 0xF3, 0x44}
	out = append(out, key[:]...)
	for i, b := range payload {
		out = append(out, b^key[i&3])
	}
	return out
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

func newTestReader(src io.Reader) *Reader {
	r := NewReader(src, new(bufpool.Pool), nil)
	r.SetLimits(64<<10, 256<<10)
	return r
}

// readMessage collects one message; binary parts are discarded as they come, but
// for the last 3 bytes, so that leftovers are carried over.
func readMessage(r *Reader) (Op, []byte, error) {
	var got []byte
	for {
		ev, err := r.Next()
		if err != nil {
			return 0, nil, err
		}
		if ev.Op != OpBinary || ev.Fin {
			return ev.Op, append(got, ev.Data...), nil
		}
		n := max(0, len(ev.Data)-3)
		got = append(got, ev.Data[:n]...)
		r.Discard(n)
	}
}

func TestReaderReadsMessages(t *testing.T) {
	type message struct {
		op   Op
		data []byte
	}
	messages := []message{
		{OpText, []byte(`{"type":"x"}`)}, {OpBinary, pattern(1)}, {OpBinary, pattern(125)}, {OpBinary, pattern(126)},
		{OpPing, []byte("hi")}, {OpBinary, pattern(511)}, {OpBinary, pattern(70_000)}, {OpText, pattern(64 << 10)},
		{OpBinary, pattern(256 << 10)}, {OpPong, nil}, {OpBinary, nil}, {OpClose, ClosePayload(1000, "bye")},
	}
	var stream []byte
	for _, m := range messages {
		stream = append(stream, clientFrame(m.op, true, m.data)...)
	}
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"as it comes": func(r io.Reader) io.Reader { return r },
		"one byte":    iotest.OneByteReader,
		"half":        iotest.HalfReader,
		"with error":  iotest.DataErrReader,
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestReader(wrap(bytes.NewReader(stream)))
			for i, want := range messages {
				op, data, err := readMessage(r)
				if err != nil || op != want.op || !bytes.Equal(data, want.data) {
					t.Fatalf("message %d: op %v, %d bytes, %v; want op %v, %d bytes", i, op, len(data), err, want.op, len(want.data))
				}
			}
			if _, err := r.Next(); !errors.Is(err, io.EOF) {
				t.Fatalf("after the last message: %v, want EOF", err)
			}
		})
	}
}

func TestReaderJoinsFragmentsAroundControlFrames(t *testing.T) {
	for _, op := range []Op{OpText, OpBinary} {
		whole := pattern(3000)
		var stream []byte
		stream = append(stream, clientFrame(op, false, whole[:7])...)
		stream = append(stream, clientFrame(OpPing, true, []byte("now"))...)
		stream = append(stream, clientFrame(OpContinuation, false, whole[7:1500])...)
		stream = append(stream, clientFrame(OpContinuation, false, nil)...)
		stream = append(stream, clientFrame(OpContinuation, true, whole[1500:])...)
		r := newTestReader(bytes.NewReader(stream))
		var got []byte
		pinged := false
		for {
			ev, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if ev.Op == OpPing {
				pinged = string(ev.Data) == "now"
				continue
			}
			got = ev.Data
			if ev.Fin {
				break
			}
		}
		if !pinged || !bytes.Equal(got, whole) {
			t.Fatalf("op %v: ping seen %v, %d bytes equal %v", op, pinged, len(got), bytes.Equal(got, whole))
		}
	}
}

func TestReaderRefuses(t *testing.T) {
	huge := []byte{0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}
	unmasked := []byte{0x82, 1, 'x'}
	for name, tc := range map[string]struct {
		stream []byte
		status int
	}{
		"unmasked":              {unmasked, StatusProtocol},
		"reserved bit":          {append([]byte{0xC2}, clientFrame(OpBinary, true, nil)[1:]...), StatusProtocol},
		"unknown opcode":        {clientFrame(3, true, nil), StatusProtocol},
		"long ping":             {clientFrame(OpPing, true, pattern(126)), StatusProtocol},
		"fragmented ping":       {clientFrame(OpPing, false, nil), StatusProtocol},
		"stray continuation":    {clientFrame(OpContinuation, true, nil), StatusProtocol},
		"message in a message":  {append(clientFrame(OpText, false, nil), clientFrame(OpText, true, nil)...), StatusProtocol},
		"text over the limit":   {clientFrame(OpText, true, pattern(64<<10+1)), StatusTooBig},
		"binary over the limit": {clientFrame(OpBinary, true, pattern(256<<10+1)), StatusTooBig},
		"announced 2^64":        {huge, StatusTooBig},
		"frames without end":    {append(clientFrame(OpBinary, false, pattern(60<<10)), bytes.Repeat(clientFrame(OpContinuation, false, nil), maxFragments+300)...), StatusPolicy},
		"text in many frames":   {append(clientFrame(OpText, false, nil), bytes.Repeat(clientFrame(OpContinuation, false, []byte(" ")), maxFragments+1)...), StatusPolicy},
		"fragments over limit":  {append(clientFrame(OpText, false, pattern(60<<10)), clientFrame(OpContinuation, true, pattern(5<<10))...), StatusTooBig},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestReader(bytes.NewReader(tc.stream))
			for {
				_, err := r.Next()
				if err == nil {
					continue
				}
				var broken *ProtocolError
				if !errors.As(err, &broken) || broken.Status != tc.status {
					t.Fatalf("got %v, want status %d", err, tc.status)
				}
				return
			}
		})
	}
}

func TestReaderGivesBuffersBackWhenQuiet(t *testing.T) {
	var stream []byte
	stream = append(stream, clientFrame(OpBinary, true, pattern(200_000))...)
	src := &sips{parts: [][]byte{stream}}
	for range quietReads + 2 {
		src.parts = append(src.parts, clientFrame(OpBinary, true, pattern(10)))
	}
	r := newTestReader(src)
	if _, _, err := readMessage(r); err != nil {
		t.Fatal(err)
	}
	if len(r.buf) != bufpool.Large {
		t.Fatalf("buffer of %d bytes while a large message arrives, want %d", len(r.buf), bufpool.Large)
	}
	for range quietReads + 1 {
		if _, _, err := readMessage(r); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.buf) != IdleBuffer {
		t.Fatalf("buffer of %d bytes after %d short reads, want %d", len(r.buf), quietReads, IdleBuffer)
	}
}

// sips returns at most one part per read.
type sips struct{ parts [][]byte }

func (s *sips) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.parts[0])
	if s.parts[0] = s.parts[0][n:]; len(s.parts[0]) == 0 {
		s.parts = s.parts[1:]
	}
	return n, nil
}

func TestReaderAllocatesNothing(t *testing.T) {
	frame := clientFrame(OpBinary, true, pattern(300))
	src := &loop{data: bytes.Repeat(frame, 16)}
	r := newTestReader(src)
	if n := testing.AllocsPerRun(2000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n > 0.01 {
		t.Fatalf("%v allocations per event, want 0", n)
	}
}

type loop struct {
	data []byte
	at   int
}

func (l *loop) Read(p []byte) (int, error) {
	n := copy(p, l.data[l.at:])
	l.at = (l.at + n) % len(l.data)
	return n, nil
}

func TestPutHeader(t *testing.T) {
	for _, tc := range []struct {
		n    int
		want []byte
	}{
		{0, []byte{0x82, 0}}, {125, []byte{0x82, 125}}, {126, []byte{0x82, 126, 0, 126}},
		{0xFFFF, []byte{0x82, 126, 0xFF, 0xFF}}, {0x10000, []byte{0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0}},
	} {
		var room [HeaderRoom]byte
		at := PutHeader(&room, OpBinary, tc.n)
		if !bytes.Equal(room[at:], tc.want) {
			t.Errorf("header for %d bytes: % x, want % x", tc.n, room[at:], tc.want)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(clientFrame(OpText, true, []byte("{}")), 3)
	f.Add(append(clientFrame(OpBinary, false, pattern(600)), clientFrame(OpContinuation, true, pattern(9))...), 100)
	f.Add([]byte{0x82, 0xFE, 0xFF, 0xFF, 1, 2, 3, 4, 5}, 1)
	f.Fuzz(func(t *testing.T, stream []byte, step int) {
		whole := events(newTestReader(bytes.NewReader(stream)))
		cut := events(newTestReader(&stepReader{stream, max(1, step%4096)}))
		if whole != cut {
			t.Fatalf("reading in steps of %d gave another result:\n%q\n%q", step, cut, whole)
		}
	})
}

// events is a transcript that must not depend on how the bytes arrive.
func events(r *Reader) string {
	var out bytes.Buffer
	for {
		op, data, err := readMessage(r)
		if err != nil {
			return out.String()
		}
		out.WriteByte(byte('0' + op))
		out.Write(data)
	}
}

type stepReader struct {
	data []byte
	step int
}

func (s *stepReader) Read(p []byte) (int, error) {
	if len(s.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.step)], s.data)
	s.data = s.data[n:]
	return n, nil
}
