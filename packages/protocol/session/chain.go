package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash"
)

// ChainValue commits to a line and to every byte before it. It prints as unpadded
// base64url.
type ChainValue [sha256.Size]byte

func (v ChainValue) String() string { return base64.RawURLEncoding.EncodeToString(v[:]) }

// ParseChainValue parses the form that String returns.
func ParseChainValue(text string) (v ChainValue, err error) {
	if !decodeDigits(v[:], []byte(text)) {
		return ChainValue{}, fmt.Errorf("session: not a chain value: want %d characters of unpadded base64url", chainDigits)
	}
	return v, nil
}

// The form of the last members of a line. Every byte is fixed, so that a line is
// hashed as written and never re-encoded.
const (
	chainDomain  = "scorel chain v1\x00"
	anchorDomain = "scorel anchor v1\x00"
	chainOpening = `,"chain":"`
	chainClosing = `"}`
	chainDigits  = 43 // base64url digits of 32 bytes
	chainLen     = len(chainOpening) + chainDigits + len(chainClosing)
)

// AnchorOf returns the value at which a chain begins: it commits to everything in
// the file before the first chained line, each line with its LF.
func AnchorOf(before []byte) ChainValue {
	h := NewAnchor()
	h.Write(before)
	return ChainValue(h.Sum(nil))
}

// NewAnchor is AnchorOf for bytes that arrive in pieces.
func NewAnchor() hash.Hash {
	h := sha256.New()
	h.Write([]byte(anchorDomain))
	return h
}

// NextChain returns the value of a line whose covered bytes follow prev.
func NextChain(prev ChainValue, covered []byte) ChainValue {
	h := sha256.New()
	h.Write([]byte(chainDomain))
	h.Write(prev[:])
	h.Write(covered)
	return ChainValue(h.Sum(nil))
}

// SplitChain returns the bytes of a line that its chain value covers, which are all
// those before the member, and the value. ok is false if the line does not end with
// one.
func SplitChain(line []byte) (covered []byte, value ChainValue, ok bool) {
	at := len(line) - chainLen
	if at < 1 || string(line[at:at+len(chainOpening)]) != chainOpening || string(line[len(line)-len(chainClosing):]) != chainClosing {
		return nil, value, false
	}
	if !decodeDigits(value[:], line[at+len(chainOpening):len(line)-len(chainClosing)]) {
		return nil, ChainValue{}, false
	}
	return line[:at:at], value, true
}

// decodeDigits decodes canonical base64url digits that fill out exactly.
func decodeDigits(out, digits []byte) bool {
	for _, c := range digits {
		if c == '\r' || c == '\n' { // the decoder skips line ends
			return false
		}
	}
	n, err := base64.RawURLEncoding.Strict().Decode(out, digits)
	return err == nil && n == len(out)
}

// Link returns a line with its chain value as the last member. It takes ownership
// of line and may write into its memory. ok is false if line is not an object with
// members.
func Link(prev ChainValue, line []byte) (linked json.RawMessage, value ChainValue, ok bool) {
	end := len(line) - 1
	if end < 2 || line[end] != '}' {
		return nil, value, false
	}
	value = NextChain(prev, line[:end])
	linked = append(line[:end], chainOpening...)
	linked = base64.RawURLEncoding.AppendEncode(linked, value[:])
	return append(linked, chainClosing...), value, true
}

// Unlinked returns a line without its chain value and its signed head, for a copy
// that begins its own chain. Other lines are returned unchanged.
func Unlinked(line json.RawMessage) json.RawMessage {
	covered, _, ok := SplitChain(line)
	if !ok {
		return line
	}
	if body, _, signed := SplitHead(covered); signed {
		covered = body
	}
	return append(covered[:len(covered):len(covered)], '}')
}

// ChainPrev returns the value to which the next line of the file is chained: the
// value of the last line, or an anchor over the whole file if the last line has
// none. The last line counts with its LF; an incomplete write does not count.
func (f *File) ChainPrev() ChainValue {
	data := f.data
	if f.Torn {
		data = data[:f.Whole]
	}
	if n := len(data); n == 0 || data[n-1] != '\n' {
		data = append(data[:n:n], '\n')
	}
	end := len(data) - 1
	start := end
	for start > 0 && data[start-1] != '\n' {
		start--
	}
	if _, value, ok := SplitChain(data[start:end]); ok {
		return value
	}
	return AnchorOf(data)
}
