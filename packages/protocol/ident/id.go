// Package ident defines identities. A device (a machine that runs a host) and a
// client (an entry: a browser, a phone, a terminal) each own an Ed25519 key, which
// signs in to relays, and an X25519 key, which seals channels. The public id is a
// hash of both keys: it cannot be claimed, only proven.
package ident

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

// Kind is the kind of party that an ID names.
type Kind string

const (
	KindDevice Kind = "dev" // a machine that runs a host
	KindClient Kind = "cli" // an entry
)

// IDLen is the length in bytes of every printed id: three letters, an
// underscore and 32 base32 digits.
const IDLen = 36

const (
	sumLen   = 20
	idDomain = "scorel id v1\x00"
)

var idEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// ID is the public name of a device or a client. It is comparable and may be a map
// key. The zero ID names no party.
type ID struct {
	kind Kind
	sum  [sumLen]byte
}

// NewID derives the id that commits to both public keys.
func NewID(kind Kind, keys Public) ID {
	h := sha256.New()
	h.Write([]byte(idDomain))
	h.Write(keys.Sign[:])
	h.Write(keys.Seal[:])
	id := ID{kind: kind}
	copy(id.sum[:], h.Sum(nil))
	return id
}

// ParseID parses the form that String returns. Only that exact form is accepted:
// lower case, no padding, no surrounding blanks.
func ParseID(s string) (ID, error) {
	prefix, digits, ok := strings.Cut(s, "_")
	if !ok || len(s) != IDLen {
		return ID{}, fmt.Errorf("ident: %q is not an id: want dev_ or cli_ and 32 base32 digits", clip(s))
	}
	kind := Kind(prefix)
	if kind != KindDevice && kind != KindClient {
		return ID{}, fmt.Errorf("ident: %q is not an id: unknown prefix %q", clip(s), prefix)
	}
	sum, err := idEncoding.DecodeString(digits)
	if err != nil || len(sum) != sumLen {
		return ID{}, fmt.Errorf("ident: %q is not an id: bad base32 digit", clip(s))
	}
	id := ID{kind: kind}
	copy(id.sum[:], sum)
	return id, nil
}

// ParseDeviceID is ParseID for an id that must name a device.
func ParseDeviceID(s string) (ID, error) { return parseKind(s, KindDevice, "device") }

// ParseClientID is ParseID for an id that must name a client.
func ParseClientID(s string) (ID, error) { return parseKind(s, KindClient, "client") }

func parseKind(s string, want Kind, noun string) (ID, error) {
	id, err := ParseID(s)
	if err != nil {
		return ID{}, err
	}
	if id.kind != want {
		return ID{}, fmt.Errorf("ident: %s is not a %s id: it must begin with %q", s, noun, string(want)+"_")
	}
	return id, nil
}

// Kind returns whether the id names a device or a client; "" for the zero ID.
func (id ID) Kind() Kind { return id.kind }

// IsZero reports whether the id is the zero ID.
func (id ID) IsZero() bool { return id.kind == "" }

// Compare orders ids by their printed form, for stable listings.
func (id ID) Compare(other ID) int {
	if c := strings.Compare(string(id.kind), string(other.kind)); c != 0 {
		return c
	}
	return bytes.Compare(id.sum[:], other.sum[:])
}

// String returns the printed id, or "" for the zero ID.
func (id ID) String() string {
	if id.IsZero() {
		return ""
	}
	return string(id.kind) + "_" + idEncoding.EncodeToString(id.sum[:])
}

// MarshalText implements encoding.TextMarshaler.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; "" is the zero ID.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = ID{}
		return nil
	}
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}

// clip limits how much of external input an error repeats.
func clip(s string) string {
	if len(s) > 2*IDLen {
		return s[:2*IDLen] + "..."
	}
	return s
}
