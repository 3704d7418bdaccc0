package wire_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func keys(t testing.TB, kind ident.Kind) *ident.Private {
	t.Helper()
	k, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestControlLimit(t *testing.T) {
	text := []byte(`{"type":"pair_accept","slot":"7K3M"}`)
	if _, err := wire.DecodeControl(text, len(text)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	if _, err := wire.DecodeControl(text, len(text)-1); !isBadFrame(err) {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := wire.DecodeControl([]byte("{\"type\":\"error\",\"message\":\"\xff\"}"), 100); !isBadFrame(err) {
		t.Errorf("not UTF-8: %v", err)
	}
}

func isBadFrame(err error) bool {
	var wireErr *wire.Error
	return errors.As(err, &wireErr) && wireErr.Kind == wire.KindBadFrame
}

func TestErrorsRepeatLittleOfForeignText(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, text := range []string{
		`{"type":"` + long + `"}`, `{"type":"pair_accept","slot":"` + long + `"}`, `{"type":"open_channel","deviceId":"` + long + `"}`,
		`{"type":"relay_hello","nonce":"` + long + `!"}`, long,
	} {
		_, err := wire.DecodeControl([]byte(text), wire.MaxControl)
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%.40s: an error of %d bytes", text, len(err.Error()))
		}
	}
}

func TestEncodeKeepsTypeFirst(t *testing.T) {
	for _, f := range []wire.Frame{wire.PairAccept{Slot: "7K3M"}, wire.CloseChannel{}, wire.HostHello{}} {
		text, err := wire.EncodeControl(f)
		if err != nil || !bytes.HasPrefix(text, []byte(`{"type":"`+f.FrameType()+`"`)) || !json.Valid(text) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestFramesWithinTheirLimits(t *testing.T) {
	hello := wire.Hello{Authority: strings.Repeat("a", wire.MaxAuthority), Label: strings.Repeat("<", wire.MaxLabel)}
	hello.Sign(keys(t, ident.KindDevice), make([]byte, wire.NonceLen))
	text, err := wire.EncodeControl(wire.HostHello{Hello: hello})
	if err != nil || len(text) > wire.MaxPreLogin {
		t.Errorf("the longest hello has %d bytes, over the limit of %d (%v)", len(text), wire.MaxPreLogin, err)
	}
	message, err := wire.EncodeControl(wire.PairMessage{Slot: "7K3M", Body: make([]byte, wire.MaxPairBody)})
	if err != nil || len(message) > wire.MaxControl {
		t.Errorf("the longest pair_message has %d bytes (%v)", len(message), err)
	}
}

func TestHelloProof(t *testing.T) {
	nonce := bytes.Repeat([]byte{7}, wire.NonceLen)
	k := keys(t, ident.KindClient)
	signed := func() wire.Hello {
		h := wire.Hello{Authority: "relay.example", Label: "x"}
		h.Sign(k, nonce)
		return h
	}
	h := signed()
	if !h.Verify(nonce) || h.Version != wire.Version {
		t.Fatalf("a good hello does not verify: %+v", h)
	}
	for why, change := range map[string]func(h *wire.Hello){
		"authority": func(h *wire.Hello) { h.Authority = "evil.example" },
		"id":        func(h *wire.Hello) { h.ID = keys(t, ident.KindClient).ID() },
		"kind":      func(h *wire.Hello) { h.ID = ident.NewID(ident.KindDevice, k.Public()) },
		"sign key":  func(h *wire.Hello) { h.Public.Sign = keys(t, ident.KindClient).Public().Sign },
		"seal key":  func(h *wire.Hello) { h.Public.Seal = keys(t, ident.KindClient).Public().Seal },
		"proof":     func(h *wire.Hello) { h.Proof[63] ^= 1 },
		"no proof":  func(h *wire.Hello) { h.Proof = nil },
		"no id":     func(h *wire.Hello) { h.ID = ident.ID{} },
	} {
		h := signed()
		if change(&h); h.Verify(nonce) {
			t.Errorf("verifies with a changed %s", why)
		}
	}
	if h.Verify(bytes.Repeat([]byte{8}, wire.NonceLen)) {
		t.Error("verifies for another nonce")
	}
}

func TestProofMessageIsUnambiguous(t *testing.T) {
	id, nonce := keys(t, ident.KindDevice).ID(), make([]byte, wire.NonceLen)
	seen := map[string]bool{}
	for _, authority := range []string{"", "a", "a\x00", "dev", "relay.example", "relay.example:443"} {
		seen[string(wire.ProofMessage(id, authority, nonce))] = true
	}
	if len(seen) != 6 {
		t.Errorf("%d messages for 6 authorities", len(seen))
	}
}

func TestRecordLimits(t *testing.T) {
	for _, n := range []int{1, 2, wire.MaxRecordPayload} {
		payload := bytes.Repeat([]byte{9}, n)
		message := wire.AppendRecord(nil, 5, payload)
		if len(message) != wire.RecordHeaderLen+n {
			t.Errorf("a record of %d bytes for %d", len(message), n)
		}
		rec, rest, err := wire.NextRecord(append(message, 1, 2, 3))
		if err != nil || rec.Channel != 5 || !bytes.Equal(rec.Payload, payload) || !bytes.Equal(rest, []byte{1, 2, 3}) {
			t.Errorf("%d bytes: %d bytes back, rest %v, %v", n, len(rec.Payload), rest, err)
		}
		if cap(rec.Payload) != n {
			t.Errorf("appending to the payload would overwrite the next record")
		}
	}
	over := wire.AppendRecord(nil, 5, make([]byte, wire.MaxRecordPayload+1))
	if _, _, err := wire.NextRecord(over); !isBadFrame(err) {
		t.Errorf("over the limit: %v", err)
	}
}

func TestNextRecordAllocatesNothing(t *testing.T) {
	message := wire.AppendRecord(wire.AppendRecord(nil, 1, []byte("abc")), 2, []byte("d"))
	if n := testing.AllocsPerRun(100, func() {
		for rest := message; len(rest) > 0; {
			_, next, err := wire.NextRecord(rest)
			if err != nil {
				t.Fatal(err)
			}
			rest = next
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestKindsAndReasons(t *testing.T) {
	names := map[string]bool{}
	for k := wire.KindUnknown; k <= wire.KindUnknownFrameType; k++ {
		if name := k.String(); strings.HasPrefix(name, "kind_") || names[name] {
			t.Errorf("kind %d is named %q", k, name)
		} else {
			names[name] = true
		}
	}
	if got := wire.Kind(1000).String(); got != "kind_1000" {
		t.Errorf("an unknown kind is named %q", got)
	}
	seen := map[wire.Reason]bool{}
	for _, r := range wire.Reasons() {
		if r == "" || seen[r] {
			t.Errorf("the reason %q is listed twice", r)
		}
		seen[r] = true
	}
	var err error = wire.Errorf(wire.KindLimit, "%d", 7)
	if err.Error() != "limit: 7" {
		t.Errorf("error text %q", err)
	}
}

func TestValidSlot(t *testing.T) {
	for slot, want := range map[string]bool{
		"7K3M": true, "0000": true, "ZZZZ": true, "": false, "7K3": false, "7K3M9": false, "7k3m": false, "7I3M": false, "7K3\xff": false, "é0": false,
	} {
		if wire.ValidSlot(slot) != want {
			t.Errorf("ValidSlot(%q) is not %v", slot, want)
		}
	}
}

func FuzzDecodeControl(f *testing.F) {
	for _, text := range []string{
		`{"type":"pair_accept","slot":"7K3M"}`, `{"type":"relay_hello","version":1,"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","limits":{"maxControl":1}}`,
		`{"type":"close_channel","channel":4294967295,"reason":"closed"}`, `{"type":"goodbye","reason":"shutdown","retryAfter":9}`,
		`{"type":"open_channel","requestId":"r","deviceId":"dev_abcdefghijklmnopqrstuvwxyz234567"}`,
	} {
		f.Add([]byte(text))
	}
	hello := wire.Hello{Authority: "relay", Label: "x"}
	hello.Sign(keys(f, ident.KindDevice), make([]byte, wire.NonceLen))
	text, err := wire.EncodeControl(wire.HostHello{Hello: hello})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := wire.DecodeControl(data, wire.MaxControl)
		if err != nil {
			if frame != nil || !isBadFrame(err) && !errors.Is(err, wire.ErrUnknownType) {
				t.Errorf("%v with %v", frame, err)
			}
			return
		}
		once, err := wire.EncodeControl(frame)
		if err != nil {
			t.Fatalf("%q decodes and does not encode: %v", data, err)
		}
		again, err := wire.DecodeControl(once, 8*wire.MaxControl) // escapes may lengthen it
		if err != nil {
			t.Fatalf("%s does not decode again: %v", once, err)
		}
		if twice, err := wire.EncodeControl(again); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s, then %s (%v)", once, twice, err)
		}
	})
}

func FuzzNextRecord(f *testing.F) {
	f.Add(wire.AppendRecord(wire.AppendRecord(nil, 1, []byte("abc")), 2, []byte("d")))
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, message []byte) {
		var rebuilt []byte
		for rest := message; ; {
			rec, next, err := wire.NextRecord(rest)
			if err != nil {
				return
			}
			if len(rec.Payload) == 0 || len(rec.Payload) > wire.MaxRecordPayload {
				t.Fatalf("a payload of %d bytes", len(rec.Payload))
			}
			rebuilt = wire.AppendRecord(rebuilt, rec.Channel, rec.Payload)
			if rest = next; len(rest) == 0 {
				break
			}
		}
		if !bytes.Equal(rebuilt, message) {
			t.Errorf("%x is rebuilt as %x", message, rebuilt)
		}
	})
}

func BenchmarkDecodeControl(b *testing.B) {
	text := []byte(`{"type":"open_channel","requestId":"r1","deviceId":"dev_abcdefghijklmnopqrstuvwxyz234567"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := wire.DecodeControl(text, wire.MaxControl); err != nil {
			b.Fatal(err)
		}
	}
}
