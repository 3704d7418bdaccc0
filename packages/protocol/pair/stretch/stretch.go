// Package stretch derives the key of a pairing from the code's short secret, slowly, so that
// secrets cannot be tried in numbers. It is pure computation in the caller's goroutine, and a
// package of its own because `make test` compiles it without the race detector, under which
// it takes twenty times as long.
package stretch

import (
	"crypto/pbkdf2"
	"crypto/sha256"
)

const rounds = 600_000

// Key returns PBKDF2-HMAC-SHA256(secret, salt, 600 000 rounds, 32 bytes).
func Key(secret string, salt []byte) ([]byte, error) {
	return pbkdf2.Key(sha256.New, secret, salt, rounds, sha256.Size)
}
