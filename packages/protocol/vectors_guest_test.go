package protocol_test

import (
	"encoding/base64"
	"encoding/hex"
	"testing"

	"github.com/scorel/scorel/packages/protocol/guest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

type guestCase struct {
	Fragment  string `json:"fragment"`
	Seed      string `json:"seed"` // hex
	Client    party  `json:"client"`
	Device    party  `json:"device"`
	SignedAt  int64  `json:"signedAt"`
	ExpiresAt int64  `json:"expiresAt"`
	Proof     string `json:"proof"` // hex
	SessionID string `json:"sessionId"`
}

type badGuestCase struct {
	Why      string `json:"why"`
	Fragment string `json:"fragment"`
	Newer    bool   `json:"newer"`
}

func TestVectorsGuests(t *testing.T) {
	device := testKeys(t, ident.KindDevice, 3)
	var content struct {
		Good []guestCase    `json:"good"`
		Bad  []badGuestCase `json:"bad"`
	}
	for i, sessionID := range []string{"s", "01a1fe00-7d2c-7000-8000-0123456789ab"} {
		l := guest.Link{Device: device.Public(), SignedAt: 1795255200123, ExpiresAt: 1795341600123 * int64(1+i), SessionID: sessionID}
		copy(l.Seed[:], run(7+i, guest.SeedLen))
		keys, err := guest.Keys(l.Seed)
		if err != nil {
			t.Fatal(err)
		}
		copy(l.Proof[:], wire.SignBinding(device, keys.ID(), l.SignedAt))
		fragment, err := l.Fragment()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := guest.Parse(fragment); err != nil || got != l {
			t.Errorf("%s: %+v %v", fragment, got, err)
		}
		content.Good = append(content.Good, guestCase{
			fragment, hex.EncodeToString(l.Seed[:]), partyOf(keys), partyOf(device), l.SignedAt, l.ExpiresAt, hex.EncodeToString(l.Proof[:]), sessionID,
		})
	}
	good := content.Good[0].Fragment
	content.Bad = badGuests(t, good)
	for _, c := range content.Bad {
		if _, err := guest.Parse(c.Fragment); (err == guest.ErrNewer) != c.Newer || err == nil {
			t.Errorf("%s: %v", c.Why, err)
		}
	}
	checkFile(t, "guests.json", content)
}

func badGuests(t *testing.T, good string) []badGuestCase {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	body := raw[:len(raw)-4]
	summed := func(change func(b []byte) []byte) string {
		b := change(append([]byte(nil), body...))
		return base64.RawURLEncoding.EncodeToString(append(b, guest.Checksum(b)...))
	}
	set := func(at int, value byte) func(b []byte) []byte {
		return func(b []byte) []byte { b[at] = value; return b }
	}
	return []badGuestCase{
		{"empty", "", false},
		{"the end is missing", good[:len(good)-6], false},
		{"the beginning is missing", good[4:], false},
		{"padded", good + "=", false},
		{"standard base64", "+/+/" + good[4:], false},
		{"one character differs", "B" + good[1:], false},
		{"a later version", summed(set(0, 2)), true},
		{"version 0", summed(set(0, 0)), false},
		{"no session", summed(func(b []byte) []byte { return b[:len(b)-1] }), false},
		{"a session with a blank", summed(func(b []byte) []byte { return append(b, ' ', 'x') }), false},
		{"a session that is no UTF-8", summed(func(b []byte) []byte { return append(b, 0xff) }), false},
		{"a time beyond exact numbers", summed(set(97, 0xff)), false},
		{"cut off and summed again", summed(func(b []byte) []byte { return b[:100] }), false},
		{"a session that is too long", summed(func(b []byte) []byte { return append(b, make([]byte, 300)...) }), false},
	}
}
