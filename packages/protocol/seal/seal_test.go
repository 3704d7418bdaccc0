package seal

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

func generate(t testing.TB, kind ident.Kind) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// pass seals on one end and opens on the other.
func pass(t testing.TB, from, to *Channel, message []byte) []byte {
	t.Helper()
	records, err := from.Seal(message)
	if err != nil {
		t.Fatal(err)
	}
	for i, record := range records {
		if len(record) > MaxRecord {
			t.Fatalf("a record of %d bytes", len(record))
		}
		got, err := to.Open(record)
		if err != nil {
			t.Fatal(err)
		}
		if last := i == len(records)-1; last != (got != nil) {
			t.Fatalf("record %d of %d gives a message: %v", i, len(records), got != nil)
		} else if last {
			return got
		}
	}
	t.Fatal("no records")
	return nil
}

// random fills n bytes that do not compress, the same in every run.
func random(n int) []byte {
	out := make([]byte, n)
	_, _ = mathrand.NewChaCha8([32]byte{byte(n)}).Read(out)
	return out
}

func TestEveryMessageRoundTrips(t *testing.T) {
	device, client := benchPair(t)
	sizes := []int{0, 1, 2, compressFrom - 1, compressFrom, compressFrom + 1, maxPlaintext - 2, maxPlaintext - 1,
		maxPlaintext, maxPlaintext + 1, 2*(maxPlaintext-1) - 1, 2 * (maxPlaintext - 1), 2*(maxPlaintext-1) + 1, 300_000}
	for _, n := range sizes {
		for kind, message := range map[string][]byte{"noise": random(n), "zeros": make([]byte, n)} {
			for _, ends := range [][2]*Channel{{device, client}, {client, device}} {
				if got := pass(t, ends[0], ends[1], message); !bytes.Equal(got, message) {
					t.Errorf("%s of %d bytes: %d bytes came back", kind, n, len(got))
				}
			}
		}
	}
}

func TestLargestMessage(t *testing.T) {
	device, client := benchPair(t)
	for _, message := range [][]byte{random(MaxMessage), make([]byte, MaxMessage)} {
		if got := pass(t, device, client, message); !bytes.Equal(got, message) {
			t.Errorf("%d bytes came back", len(got))
		}
	}
	if _, err := device.Seal(make([]byte, MaxMessage+1)); err == nil {
		t.Error("a message over the limit was sealed")
	}
	if got := pass(t, device, client, []byte("{}")); string(got) != "{}" {
		t.Errorf("after a refused message: %q", got)
	}
}

func TestRecordsHideContentAndDirection(t *testing.T) {
	device, client := benchPair(t)
	message := []byte(`{"text":"a secret that no one reads"}`)
	fromDevice, err1 := device.Seal(message)
	fromClient, err2 := client.Seal(message)
	again, err3 := device.Seal(message)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(fromDevice[0], []byte("secret")) || bytes.Equal(fromDevice[0], fromClient[0]) || bytes.Equal(fromDevice[0], again[0]) {
		t.Error("records repeat or show what they carry")
	}
}

// Whatever a relay does to the order or the bytes of records, the receiver
// either gets a prefix of the messages or ErrBroken, and after that nothing.
func TestTamperingIsFatal(t *testing.T) {
	for why, tamper := range map[string]func(r [][]byte) [][]byte{
		"drop the first":    func(r [][]byte) [][]byte { return r[1:] },
		"drop in between":   func(r [][]byte) [][]byte { return slices.Delete(r, 3, 4) },
		"repeat":            func(r [][]byte) [][]byte { return slices.Insert(r, 3, r[2]) },
		"replay an old one": func(r [][]byte) [][]byte { return slices.Insert(r, 5, r[0]) },
		"swap neighbours":   func(r [][]byte) [][]byte { r[2], r[3] = r[3], r[2]; return r },
		"flip a bit":        func(r [][]byte) [][]byte { r[4][len(r[4])/2] ^= 16; return r },
		"cut":               func(r [][]byte) [][]byte { r[4] = r[4][:len(r[4])-1]; return r },
		"lengthen":          func(r [][]byte) [][]byte { r[4] = append(r[4], 0); return r },
		"empty":             func(r [][]byte) [][]byte { return slices.Insert(r, 1, []byte{}) },
		"forge":             func(r [][]byte) [][]byte { return slices.Insert(r, 1, random(64)) },
		"too large":         func(r [][]byte) [][]byte { return slices.Insert(r, 1, make([]byte, MaxRecord+1)) },
	} {
		t.Run(why, func(t *testing.T) {
			device, client := benchPair(t)
			var messages, records [][]byte
			for n := range 8 {
				message := []byte(fmt.Sprintf(`{"n":%d}`, n))
				sealed, err := device.Seal(message)
				if err != nil {
					t.Fatal(err)
				}
				messages, records = append(messages, message), append(records, sealed...)
			}
			checkTampered(t, client, tamper(records), messages)
		})
	}
}

