package session

import (
	"bytes"
	"strings"
)

// textSlab allocates strings together in large pieces of memory: a long session has
// two short ones in each line, and allocating each by itself would take most of the
// time of reading it. A string keeps its piece alive, as an entry's Raw keeps the
// whole file.
type textSlab struct{ piece strings.Builder }

const (
	slabPiece = 32 << 10 // bytes of a piece; the first ones are smaller, for callers that read one line
	slabFirst = 64
	slabText  = 256 // the longest string that is put into one
)

// unquote is the function unquote. A nil slab allocates each string by itself.
func (s *textSlab) unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if s == nil || len(inner) > slabText || bytes.IndexByte(inner, '\\') >= 0 {
		return unquote(quoted)
	}
	if s.piece.Len()+len(inner) > s.piece.Cap() {
		size := min(slabPiece, max(slabFirst, 4*s.piece.Cap()))
		s.piece = strings.Builder{}
		s.piece.Grow(max(size, len(inner)))
	}
	start := s.piece.Len()
	s.piece.Write(inner)
	return s.piece.String()[start:]
}
