package session

import (
	"encoding/binary"
	"math/bits"
)

// This JSON scanner exists because opening a session examines only a few members of
// each line: it validates what it skips and copies nothing. It accepts what
// JavaScript's JSON.parse accepts, to a depth of MaxLineDepth.

// skipSpace returns the index of the first byte at or after i that is not JSON
// white space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns the index after the JSON value that begins at b[i]. ok is false
// if there is no complete value.
func skipValue(b []byte, i int) (end int, ok bool) {
	if i >= len(b) {
		return i, false
	}
	if b[i] == '{' || b[i] == '[' {
		return skipContainer(b, i)
	}
	return skipScalar(b, i)
}

func skipScalar(b []byte, i int) (int, bool) {
	if i >= len(b) {
		return i, false
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, word string) (int, bool) {
	end := i + len(word)
	if end > len(b) || string(b[i:end]) != word {
		return i, false
	}
	return end, true
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func skipNumber(b []byte, i int) (int, bool) {
	if i < len(b) && b[i] == '-' {
		i++
	}
	start := i
	i = skipDigits(b, i)
	if i == start || b[start] == '0' && i > start+1 {
		return i, false
	}
	if i < len(b) && b[i] == '.' {
		start = i + 1
		if i = skipDigits(b, start); i == start {
			return i, false
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		start = i
		if i = skipDigits(b, i); i == start {
			return i, false
		}
	}
	return i, true
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// stops marks, by its high bit, each of the eight bytes in x that ends a run of
// plain text in a string: a quote, a backslash or a control character. The lowest
// mark is exact; marks above it may be false.
func stops(x uint64) uint64 {
	quote, backslash := x^(lowBits*'"'), x^(lowBits*'\\')
	return ((x-lowBits*0x20)&^x | (quote-lowBits)&^quote | (backslash-lowBits)&^backslash) & highBits
}

// skipPlain returns the index of the first byte at or after i that ends a run of
// plain text in a string.
func skipPlain(b []byte, i int) int {
	for i+8 <= len(b) {
		if marks := stops(binary.LittleEndian.Uint64(b[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
		i += 8
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		i++
	}
	return i
}

// skipString returns the index after the string whose opening quote is at b[i].
func skipString(b []byte, i int) (int, bool) {
	for i = skipPlain(b, i+1); i < len(b) && b[i] != '"'; i = skipPlain(b, i) {
		if b[i] != '\\' {
			return i, false
		}
		end, ok := skipEscape(b, i)
		if !ok {
			return i, false
		}
		i = end
	}
	if i >= len(b) {
		return i, false
	}
	return i + 1, true
}

func skipEscape(b []byte, i int) (int, bool) {
	if i+1 >= len(b) {
		return i, false
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, true
	case 'u':
		_, ok := hex4(b, i+2)
		return i + 6, ok
	}
	return i, false
}

// hex4 reads the four hexadecimal digits at b[i].
func hex4(b []byte, i int) (r rune, ok bool) {
	if i+4 > len(b) {
		return 0, false
	}
	for _, c := range b[i : i+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// skipContainer returns the index after the object or array that begins at b[i]. It
// keeps its own stack, up to MaxLineDepth levels.
func skipContainer(b []byte, i int) (int, bool) {
	var few [32]byte
	open := append(few[:0], b[i])
	afterValue, mayClose := false, true
	for i++; ; {
		i = skipSpace(b, i)
		if i >= len(b) {
			return i, false
		}
		top := open[len(open)-1]
		switch {
		case b[i] == top+2 && mayClose: // '}' is '{'+2, ']' is '['+2
			i++
			open = open[:len(open)-1]
			if len(open) == 0 {
				return i, true
			}
			afterValue = true
			continue
		case afterValue:
			if b[i] != ',' {
				return i, false
			}
			i++
			afterValue, mayClose = false, false
			continue
		}
		if top == '{' {
			var ok bool
			if i, ok = skipKey(b, i); !ok {
				return i, false
			}
		}
		if i < len(b) && (b[i] == '{' || b[i] == '[') {
			if len(open) >= MaxLineDepth {
				return i, false // see deep.go
			}
			open = append(open, b[i])
			i++
			mayClose = true
			continue
		}
		end, ok := skipScalar(b, i)
		if !ok {
			return i, false
		}
		i, afterValue, mayClose = end, true, true
	}
}

// skipKey returns the index of the value whose key begins at b[i].
func skipKey(b []byte, i int) (int, bool) {
	if i >= len(b) || b[i] != '"' {
		return i, false
	}
	end, ok := skipString(b, i)
	if !ok {
		return i, false
	}
	i = skipSpace(b, end)
	if i >= len(b) || b[i] != ':' {
		return i, false
	}
	return skipSpace(b, i+1), true
}
