package seal

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
)

func handshake(t *testing.T, self *ident.Private, peer Peer) *Handshake {
	t.Helper()
	h, err := NewHandshake(self, peer, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func peerOf(keys *ident.Private) Peer { return Peer{keys.ID(), keys.Public().Seal} }

func start(t *testing.T, h *Handshake) []byte {
	t.Helper()
	record, err := h.Start()
	if err != nil || len(record) != HandshakeLen {
		t.Fatalf("%d bytes, %v", len(record), err)
	}
	return record
}

func TestStrangersGetNowhere(t *testing.T) {
	device, client, thief := generate(t, ident.KindDevice), generate(t, ident.KindClient), generate(t, ident.KindClient)
	for why, record := range map[string][]byte{
		"other keys":                      start(t, handshake(t, thief, peerOf(device))),
		"a handshake with another device": start(t, handshake(t, client, peerOf(generate(t, ident.KindDevice)))),
		"another device's id":             start(t, handshake(t, client, Peer{generate(t, ident.KindDevice).ID(), device.Public().Seal})),
	} {
		if _, _, err := handshake(t, device, peerOf(client)).Answer(record); !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", why, err)
		}
	}
	i := handshake(t, client, peerOf(device))
	start(t, i)
	reply, _, err := handshake(t, device, peerOf(thief)).Answer(start(t, handshake(t, thief, peerOf(device))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.Finish(reply); !errors.Is(err, ErrBroken) {
		t.Errorf("the answer to another: %v", err)
	}
}

// A relay that keeps the first handshake cannot open the channel again: the
// responder's fresh key makes other ciphers.
func TestReplayedHandshakeOpensNothing(t *testing.T) {
	device, client := generate(t, ident.KindDevice), generate(t, ident.KindClient)
	i := handshake(t, client, peerOf(device))
	message1 := start(t, i)
	message2, _, err := handshake(t, device, peerOf(client)).Answer(message1)
	if err != nil {
		t.Fatal(err)
	}
	entry, err := i.Finish(message2)
	if err != nil {
		t.Fatal(err)
	}
	records, err := entry.Seal([]byte(`{"type":"send_prompt"}`))
	if err != nil {
		t.Fatal(err)
	}
	_, again, err := handshake(t, device, peerOf(client)).Answer(message1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := again.Open(records[0]); !errors.Is(err, ErrBroken) {
		t.Errorf("the replayed channel opened %q, %v", got, err)
	}
}

func TestEachChannelHasItsOwnKeys(t *testing.T) {
	device, client := generate(t, ident.KindDevice), generate(t, ident.KindClient)
	_, first := openPair(t, device, client)
	second, _ := openPair(t, device, client)
	records, err := first.Seal([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.Open(records[0]); !errors.Is(err, ErrBroken) {
		t.Errorf("a record of another channel: %v", err)
	}
}

func TestHandshakeRoles(t *testing.T) {
	device, client := generate(t, ident.KindDevice), generate(t, ident.KindClient)
	for why, ends := range map[string][2]*ident.Private{
		"two devices": {device, generate(t, ident.KindDevice)}, "two clients": {client, generate(t, ident.KindClient)},
	} {
		if _, err := NewHandshake(ends[0], peerOf(ends[1]), rand.Reader); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
	if _, err := NewHandshake(client, Peer{}, rand.Reader); err == nil {
		t.Error("a handshake without a peer")
	}
	i, r := handshake(t, client, peerOf(device)), handshake(t, device, peerOf(client))
	if _, err := r.Start(); err == nil {
		t.Error("the responder started")
	}
	if _, err := r.Finish(make([]byte, HandshakeLen)); err == nil {
		t.Error("the responder finished")
	}
	if _, _, err := i.Answer(make([]byte, HandshakeLen)); err == nil {
		t.Error("the initiator answered")
	}
	short, err := NewHandshake(client, peerOf(device), bytes.NewReader(make([]byte, 8)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := short.Start(); err == nil {
		t.Error("a handshake without entropy")
	}
}

func TestLowOrderPeerKeyIsRefused(t *testing.T) {
	client := generate(t, ident.KindClient)
	i := handshake(t, client, Peer{ID: generate(t, ident.KindDevice).ID()}) // the key of zeros
	if record, err := i.Start(); err == nil {
		t.Errorf("a handshake with the key of zeros: %x", record)
	}
}
