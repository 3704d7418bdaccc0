package protocol_test

import (
	"encoding/hex"
	"errors"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

type record struct {
	Channel uint32 `json:"channel"`
	Payload string `json:"payload"`
}

type recordCase struct {
	Message string   `json:"message"`
	Records []record `json:"records"`
}

func TestVectorsRecords(t *testing.T) {
	content := struct {
		Good []recordCase `json:"good"`
		Bad  []bad        `json:"bad"`
	}{
		Good: []recordCase{
			{"000000010000000161", []record{{1, "61"}}},
			{"ffffffff0000000300ff7f", []record{{4294967295, "00ff7f"}}},
			{"000000000000000261620000000700000001630000000000000001ff", []record{{0, "6162"}, {7, "63"}, {0, "ff"}}},
		},
		Bad: []bad{
			{"empty message", ""}, {"one byte", "00"}, {"cut header", "00000001000000"}, {"header only", "0000000100000001"},
			{"cut payload", "000000010000000261"}, {"length 0", "0000000100000000"}, {"length 0, then a record", "0000000100000000000000010000000161"},
			{"length over the limit", "000000010001000061"}, {"largest length", "00000001ffffffff61"}, {"length with the top bit", "000000018000000061"},
			{"a good record, then a cut header", "00000001000000016100"}, {"a good record, then a cut payload", "0000000100000001610000000100000002ff"},
			{"little-endian length", "010000000100000061"},
		},
	}
	checkFile(t, "records.json", content)
	for _, c := range content.Good {
		var message []byte
		for _, r := range c.Records {
			message = wire.AppendRecord(message, r.Channel, unhex(t, r.Payload))
		}
		if got := hex.EncodeToString(message); got != c.Message {
			t.Errorf("records make %s, want %s", got, c.Message)
		}
		got, err := splitAll(unhex(t, c.Message))
		if err != nil || len(got) != len(c.Records) {
			t.Fatalf("%s: %v, %v", c.Message, got, err)
		}
		for i, r := range got {
			if want := c.Records[i]; r.Channel != want.Channel || hex.EncodeToString(r.Payload) != want.Payload {
				t.Errorf("%s: record %d is %+v", c.Message, i, r)
			}
		}
	}
	for _, c := range content.Bad {
		var wireErr *wire.Error
		if got, err := splitAll(unhex(t, c.Input)); !errors.As(err, &wireErr) || wireErr.Kind != wire.KindBadFrame {
			t.Errorf("%s: %v, %v, want bad_frame", c.Why, got, err)
		}
	}
}

func splitAll(message []byte) ([]wire.Record, error) {
	var out []wire.Record
	for {
		rec, rest, err := wire.NextRecord(message)
		if err != nil {
			return out, err
		}
		if out = append(out, rec); len(rest) == 0 {
			return out, nil
		}
		message = rest
	}
}

type loginCase struct {
	Party     party  `json:"party"`
	Authority string `json:"authority"`
	Label     string `json:"label"`
	Nonce     string `json:"nonce"`
	Message   string `json:"message"` // what is signed
	Hello     string `json:"hello"`   // the frame
}

type badLogin struct {
	Why   string `json:"why"`
	Hello string `json:"hello"`
	Nonce string `json:"nonce"`
}

func TestVectorsLogin(t *testing.T) {
	nonce := run(100, wire.NonceLen)
	var content struct {
		Good []loginCase `json:"good"`
		Bad  []badLogin  `json:"bad"`
	}
	for _, c := range []struct {
		kind      ident.Kind
		authority string
	}{{ident.KindDevice, "relay.example"}, {ident.KindClient, "127.0.0.1:8787"}, {ident.KindClient, "[::1]:8787"}} {
		keys := testKeys(t, c.kind, len(c.authority))
		hello := wire.Hello{Authority: c.authority, Label: "test"}
		hello.Sign(keys, nonce)
		content.Good = append(content.Good, loginCase{
			partyOf(keys), c.authority, hello.Label, hex.EncodeToString(nonce),
			hex.EncodeToString(wire.ProofMessage(keys.ID(), c.authority, nonce)), encode(t, helloFrame(hello)),
		})
	}
	content.Bad = badLogins(t, nonce)
	checkFile(t, "login.json", content)
	for _, c := range content.Good {
		if hello := decodeHello(t, c.Hello); !hello.Verify(unhex(t, c.Nonce)) {
			t.Errorf("%s: the proof does not verify", c.Authority)
		}
	}
	for _, c := range content.Bad {
		if hello := decodeHello(t, c.Hello); hello.Verify(unhex(t, c.Nonce)) {
			t.Errorf("%s: the proof verifies", c.Why)
		}
	}
}

// badLogins decode well, and their proof is wrong.
func badLogins(t *testing.T, nonce []byte) []badLogin {
	keys, thief := testKeys(t, ident.KindClient, 3), testKeys(t, ident.KindClient, 9)
	var out []badLogin
	add := func(why string, nonce []byte, change func(h *wire.Hello)) {
		h := wire.Hello{Authority: "relay.example", Label: "test"}
		h.Sign(keys, run(100, wire.NonceLen))
		change(&h)
		out = append(out, badLogin{why, encode(t, helloFrame(h)), hex.EncodeToString(nonce)})
	}
	add("another nonce", run(101, wire.NonceLen), func(*wire.Hello) {})
	add("another authority: a relay replays the login", nonce, func(h *wire.Hello) { h.Authority = "other.example" })
	add("authority with a port", nonce, func(h *wire.Hello) { h.Authority += ":443" })
	add("proof flipped", nonce, func(h *wire.Hello) { h.Proof[0] ^= 1 })
	add("proof of zeros", nonce, func(h *wire.Hello) { h.Proof = make([]byte, 64) })
	add("signed by other keys", nonce, func(h *wire.Hello) {
		h.Proof = thief.Sign(wire.ProofMessage(h.ID, h.Authority, nonce))
	})
	add("signed as a device", nonce, func(h *wire.Hello) {
		device := testKeys(t, ident.KindDevice, 3)
		h.Proof = device.Sign(wire.ProofMessage(device.ID(), h.Authority, nonce))
	})
	add("message of another protocol", nonce, func(h *wire.Hello) { h.Proof = keys.Sign(nonce) })
	return out
}

func helloFrame(h wire.Hello) wire.Frame {
	if h.ID.Kind() == ident.KindDevice {
		return wire.HostHello{Hello: h}
	}
	return wire.EntryHello{Hello: h}
}

func decodeHello(t *testing.T, text string) *wire.Hello {
	t.Helper()
	frame, err := wire.DecodeControl([]byte(text), wire.MaxPreLogin)
	if err != nil {
		t.Fatal(err)
	}
	switch f := frame.(type) {
	case *wire.HostHello:
		return &f.Hello
	case *wire.EntryHello:
		return &f.Hello
	}
	t.Fatalf("%s is no hello", frame.FrameType())
	return nil
}
