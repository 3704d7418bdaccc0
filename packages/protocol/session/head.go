package session

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// Head is a host's signature of a line and of everything before it. Keys and
// signature are raw bytes; the id of the device is a hash of both keys.
type Head struct {
	SignKey   [32]byte
	SealKey   [32]byte
	Signature [64]byte
}

const (
	headDomain  = "scorel head v1\x00"
	headOpening = `,"head":{"signKey":"`
	headSeal    = `","sealKey":"`
	headSig     = `","sig":"`
	headClosing = `"}`
	sigDigits   = 86 // base64url digits of 64 bytes
	headLen     = len(headOpening) + chainDigits + len(headSeal) + chainDigits + len(headSig) + sigDigits + len(headClosing)
)

// HeadMessage returns the message that a head signs: the domain tag, the id of the
// session prefixed with its length in four bytes, the chain value before the line,
// and the SHA-256 of the line's bytes before the head.
func HeadMessage(sessionID string, prev ChainValue, body []byte) []byte {
	sum := sha256.Sum256(body)
	out := make([]byte, 0, len(headDomain)+4+len(sessionID)+2*sha256.Size)
	out = append(out, headDomain...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(sessionID)))
	out = append(append(out, sessionID...), prev[:]...)
	return append(out, sum[:]...)
}

// AddHead returns a line with a head as its last member; Link adds the chain value
// after it. It takes ownership of line. ok is false if line is not an object with
// members.
func AddHead(line []byte, head Head) (signed json.RawMessage, ok bool) {
	end := len(line) - 1
	if end < 2 || line[end] != '}' {
		return nil, false
	}
	signed = slices.Grow(line[:end], headLen+1+chainLen)
	for _, part := range [...]struct {
		text string
		raw  []byte
	}{{headOpening, head.SignKey[:]}, {headSeal, head.SealKey[:]}, {headSig, head.Signature[:]}} {
		signed = append(signed, part.text...)
		signed = base64.RawURLEncoding.AppendEncode(signed, part.raw)
	}
	return append(signed, headClosing+"}"...), true
}

// SplitHead returns the bytes of a line that a head signs, and the head. covered is
// the result of SplitChain. ok is false if there is no head in exactly this form.
func SplitHead(covered []byte) (body []byte, head Head, ok bool) {
	at := len(covered) - headLen
	if at < 1 {
		return nil, head, false
	}
	rest := covered[at:]
	for _, part := range [...]struct {
		text string
		raw  []byte
	}{{headOpening, head.SignKey[:]}, {headSeal, head.SealKey[:]}, {headSig, head.Signature[:]}, {headClosing, nil}} {
		if string(rest[:len(part.text)]) != part.text {
			return nil, Head{}, false
		}
		rest = rest[len(part.text):]
		digits := base64.RawURLEncoding.EncodedLen(len(part.raw))
		if !decodeDigits(part.raw, rest[:digits]) {
			return nil, Head{}, false
		}
		rest = rest[digits:]
	}
	return covered[:at:at], head, true
}
