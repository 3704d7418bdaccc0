package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/flynn/noise"
)

// states are two CipherStates with the same key, as the library makes them.
func states(t *testing.T, counter uint64) (ours *direction, theirs *noise.CipherState) {
	t.Helper()
	var key [32]byte
	rand.Read(key[:])
	suite := noise.NewCipherSuite(noise.DH25519, noise.CipherAESGCM, noise.HashSHA256)
	ours, err := newDirection(noise.UnsafeNewCipherState(suite, key, counter))
	if err != nil {
		t.Fatal(err)
	}
	return ours, noise.UnsafeNewCipherState(suite, key, counter)
}

func TestDirectionIsTheTransportOfNoise(t *testing.T) {
	sender, theirs := states(t, 0)
	receiver, theirSender := states(t, 0)
	for n := range 300 {
		plain := random(n * 7)
		want, err := theirs.Encrypt(nil, nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		front := []byte("in front")
		got, err := sender.seal(len(front), append(bytes.Clone(front), plain...))
		if err != nil || !bytes.Equal(got[:len(front)], front) || !bytes.Equal(got[len(front):], want) {
			t.Fatalf("record %d: %x, %v; want %x", n, got, err, want)
		}
		record, err := theirSender.Encrypt(nil, nil, plain)
		if err != nil {
			t.Fatal(err)
		}
		forged := bytes.Clone(record)
		forged[n%len(forged)] ^= 1
		if _, err := receiver.open(forged); err == nil {
			t.Fatalf("record %d opened although it was changed", n)
		}
		if opened, err := receiver.open(record); err != nil || !bytes.Equal(opened, plain) {
			t.Fatalf("record %d of the library: %x, %v", n, opened, err)
		}
	}
}

func TestNoCounterIsUsedTwice(t *testing.T) {
	sender, theirs := states(t, noise.MaxNonce)
	last, err := sender.seal(0, []byte("last"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := theirs.Decrypt(nil, nil, last); err != nil || string(plain) != "last" {
		t.Fatalf("%q, %v", plain, err)
	}
	for range 2 {
		if out, err := sender.seal(2, []byte("..more")); !errors.Is(err, errExhausted) || string(out) != ".." {
			t.Errorf("sealed beyond the last counter: %q, %v", out, err)
		}
	}
	receiver, theirs := states(t, noise.MaxNonce)
	last, err = theirs.Encrypt(nil, nil, []byte("last"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.open(bytes.Clone(last)); err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.open(last); !errors.Is(err, errExhausted) {
		t.Errorf("opened beyond the last counter: %v", err)
	}
}

func TestSealingAndOpeningTakeNoMemory(t *testing.T) {
	device, client := benchPair(t)
	message := random(200)
	record := make([]byte, 0, 300)
	var room [1]Piece
	allocations := testing.AllocsPerRun(100, func() {
		pieces, err := Split(room[:0], message)
		if err != nil {
			t.Fatal(err)
		}
		if record, err = device.AppendPiece(record[:0], pieces[0]); err != nil {
			t.Fatal(err)
		}
		if opened, err := client.OpenInPlace(record); err != nil || !bytes.Equal(opened, message) {
			t.Fatalf("%x, %v", opened, err)
		}
	})
	if allocations > 0 {
		t.Errorf("%v allocations for a message", allocations)
	}
}