func checkTampered(t *testing.T, client *Channel, records, messages [][]byte) {
	t.Helper()
	var opened int
	var broken error
	for _, record := range records {
		got, err := client.Open(record)
		switch {
		case broken != nil && !errors.Is(err, ErrBroken):
			t.Fatalf("a broken channel opened %q (%v)", got, err)
		case err != nil:
			broken = err
		case !bytes.Equal(got, messages[opened]):
			t.Fatalf("message %d is %q", opened, got)
		default:
			opened++
		}
	}
	if !errors.Is(broken, ErrBroken) || opened >= len(messages) {
		t.Errorf("%d messages opened, error %v", opened, broken)
	}
}

func TestRecordLimitHoldsForThePeerToo(t *testing.T) {
	for n, ok := range map[int]bool{maxPlaintext: true, maxPlaintext + 1: false} {
		device, client := benchPair(t)
		record, err := encrypt(device, append([]byte{kindJSON}, make([]byte, n-1)...))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Open(record); ok != (err == nil) || !ok && !errors.Is(err, ErrBroken) {
			t.Errorf("a good record of %d bytes: %v", len(record), err)
		}
	}
}

func TestChunksCannotExceedTheLimit(t *testing.T) {
	device, client := benchPair(t)
	chunk := append([]byte{kindChunk}, make([]byte, maxPlaintext-1)...)
	for sent := 0; sent <= MaxMessage+maxPlaintext; sent += maxPlaintext - 1 {
		record, err := encrypt(device, chunk)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Open(record); err != nil {
			if !errors.Is(err, ErrBroken) || sent+maxPlaintext-1 <= MaxMessage+1 {
				t.Errorf("after %d bytes: %v", sent, err)
			}
			if client.partial != nil {
				t.Error("the chunks of a broken channel are kept")
			}
			return
		}
	}
	t.Error("chunks without end were taken")
}

func TestInflatingIsBounded(t *testing.T) {
	for n, ok := range map[int]bool{MaxMessage: true, MaxMessage + 1: false, 4 * MaxMessage: false} {
		device, client := benchPair(t)
		bomb := packed(make([]byte, n))
		if len(bomb) > 2*maxPlaintext {
			t.Fatalf("%d zeros deflate to %d bytes", n, len(bomb))
		}
		var err error
		for plain := bomb; len(plain) > 0 && err == nil; {
			size, kind := min(len(plain), 40_000), byte(kindChunk)
			if size == len(plain) {
				kind = kindLast
			}
			record, sealErr := encrypt(device, append([]byte{kind}, plain[:size]...))
			if sealErr != nil {
				t.Fatal(sealErr)
			}
			_, err = client.Open(record)
			plain = plain[size:]
		}
		if ok != (err == nil) || !ok && !errors.Is(err, ErrBroken) {
			t.Errorf("%d zeros: %v", n, err)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	good := packed(bytes.Repeat([]byte("scorel "), 400))
	if good[0] != kindDeflated {
		t.Fatal("the message was not deflated")
	}
	for why, plain := range map[string][]byte{
		"nothing": {}, "kind 0": {0}, "a chunk": {kindChunk, 'a'}, "no deflate data": {kindDeflated}, "garbage": {kindDeflated, 0xff, 0xff},
		"cut": good[:len(good)-1], "bytes behind": append(bytes.Clone(good), 0),
	} {
		if out, err := unpack(plain); err == nil {
			t.Errorf("%s: %q", why, out)
		}
	}
	if out, err := unpack(good); err != nil || len(out) != 2800 {
		t.Errorf("after bad data: %d bytes, %v", len(out), err)
	}
}

// packed is a message as it is sealed when it fits one record.
func packed(message []byte) []byte {
	kind, body := pack(message)
	return append([]byte{kind}, body...)
}

// encrypt seals any plaintext.
func encrypt(c *Channel, plain []byte) ([]byte, error) { return c.send.seal(0, bytes.Clone(plain)) }

func TestOnlyWhatRepeatsBytesIsDeflated(t *testing.T) {
	for name, c := range map[string]struct {
		message []byte
		want    bool
	}{
		"random":     {random(16 << 10), false},
		"deflated":   {packed([]byte(strings.Repeat(string(random(900))+"scorel", 20)))[1:], false},
		"JSON":       {[]byte(strings.Repeat(`{"type":"event","seq":17,"delta":"some words"}`, 40)), true},
		"Chinese":    {[]byte(strings.Repeat("中继看不到它所转发的内容，主机拥有每个会话。", 60)), true},
		"base64":     {[]byte(base64.StdEncoding.EncodeToString(random(4 << 10))), true},
		"one value":  {make([]byte, 2<<10), true},
		"just under": {[]byte(strings.Repeat("a", compressFrom-1)), false},
	} {
		if kind, body := pack(c.message); (kind == kindDeflated) != c.want || len(body) > len(c.message) {
			t.Errorf("%s: kind %d, %d bytes of %d", name, kind, len(body), len(c.message))
		}
	}
}
