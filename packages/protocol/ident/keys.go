package ident

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// KeyLen is the size in bytes of every public key, and of every private seed.
const KeyLen = 32

// SignPublic is an Ed25519 public key. It prints as unpadded base64url.
type SignPublic [KeyLen]byte

// SealPublic is an X25519 public key. It prints as unpadded base64url.
type SealPublic [KeyLen]byte

// Public is the pair of keys that an ID commits to.
type Public struct {
	Sign SignPublic `json:"signKey"`
	Seal SealPublic `json:"sealKey"`
}

// Verify reports whether sig is this key's Ed25519 signature of message.
func (k SignPublic) Verify(message, sig []byte) bool {
	return len(sig) == ed25519.SignatureSize && ed25519.Verify(k[:], message, sig)
}

func (k SignPublic) String() string { return base64.RawURLEncoding.EncodeToString(k[:]) }
func (k SealPublic) String() string { return base64.RawURLEncoding.EncodeToString(k[:]) }

// MarshalText implements encoding.TextMarshaler.
func (k SignPublic) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// MarshalText implements encoding.TextMarshaler.
func (k SealPublic) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *SignPublic) UnmarshalText(text []byte) error { return parseKey(k[:], "sign", text) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (k *SealPublic) UnmarshalText(text []byte) error { return parseKey(k[:], "seal", text) }

func parseKey(dst []byte, what string, text []byte) error {
	// The decoder skips line ends even when strict, but a key has only one form.
	if bytes.ContainsAny(text, "\r\n") {
		return fmt.Errorf("ident: %s key is not unpadded base64url", what)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return fmt.Errorf("ident: %s key is not unpadded base64url", what)
	}
	if len(raw) != KeyLen {
		return fmt.Errorf("ident: %s key has %d bytes, want %d", what, len(raw), KeyLen)
	}
	copy(dst, raw)
	return nil
}

// ErrSecret is returned by every attempt to marshal a Private.
var ErrSecret = errors.New("ident: a private key cannot be marshaled; use ExportSecret")

// Private holds both private keys of one party. It prints as its public half,
// refuses to be marshaled, and cannot be compared with ==.
type Private struct {
	_      [0]func() // makes == a compile error
	kind   Kind
	sign   ed25519.PrivateKey
	seal   *ecdh.PrivateKey
	public Public
}

// Generate generates keys for a party of the given kind. The entropy comes from
// random, which is crypto/rand.Reader except in tests.
func Generate(kind Kind, random io.Reader) (*Private, error) {
	var seeds [2 * KeyLen]byte
	if _, err := io.ReadFull(random, seeds[:]); err != nil {
		return nil, fmt.Errorf("ident: reading entropy: %w", err)
	}
	return ImportSecret(kind, seeds[:])
}

// ImportSecret restores keys from the result of ExportSecret: the 32-byte Ed25519
// seed, then the 32-byte X25519 scalar.
func ImportSecret(kind Kind, secret []byte) (*Private, error) {
	if kind != KindDevice && kind != KindClient {
		return nil, fmt.Errorf("ident: unknown kind %q", kind)
	}
	if len(secret) != 2*KeyLen {
		return nil, fmt.Errorf("ident: secret has %d bytes, want %d", len(secret), 2*KeyLen)
	}
	sealKey, err := ecdh.X25519().NewPrivateKey(secret[KeyLen:])
	if err != nil {
		return nil, fmt.Errorf("ident: seal key: %w", err)
	}
	p := &Private{kind: kind, sign: ed25519.NewKeyFromSeed(secret[:KeyLen]), seal: sealKey}
	copy(p.public.Sign[:], p.sign.Public().(ed25519.PublicKey))
	copy(p.public.Seal[:], sealKey.PublicKey().Bytes())
	return p, nil
}

// ExportSecret returns the 64 secret bytes for a key file of mode 0600. The
// name is long so that a reviewer sees each use.
func (p *Private) ExportSecret() []byte {
	return append(append(make([]byte, 0, 2*KeyLen), p.sign.Seed()...), p.seal.Bytes()...)
}

// SealSecret returns the X25519 scalar for the Noise handshake, which needs the raw
// bytes. Only package seal uses it.
func (p *Private) SealSecret() []byte { return p.seal.Bytes() }

// Public returns the public half.
func (p *Private) Public() Public { return p.public }

// ID returns the id that commits to the public half.
func (p *Private) ID() ID { return NewID(p.kind, p.public) }

// Sign returns the Ed25519 signature (64 bytes) of message. The caller puts a
// domain tag in front of what it signs.
func (p *Private) Sign(message []byte) []byte { return ed25519.Sign(p.sign, message) }

// Equal reports whether two private keys are equal, in constant time.
func (p *Private) Equal(other *Private) bool {
	return p.kind == other.kind && subtle.ConstantTimeCompare(p.ExportSecret(), other.ExportSecret()) == 1
}

// String returns the public id, so that logging a private key reveals no secret.
func (p *Private) String() string { return p.ID().String() }

// GoString keeps %#v from printing the key.
func (p *Private) GoString() string { return "ident.Private(" + p.String() + ")" }

// MarshalText always fails with ErrSecret.
func (p *Private) MarshalText() ([]byte, error) { return nil, ErrSecret }

// MarshalJSON always fails with ErrSecret.
func (p *Private) MarshalJSON() ([]byte, error) { return nil, ErrSecret }
