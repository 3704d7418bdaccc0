package guest_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/guest"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func sample(t testing.TB) guest.Link {
	t.Helper()
	var seed [guest.SeedLen]byte
	for i := range seed {
		seed[i] = byte(i)
	}
	secret := make([]byte, 2*ident.KeyLen)
	for i := range secret {
		secret[i] = byte(i + 1)
	}
	device, err := ident.ImportSecret(ident.KindDevice, secret)
	if err != nil {
		t.Fatal(err)
	}
	l := guest.Link{Seed: seed, Device: device.Public(), SignedAt: 1795255200123, ExpiresAt: 1795341600123, SessionID: "0199-session"}
	copy(l.Proof[:], device.Sign([]byte("proof")))
	return l
}

func TestALinkReadsBack(t *testing.T) {
	l := sample(t)
	for _, page := range []string{"https://relay.example", "wss://relay.example/", "https://relay.example/somewhere?x=1"} {
		text, err := l.URL(page)
		if err != nil {
			t.Fatal(err)
		}
		relay, got, err := guest.ParseURL(" " + text + "\n")
		if err != nil || relay != "https://relay.example" || got != l {
			t.Errorf("%s: %q %+v %v", page, relay, got, err)
		}
	}
	for _, text := range []string{"", "relay.example/g#x", "https://relay.example/pair#x", "file:///g#x"} {
		if _, _, err := guest.ParseURL(text); err == nil {
			t.Errorf("%q is a link", text)
		}
	}
}

// TestEveryDamageIsFound: a link that was cut off anywhere or changed in one character does not
// open.
func TestEveryDamageIsFound(t *testing.T) {
	l := sample(t)
	good, err := l.Fragment()
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		if _, err := guest.Parse(good[:i]); !errors.Is(err, guest.ErrDamaged) {
			t.Errorf("the first %d characters: %v", i, err)
		}
		other := "A"
		if good[i] == 'A' {
			other = "B"
		}
		if _, err := guest.Parse(good[:i] + other + good[i+1:]); err == nil {
			t.Errorf("character %d was changed, and it opens", i)
		}
	}
	for _, bad := range []string{good + "A", good + "\n", good + "=", strings.Repeat("A", guest.MaxFragment+4)} {
		if _, err := guest.Parse(bad); !errors.Is(err, guest.ErrDamaged) {
			t.Errorf("%.30q: %v", bad, err)
		}
	}
}

func TestLinksNeedASession(t *testing.T) {
	for _, id := range []string{"", "two words", "\x00", strings.Repeat("x", guest.MaxSessionID+1), "\xff"} {
		l := sample(t)
		l.SessionID = id
		if text, err := l.Fragment(); err == nil {
			t.Errorf("%q: %s", id, text)
		}
	}
	longest := sample(t)
	longest.SessionID = strings.Repeat("x", guest.MaxSessionID)
	if text, err := longest.Fragment(); err != nil || len(text) > guest.MaxFragment {
		t.Errorf("the longest has %d characters: %v", len(text), err)
	} else if got, err := guest.Parse(text); err != nil || got != longest {
		t.Errorf("%+v %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	l := sample(f)
	good, err := l.Fragment()
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{good, good[:40], "", "AQ", base64.RawURLEncoding.EncodeToString(make([]byte, 300))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := guest.Parse(text)
		if err != nil {
			return
		}
		if again, err := l.Fragment(); err != nil || again != text {
			t.Errorf("%q is written as %q: %v", text, again, err)
		}
		if _, err := guest.Keys(l.Seed); err != nil {
			t.Error(err)
		}
	})
}
