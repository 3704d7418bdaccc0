package pair_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
)

func party(t testing.TB, kind ident.Kind) pair.Party {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return pair.Party{ID: keys.ID(), Keys: keys.Public()}
}

func newCode(t testing.TB, slot string) pair.Code {
	t.Helper()
	code, err := pair.NewCode(slot, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func machine(t testing.TB, code pair.Code, self, peer pair.Party, creator bool) *pair.Machine {
	t.Helper()
	m, err := pair.New(pair.Config{Code: code, Self: self, Peer: peer, Creator: creator}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// relay carries messages between the two until both are silent. It returns the
// first error of either side.
func relay(a, b *pair.Machine) error {
	toB, toA := [][]byte{a.Start()}, [][]byte{b.Start()}
	for len(toA)+len(toB) > 0 {
		var err error
		if toB, toA, err = deliver(b, toB, toA); err != nil {
			return err
		}
		if toA, toB, err = deliver(a, toA, toB); err != nil {
			return err
		}
	}
	return nil
}

func deliver(to *pair.Machine, queue, replies [][]byte) (rest, out [][]byte, err error) {
	for _, message := range queue {
		reply, err := to.Handle(message)
		if err != nil {
			return nil, replies, err
		}
		if reply != nil {
			replies = append(replies, reply)
		}
	}
	return nil, replies, nil
}

func TestBothSidesAgree(t *testing.T) {
	device, client, code := party(t, ident.KindDevice), party(t, ident.KindClient), newCode(t, "7K3M")
	for _, deviceCreates := range []bool{true, false} {
		d, c := machine(t, code, device, client, deviceCreates), machine(t, code, client, device, !deviceCreates)
		if err := relay(d, c); err != nil || !d.Done() || !c.Done() {
			t.Errorf("device creates: %v: %v, done %v and %v", deviceCreates, err, d.Done(), c.Done())
		}
	}
}

func TestAttacksFail(t *testing.T) {
	device, client, mallory := party(t, ident.KindDevice), party(t, ident.KindClient), party(t, ident.KindClient)
	code, other := newCode(t, "7K3M"), newCode(t, "7K3M")
	for why, sides := range map[string][2]*pair.Machine{
		"a mistyped secret":               {machine(t, code, device, client, true), machine(t, other, client, device, false)},
		"the relay names another client":  {machine(t, code, device, mallory, true), machine(t, code, client, device, false)},
		"the relay names another device":  {machine(t, code, device, client, true), machine(t, code, client, party(t, ident.KindDevice), false)},
		"attacker in the middle, no code": {machine(t, code, device, mallory, true), machine(t, other, mallory, device, false)},
	} {
		err := relay(sides[0], sides[1])
		if !errors.Is(err, pair.ErrConfirm) || sides[0].Done() || sides[1].Done() {
			t.Errorf("%s: %v, done %v and %v", why, err, sides[0].Done(), sides[1].Done())
		}
	}
}

// The creator speaks its tag only after it has seen a good one, so a person in
// the middle gets one guess at a code and nothing to try guesses on at home.
func TestCreatorTellsNothingBeforeTheTag(t *testing.T) {
	device, client, code := party(t, ident.KindDevice), party(t, ident.KindClient), newCode(t, "7K3M")
	creator := machine(t, code, device, client, true)
	reply, err := creator.Handle(machine(t, code, client, device, false).Start())
	if err != nil || reply != nil {
		t.Fatalf("the creator answered a nonce with %x, %v", reply, err)
	}
	if reply, err := creator.Handle(append([]byte{2}, make([]byte, pair.TagLen)...)); !errors.Is(err, pair.ErrConfirm) || reply != nil {
		t.Errorf("a wrong tag: %x, %v", reply, err)
	}
}

func TestFailedIsFinal(t *testing.T) {
	device, client, code := party(t, ident.KindDevice), party(t, ident.KindClient), newCode(t, "7K3M")
	d, c := machine(t, code, device, client, true), machine(t, code, client, device, false)
	if _, err := d.Handle([]byte{9}); !errors.Is(err, pair.ErrOrder) {
		t.Fatalf("an unknown message: %v", err)
	}
	if _, err := d.Handle(c.Start()); !errors.Is(err, pair.ErrOrder) || d.Done() {
		t.Errorf("a failed machine took a good message: %v", err)
	}
}

func TestNoncesDiffer(t *testing.T) {
	device, client, code := party(t, ident.KindDevice), party(t, ident.KindClient), newCode(t, "7K3M")
	first, second := machine(t, code, device, client, true).Start(), machine(t, code, device, client, true).Start()
	if bytes.Equal(first, second) || len(first) != 1+pair.NonceLen {
		t.Errorf("%x and %x", first, second)
	}
}

func TestNewRefuses(t *testing.T) {
	device, client, code := party(t, ident.KindDevice), party(t, ident.KindClient), newCode(t, "7K3M")
	liar := pair.Party{ID: client.ID, Keys: party(t, ident.KindClient).Keys}
	swapped := pair.Party{ID: client.ID, Keys: ident.Public{Sign: client.Keys.Sign, Seal: device.Keys.Seal}}
	for why, cfg := range map[string]pair.Config{
		"no peer":           {Code: code, Self: device},
		"two devices":       {Code: code, Self: device, Peer: party(t, ident.KindDevice)},
		"two clients":       {Code: code, Self: client, Peer: party(t, ident.KindClient)},
		"itself":            {Code: code, Self: device, Peer: device},
		"other keys":        {Code: code, Self: device, Peer: liar},
		"a swapped key":     {Code: code, Self: device, Peer: swapped},
		"other keys of own": {Code: code, Self: liar, Peer: device},
	} {
		if _, err := pair.New(cfg, rand.Reader); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
	if _, err := pair.New(pair.Config{Code: code, Self: device, Peer: client}, bytes.NewReader(nil)); err == nil {
		t.Error("a machine without entropy")
	}
}

func TestCodeRoundTrip(t *testing.T) {
	for range 200 {
		code := newCode(t, "7K3M")
		back, err := pair.ParseCode(strings.ToLower(strings.ReplaceAll(code.Reveal(), "-", " ")))
		if err != nil || back != code {
			t.Fatalf("%s reads back as %s, %v", code.Reveal(), back.Reveal(), err)
		}
	}
	if first, second := newCode(t, "7K3M"), newCode(t, "7K3M"); first == second {
		t.Error("two codes with the same secret")
	}
	for _, slot := range []string{"", "7k3m", "7K3", "7K3MM", "7K3U"} {
		if _, err := pair.NewCode(slot, rand.Reader); !errors.Is(err, pair.ErrCode) {
			t.Errorf("slot %q: %v", slot, err)
		}
	}
	if _, err := pair.NewCode("7K3M", bytes.NewReader(make([]byte, pair.SecretLen-1))); err == nil {
		t.Error("a code without entropy")
	}
}

func TestCodesPrintNoSecret(t *testing.T) {
	code, err := pair.ParseCode("7K3M-9QXR-2BTD")
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"code": code})
	if err != nil {
		t.Fatal(err)
	}
	out := string(text)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		out += fmt.Sprintf(verb, code) + fmt.Sprintf(verb, &code)
	}
	out += fmt.Sprintf("%v %+v", struct{ C pair.Code }{code}, []pair.Code{code})
	for _, secret := range []string{"9QXR", "2BTD", "4dfb", "77 251", "0x4d"} {
		if strings.Contains(out, secret) {
			t.Errorf("%s is in %s", secret, out)
		}
	}
}

func FuzzParseCode(f *testing.F) {
	for _, text := range []string{"7K3M-9QXR-2BTD", "oOlL-iI00-1111", " 7k3m 9qxr 2btd", "7K3M-9QXR-2BTU"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		code, err := pair.ParseCode(text)
		if err != nil {
			if !errors.Is(err, pair.ErrCode) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		again, err := pair.ParseCode(code.Reveal())
		if err != nil || again != code {
			t.Errorf("%q reveals %s, which reads as %s, %v", text, code.Reveal(), again.Reveal(), err)
		}
	})
}

// FuzzHandle feeds a creator that waits for the tag. Only the right tag may end
// the ceremony, and no one can find it.
func FuzzHandle(f *testing.F) {
	device, client, code := party(f, ident.KindDevice), party(f, ident.KindClient), newCode(f, "7K3M")
	d, c := machine(f, code, device, client, true), machine(f, code, client, device, false)
	tag, err := c.Handle(d.Start())
	if err != nil {
		f.Fatal(err)
	}
	if _, err := d.Handle(c.Start()); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(tag)
	f.Add(c.Start())
	f.Add(tag[:len(tag)-1])
	f.Fuzz(func(t *testing.T, message []byte) {
		m := *d // the derivation takes a tenth of a second: once is enough
		_, err := m.Handle(message)
		if good := bytes.Equal(message, tag); good != (err == nil) || good != m.Done() {
			t.Errorf("%x: %v, done %v", message, err, m.Done())
		}
	})
}
