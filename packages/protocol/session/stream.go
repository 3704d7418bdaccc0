package session

import (
	"bufio"
	"io"
)

// stream writes JSON incrementally, so that the output need not fit into memory a
// second time. The caller is responsible for the order: a key before each value of
// an object.
type stream struct {
	w       *bufio.Writer // keeps the first error
	comma   bool          // the next value or key follows another
	scratch []byte
}

func newStream(w io.Writer) *stream { return &stream{w: bufio.NewWriterSize(w, 64<<10)} }

func (s *stream) separate() {
	if s.comma {
		_ = s.w.WriteByte(',')
	}
	s.comma = true
}

// begin opens an object or an array.
func (s *stream) begin(brace byte) {
	s.separate()
	s.comma = false
	_ = s.w.WriteByte(brace)
}

// end closes an object or an array.
func (s *stream) end(brace byte) {
	s.comma = true
	_ = s.w.WriteByte(brace)
}

func (s *stream) key(name string) *stream {
	s.text(name)
	s.comma = false
	_ = s.w.WriteByte(':')
	return s
}

func (s *stream) text(value string) {
	s.separate()
	s.scratch = appendQuoted(s.scratch[:0], value)
	_, _ = s.w.Write(s.scratch)
}

// raw writes JSON unchanged.
func (s *stream) raw(value []byte) {
	s.separate()
	_, _ = s.w.Write(value)
}

// id writes the id of a line: null if it has none.
func (s *stream) id(id string, f form, raw []byte, name string) {
	switch f {
	case formString:
		s.text(id)
	case formOther:
		s.raw(member(raw, name))
	default:
		s.raw([]byte("null"))
	}
}
