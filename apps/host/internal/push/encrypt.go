package push

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
)

const (
	keyBytes    = 65 // of an uncompressed point on P-256
	secretBytes = 16 // of a browser's secret, and of a salt
	// recordSize is the size of the only record: that of the longest body that a push service
	// must accept.
	recordSize = 4096
	// paddedBytes is the length to which every content is padded, so that its length tells
	// the push service nothing.
	paddedBytes = 3072
)

// recipient is the browser that a content is encrypted for.
type recipient struct {
	key    *ecdh.PublicKey
	secret []byte
}

func recipientOf(a Address) (r recipient, err error) {
	point, err := decode(a.P256dh)
	if err != nil || len(point) != keyBytes {
		return r, errors.New("p256dh is not a public key of a subscription")
	}
	if r.secret, err = decode(a.Auth); err != nil || len(r.secret) != secretBytes {
		return r, errors.New("auth is not the secret of a subscription")
	}
	if r.key, err = ecdh.P256().NewPublicKey(point); err != nil {
		return r, errors.New("p256dh is not a point of the curve")
	}
	return r, nil
}

// decode reads base64url with or without padding, as browsers and libraries write it.
func decode(s string) ([]byte, error) {
	for len(s) > 0 && s[len(s)-1] == '=' {
		s = s[:len(s)-1]
	}
	return base64.RawURLEncoding.DecodeString(s)
}

// seal encrypts a content for a browser with a key and a salt that are used once.
func seal(content []byte, to recipient) ([]byte, error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("push: making a key: %w", err)
	}
	salt := make([]byte, secretBytes)
	_, _ = rand.Read(salt) // never fails since Go 1.24
	if len(content) > paddedBytes {
		return nil, fmt.Errorf("push: a content of %d bytes is longer than %d", len(content), paddedBytes)
	}
	return sealWith(content, paddedBytes-len(content), to, key, salt)
}

// sealWith is seal with all that is chosen by chance (RFC 8291, with one record of RFC 8188).
func sealWith(content []byte, padding int, to recipient, key *ecdh.PrivateKey, salt []byte) ([]byte, error) {
	shared, err := key.ECDH(to.key)
	if err != nil {
		return nil, fmt.Errorf("push: agreeing on a key: %w", err)
	}
	own := key.PublicKey().Bytes()
	info := "WebPush: info\x00" + string(to.key.Bytes()) + string(own)
	input, err := hkdf.Key(sha256.New, shared, to.secret, info, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("push: deriving a key: %w", err)
	}
	contentKey, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, fmt.Errorf("push: deriving a key: %w", err)
	}
	nonce, err := hkdf.Key(sha256.New, input, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, fmt.Errorf("push: deriving a nonce: %w", err)
	}
	block, err := aes.NewCipher(contentKey)
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	body := append([]byte{}, salt...)
	body = binary.BigEndian.AppendUint32(body, recordSize)
	body = append(body, byte(len(own)))
	body = append(body, own...)
	record := append(append([]byte{}, content...), 2) // the delimiter of the last record
	record = append(record, make([]byte, padding)...)
	return gcm.Seal(body, nonce, record, nil), nil
}
