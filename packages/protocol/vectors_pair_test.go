package protocol_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/pair"
)

// badPairing is what one side gets to hear; it refuses the last message.
type badPairing struct {
	Why   string     `json:"why"`
	To    ident.Kind `json:"to"`
	Code  string     `json:"code"`
	Heard []string   `json:"heard"`
	Error string     `json:"error"` // confirm or order
}

type pairVectors struct {
	Device      party        `json:"device"`
	Client      party        `json:"client"`
	Code        string       `json:"code"`
	Creator     ident.Kind   `json:"creator"`
	DeviceNonce string       `json:"deviceNonce"`
	ClientNonce string       `json:"clientNonce"`
	Salt        string       `json:"salt"`
	Key         string       `json:"key"`
	FromDevice  []string     `json:"fromDevice"`
	FromClient  []string     `json:"fromClient"`
	Bad         []badPairing `json:"bad"`
}

func TestVectorsPair(t *testing.T) {
	device, client := testKeys(t, ident.KindDevice, 11), testKeys(t, ident.KindClient, 120)
	deviceNonce, clientNonce := run(1, pair.NonceLen), run(129, pair.NonceLen)
	code, err := pair.ParseCode("7K3M-9QXR-2BTD")
	if err != nil {
		t.Fatal(err)
	}
	salt := pairSalt(code.Slot(), device, client, deviceNonce, clientNonce)
	key, err := pbkdf2.Key(sha256.New, string(unhex(t, revealedSecret(t, code))), salt, 600_000, 32)
	if err != nil {
		t.Fatal(err)
	}
	message := func(kind byte, body []byte) string { return hex.EncodeToString(append([]byte{kind}, body...)) }
	v := pairVectors{
		Device: partyOf(device), Client: partyOf(client), Code: code.Reveal(), Creator: ident.KindClient,
		DeviceNonce: hex.EncodeToString(deviceNonce), ClientNonce: hex.EncodeToString(clientNonce),
		Salt: hex.EncodeToString(salt), Key: hex.EncodeToString(key),
		FromDevice: []string{message(1, deviceNonce), message(2, pairTag(key, "device"))},
		FromClient: []string{message(1, clientNonce), message(2, pairTag(key, "client"))},
	}
	v.Bad = badPairings(v)
	checkFile(t, "pair.json", v)

	m := pairMachine(t, v, ident.KindDevice, v.Code)
	sent := []string{hex.EncodeToString(m.Start())}
	for _, heard := range v.FromClient {
		reply, err := m.Handle(unhex(t, heard))
		if err != nil {
			t.Fatal(err)
		}
		if reply != nil {
			sent = append(sent, hex.EncodeToString(reply))
		}
	}
	if !slices.Equal(sent, v.FromDevice) || !m.Done() {
		t.Errorf("the device said %v, done %v; want %v", sent, m.Done(), v.FromDevice)
	}
	for _, c := range v.Bad {
		checkBadPairing(t, v, c)
	}
}

func checkBadPairing(t *testing.T, v pairVectors, c badPairing) {
	t.Helper()
	want := map[string]error{"confirm": pair.ErrConfirm, "order": pair.ErrOrder}[c.Error]
	m := pairMachine(t, v, c.To, c.Code)
	for i, heard := range c.Heard {
		_, err := m.Handle(unhex(t, heard))
		switch last := i == len(c.Heard)-1; {
		case last && !errors.Is(err, want):
			t.Errorf("%s: %v, want %v", c.Why, err, want)
		case !last && err != nil:
			t.Errorf("%s: message %d: %v", c.Why, i, err)
		}
	}
	if m.Done() {
		t.Errorf("%s: the machine is done", c.Why)
	}
}

func badPairings(v pairVectors) []badPairing {
	dev, cli := ident.KindDevice, ident.KindClient
	nonce, tag := v.FromClient[0], v.FromClient[1]
	flipped := tag[:len(tag)-1] + string("10"[tag[len(tag)-1]&1])
	if flipped == tag {
		flipped = tag[:len(tag)-1] + "7"
	}
	return []badPairing{
		{"the device heard another code", dev, "7K3M-9QXR-2BTE", []string{nonce, tag}, "confirm"},
		{"the client heard another code", cli, "7K3M-9QXR-2BTE", v.FromDevice, "confirm"},
		{"another slot, the same secret", dev, "7K3N-9QXR-2BTD", []string{nonce, tag}, "confirm"},
		{"a flipped bit in the tag", dev, v.Code, []string{nonce, flipped}, "confirm"},
		{"another nonce than the tag is for", dev, v.Code, []string{v.FromDevice[0], tag}, "confirm"},
		{"its own tag sent back", dev, v.Code, []string{nonce, v.FromDevice[1]}, "confirm"},
		{"a tag of zeros", cli, v.Code, []string{v.FromDevice[0], "02" + hex.EncodeToString(make([]byte, 32))}, "confirm"},
		{"the tag first", dev, v.Code, []string{tag}, "order"},
		{"two nonces", dev, v.Code, []string{nonce, nonce}, "order"},
		{"an empty message", dev, v.Code, []string{""}, "order"},
		{"an unknown kind", cli, v.Code, []string{"03" + v.FromDevice[0][2:]}, "order"},
		{"a nonce too short", cli, v.Code, []string{nonce[:len(nonce)-2]}, "order"},
		{"a nonce too long", cli, v.Code, []string{nonce + "00"}, "order"},
		{"a tag too short", dev, v.Code, []string{nonce, tag[:len(tag)-2]}, "order"},
		{"a message after the end", cli, v.Code, append(slices.Clone(v.FromDevice), v.FromDevice[1]), "order"},
	}
}

func pairMachine(t *testing.T, v pairVectors, to ident.Kind, code string) *pair.Machine {
	t.Helper()
	parsed, err := pair.ParseCode(code)
	if err != nil {
		t.Fatal(err)
	}
	self, peer, nonce := v.Device, v.Client, v.DeviceNonce
	if to == ident.KindClient {
		self, peer, nonce = v.Client, v.Device, v.ClientNonce
	}
	m, err := pair.New(pair.Config{
		Code: parsed, Self: pairParty(self), Peer: pairParty(peer), Creator: v.Creator == to,
	}, bytes.NewReader(unhex(t, nonce)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func pairParty(p party) pair.Party {
	return pair.Party{ID: p.ID, Keys: ident.Public{Sign: p.SignKey, Seal: p.SealKey}}
}

// pairSalt and pairTag follow the formulas of the package comment by another way
// than the package.
func pairSalt(slot string, device, client *ident.Private, deviceNonce, clientNonce []byte) []byte {
	d, c := device.Public(), client.Public()
	sum := sha256.Sum256(slices.Concat(
		[]byte("scorel pair v1\x00"+slot+"\x00"+device.ID().String()+"\x00"+client.ID().String()+"\x00"),
		d.Sign[:], d.Seal[:], c.Sign[:], c.Seal[:], deviceNonce, clientNonce,
	))
	return sum[:]
}

func pairTag(key []byte, role string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("scorel pair v1\x00" + role))
	return mac.Sum(nil)
}
