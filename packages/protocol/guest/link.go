// Package guest reads and writes guest links. A guest link is the address of a page whose
// fragment holds all that is needed to see one session of a device: the seed of a client's
// keys, the device's keys, and the device's signature that this client may reach it. Browsers
// do not send fragments to servers.
package guest

import (
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	// Version is the first byte of a fragment.
	Version = 1
	// SeedLen is the size in bytes of the secret of a link.
	SeedLen = 32
	// MaxSessionID bounds the session id in a link, in bytes.
	MaxSessionID = 256
	// MaxFragment bounds the text of a fragment.
	MaxFragment = 640
	// Path is that of the page that shows the session of a link.
	Path = "/g"
)

const (
	seedDomain = "scorel guest v1\x00"
	proofLen   = 64
	sumLen     = 4
	fixedLen   = 1 + SeedLen + 2*ident.KeyLen + 8 + 8 + proofLen
)

// ErrDamaged is returned for a fragment that was cut off or changed.
var ErrDamaged = errors.New("the guest link is incomplete or damaged: copy all of it again")

// ErrNewer is returned for a link of a later version.
var ErrNewer = errors.New("the guest link was made by a newer version of scorel: update scorel to open it")

// Link is what the fragment of a guest link holds.
type Link struct {
	Seed      [SeedLen]byte // of the keys of the client that the link stands for; secret
	Device    ident.Public  // the keys of the device, to which channels are sealed
	SignedAt  int64         // when Proof was signed, in Unix milliseconds
	ExpiresAt int64         // when the link expires, in Unix milliseconds
	Proof     [proofLen]byte
	SessionID string
}

// Keys derives the keys of the client that a seed stands for.
func Keys(seed [SeedLen]byte) (*ident.Private, error) {
	secret := sha512.Sum512(append([]byte(seedDomain), seed[:]...))
	keys, err := ident.ImportSecret(ident.KindClient, secret[:])
	if err != nil {
		return nil, fmt.Errorf("guest: deriving keys: %w", err)
	}
	return keys, nil
}

// DeviceID is the device that the link leads to.
func (l *Link) DeviceID() ident.ID { return ident.NewID(ident.KindDevice, l.Device) }

// Fragment returns the text of the link behind the "#".
func (l *Link) Fragment() (string, error) {
	if !validSession(l.SessionID) || l.SignedAt < 0 || l.ExpiresAt < 0 {
		return "", errors.New("guest: a link needs a session and times after 1970")
	}
	b := make([]byte, 0, fixedLen+len(l.SessionID)+sumLen)
	b = append(b, Version)
	b = append(b, l.Seed[:]...)
	b = append(b, l.Device.Sign[:]...)
	b = append(b, l.Device.Seal[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.SignedAt))
	b = binary.BigEndian.AppendUint64(b, uint64(l.ExpiresAt))
	b = append(b, l.Proof[:]...)
	b = append(b, l.SessionID...)
	return base64.RawURLEncoding.EncodeToString(append(b, Checksum(b)...)), nil
}

// Parse reads the text of a link behind the "#". The checksum finds what was cut off or
// mistyped; it proves nothing.
func Parse(fragment string) (Link, error) {
	if len(fragment) > MaxFragment || strings.ContainsAny(fragment, "\r\n") {
		return Link{}, ErrDamaged
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(fragment)
	if err != nil || len(data) <= sumLen {
		return Link{}, ErrDamaged
	}
	body, sum := data[:len(data)-sumLen], data[len(data)-sumLen:]
	switch {
	case subtle.ConstantTimeCompare(Checksum(body), sum) != 1:
		return Link{}, ErrDamaged
	case body[0] > Version:
		return Link{}, ErrNewer
	case body[0] != Version || len(body) < fixedLen:
		return Link{}, ErrDamaged
	}
	return parseBody(body[1:])
}

func parseBody(rest []byte) (l Link, _ error) {
	take := func(dst []byte) { rest = rest[copy(dst, rest):] }
	number := func() uint64 {
		n := binary.BigEndian.Uint64(rest)
		rest = rest[8:]
		return n
	}
	take(l.Seed[:])
	take(l.Device.Sign[:])
	take(l.Device.Seal[:])
	signed, expires := number(), number()
	take(l.Proof[:])
	l.SignedAt, l.ExpiresAt, l.SessionID = int64(signed), int64(expires), string(rest)
	if signed > maxTime || expires > maxTime || !validSession(l.SessionID) {
		return Link{}, ErrDamaged
	}
	return l, nil
}

// maxTime is the largest time that JavaScript represents exactly.
const maxTime = 1<<53 - 1

// validSession accepts what a host uses as the id of a session.
func validSession(id string) bool {
	return id != "" && len(id) <= MaxSessionID && utf8.ValidString(id) && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// Checksum returns the last bytes of a fragment with this content.
func Checksum(body []byte) []byte {
	sum := sha256.Sum256(body)
	return sum[:sumLen]
}

// URL returns the link at the page of a relay or listener, which is an address that begins
// with http:// or https://.
func (l *Link) URL(page string) (string, error) {
	fragment, err := l.Fragment()
	if err != nil {
		return "", err
	}
	u, err := url.Parse(page)
	if err != nil || u.Host == "" {
		return "", fmt.Errorf("guest: %.200q is not the address of a page", page)
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path, u.RawQuery, u.Fragment = Path, "", fragment
	return u.String(), nil
}

// ParseURL reads a whole link, and returns the address of the relay or listener with it.
func ParseURL(text string) (relay string, l Link, err error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || u.Path != Path {
		return "", Link{}, errors.New("this is not a guest link: it looks like https://RELAY/g#FRAGMENT")
	}
	l, err = Parse(u.Fragment)
	return u.Scheme + "://" + u.Host, l, err
}
