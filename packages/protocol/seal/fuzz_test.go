package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

func FuzzUnpack(f *testing.F) {
	f.Add([]byte("\x01{}"))
	f.Add(packed(bytes.Repeat([]byte("scorel "), 400)))
	f.Add([]byte{kindDeflated, 0x03, 0x00})
	f.Fuzz(func(t *testing.T, plain []byte) {
		out, err := unpack(plain)
		if err == nil && (out == nil || len(out) > MaxMessage) {
			t.Errorf("%d bytes, nil: %v", len(out), out == nil)
		}
	})
}

func FuzzPack(f *testing.F) {
	f.Add([]byte("{}"))
	f.Add(bytes.Repeat([]byte("scorel "), 400))
	f.Fuzz(func(t *testing.T, message []byte) {
		plain := packed(message)
		if len(plain) > len(message)+1 {
			t.Errorf("%d bytes became %d", len(message), len(plain))
		}
		if out, err := unpack(plain); err != nil || !bytes.Equal(out, message) {
			t.Errorf("%q comes back as %q, %v", message, out, err)
		}
	})
}

// FuzzOpen plays a peer that knows the key and sends what it likes: the records'
// plaintexts are the parts of data between 0xff bytes.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x01{}\xff\x03\x01{\xff\x04}"))
	f.Add([]byte("\x03\xff\x03\x01\xff\x01{}"))
	f.Add([]byte("\x05\x00\x00\x00\x00\x00\x00\x01\x00\xff\x03\x01{\xff\x05\x00\x00\x00\x00\x00\x00\x02\x00\xff\x04}"))
	f.Add([]byte("\x05\x00\x00\x00\x00\x00\x00\x00\x02\xff\x05\x00\x00\x00\x00\x00\x00\x00\x01\xff\x05\x00"))
	device, client := generate(f, ident.KindDevice), generate(f, ident.KindClient)
	f.Fuzz(func(t *testing.T, data []byte) {
		from, to := openPair(t, device, client)
		dead := false
		for _, plain := range bytes.Split(data, []byte{0xff}) {
			record, err := encrypt(from, plain)
			if err != nil {
				t.Fatal(err)
			}
			acked := to.Acked()
			message, err := to.Open(record)
			switch {
			case to.Acked() < acked || to.Acked() > acked && (err != nil || message != nil || plain[0] != kindAck):
				t.Fatalf("%q took the count from %d to %d", plain, acked, to.Acked())
			case err != nil && !errors.Is(err, ErrBroken):
				t.Fatalf("%q: %v", plain, err)
			case dead && err == nil:
				t.Fatalf("a broken channel opened %q", message)
			case len(message) > len(data) && plain[0] == kindJSON:
				t.Fatalf("%q opens to %q", plain, message)
			}
			dead = err != nil
		}
	})
}

// FuzzHandshake feeds a responder and an initiator records that no one sent.
func FuzzHandshake(f *testing.F) {
	device, client := generate(f, ident.KindDevice), generate(f, ident.KindClient)
	f.Add(make([]byte, HandshakeLen))
	f.Add([]byte{})
	f.Add(random(HandshakeLen))
	f.Fuzz(func(t *testing.T, record []byte) {
		i, err1 := NewHandshake(client, Peer{device.ID(), device.Public().Seal}, rand.Reader)
		r, err2 := NewHandshake(device, Peer{client.ID(), client.Public().Seal}, rand.Reader)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if _, err := i.Start(); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.Answer(record); !errors.Is(err, ErrBroken) {
			t.Errorf("%x was answered: %v", record, err)
		}
		if _, err := i.Finish(record); !errors.Is(err, ErrBroken) {
			t.Errorf("%x finished: %v", record, err)
		}
	})
}
