package protocol_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/flynn/noise"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
)

// zlibDeflated is longMessage deflated by zlib at level 9: a third
// implementation's stream, so that it stays the same whatever ours makes.
const zlibDeflated = "ab562aa92c4855b2524a2d4bcd2b51d281d256d530f1a49cfce4ecf894d49c9244a02c84b6522a4ece2f4acd5118a546a9516a941aa5e84429d5d60200"

var longMessage = `{"type":"event","event":{"type":"block_delta","delta":"` + strings.Repeat("scorel ", 200) + `"}}`

// sealed is one message and the records that carry it.
type sealed struct {
	Message string   `json:"message"`
	Records []string `json:"records"`
}

// badSeal is a run of records on a fresh channel; the last is refused, and with
// it everything after.
type badSeal struct {
	Why     string     `json:"why"`
	To      ident.Kind `json:"to"`
	Records []string   `json:"records"`
}

type badHandshake struct {
	Why    string     `json:"why"`
	To     ident.Kind `json:"to"` // dev gets message 1, cli gets message 2
	Record string     `json:"record"`
}

type sealVectors struct {
	Device          party          `json:"device"`
	Client          party          `json:"client"`
	DeviceEphemeral string         `json:"deviceEphemeral"` // X25519 scalars
	ClientEphemeral string         `json:"clientEphemeral"`
	DeviceEphPublic string         `json:"deviceEphemeralPublic"`
	ClientEphPublic string         `json:"clientEphemeralPublic"`
	Message1        string         `json:"message1"`
	Message2        string         `json:"message2"`
	ToDevice        []sealed       `json:"toDevice"`
	ToClient        []sealed       `json:"toClient"`
	Bad             []badSeal      `json:"bad"`
	BadHandshakes   []badHandshake `json:"badHandshakes"`
}

func TestVectorsSeal(t *testing.T) {
	device, client := testKeys(t, ident.KindDevice, 21), testKeys(t, ident.KindClient, 130)
	v := sealVectors{
		Device: partyOf(device), Client: partyOf(client),
		DeviceEphemeral: hex.EncodeToString(run(40, 32)), ClientEphemeral: hex.EncodeToString(run(170, 32)),
	}
	f := newNoise(t, v, device, client)
	v.Message1, v.Message2 = hex.EncodeToString(f.message1), hex.EncodeToString(f.message2)
	v.DeviceEphPublic, v.ClientEphPublic = v.Message2[:64], v.Message1[:64]
	v.ToDevice, v.ToClient = sealedMessages(t, f.toDevice), sealedMessages(t, f.toClient)
	v.Bad, v.BadHandshakes = badSeals(t, newNoise(t, v, device, client), v), badHandshakes(v)
	checkFile(t, "seal.json", v)

	host, entry := sealChannels(t, v, device, client)
	checkSealed(t, host, v.ToDevice)
	checkSealed(t, entry, v.ToClient)
	for _, c := range v.Bad {
		checkBadSeal(t, v, c, device, client)
	}
	for _, c := range v.BadHandshakes {
		checkBadHandshake(t, v, c, device, client)
	}
}

// noiseRun is the same handshake made with the library alone: what package seal
// does must not differ from plain Noise.
type noiseRun struct {
	message1, message2 []byte
	toDevice, toClient *noise.CipherState
}

func newNoise(t *testing.T, v sealVectors, device, client *ident.Private) noiseRun {
	t.Helper()
	state := func(self, peer *ident.Private, initiator bool, ephemeral string) *noise.HandshakeState {
		public, theirs := self.Public().Seal, peer.Public().Seal
		s, err := noise.NewHandshakeState(noise.Config{
			CipherSuite: noise.NewCipherSuite(noise.DH25519, noise.CipherAESGCM, noise.HashSHA256),
			Random:      bytes.NewReader(unhex(t, ephemeral)), Pattern: noise.HandshakeKK, Initiator: initiator,
			Prologue:      []byte("scorel seal v1\x00" + device.ID().String() + "\x00" + client.ID().String()),
			StaticKeypair: noise.DHKey{Private: self.SealSecret(), Public: public[:]}, PeerStatic: theirs[:],
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	i, r := state(client, device, true, v.ClientEphemeral), state(device, client, false, v.DeviceEphemeral)
	message1, _, _, err1 := i.WriteMessage(nil, nil)
	_, _, _, err2 := r.ReadMessage(nil, message1)
	message2, _, _, err3 := r.WriteMessage(nil, nil)
	_, toDevice, toClient, err4 := i.ReadMessage(nil, message2)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	return noiseRun{message1, message2, toDevice, toClient}
}

// sealedMessages writes each kind of record by hand.
func sealedMessages(t *testing.T, c *noise.CipherState) []sealed {
	deflated := append([]byte{2}, unhex(t, zlibDeflated)...)
	at := len(deflated) / 3
	return []sealed{
		{`{"type":"list_projects","requestId":"1"}`, encryptAll(t, c, "\x01"+`{"type":"list_projects","requestId":"1"}`)},
		{`{"text":"Grüße 🖥"}`, encryptAll(t, c, "\x01"+`{"text":"Grüße 🖥"}`)},
		{"", encryptAll(t, c, "\x01")},
		{longMessage, encryptAll(t, c, string(deflated))},
		{`{"a":"bc"}`, encryptAll(t, c, "\x03\x01"+`{"a"`, "\x03"+`:"b`, "\x03", "\x04"+`c"}`)},
		{longMessage, encryptAll(t, c, "\x03"+string(deflated[:at]), "\x03"+string(deflated[at:2*at]), "\x04"+string(deflated[2*at:]))},
		{`{"alone":true}`, encryptAll(t, c, "\x04\x01"+`{"alone":true}`)},
		{`{"after":"chunks"}`, encryptAll(t, c, "\x01"+`{"after":"chunks"}`)},
	}
}

func encryptAll(t *testing.T, c *noise.CipherState, plain ...string) []string {
	t.Helper()
	var out []string
	for _, p := range plain {
		record, err := c.Encrypt(nil, nil, []byte(p))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, hex.EncodeToString(record))
	}
	return out
}

func sealChannels(t *testing.T, v sealVectors, device, client *ident.Private) (host, entry *seal.Channel) {
	t.Helper()
	i, r := handshakes(t, v, device, client)
	message1, err := i.Start()
	if err != nil || hex.EncodeToString(message1) != v.Message1 {
		t.Fatalf("message 1 is %x (%v), want %s", message1, err, v.Message1)
	}
	message2, host, err := r.Answer(message1)
	if err != nil || hex.EncodeToString(message2) != v.Message2 {
		t.Fatalf("message 2 is %x (%v), want %s", message2, err, v.Message2)
	}
	entry, err = i.Finish(message2)
	if err != nil {
		t.Fatal(err)
	}
	return host, entry
}

func handshakes(t *testing.T, v sealVectors, device, client *ident.Private) (i, r *seal.Handshake) {
	t.Helper()
	i, err1 := seal.NewHandshake(client, seal.Peer{ID: device.ID(), Key: device.Public().Seal}, bytes.NewReader(unhex(t, v.ClientEphemeral)))
	r, err2 := seal.NewHandshake(device, seal.Peer{ID: client.ID(), Key: client.Public().Seal}, bytes.NewReader(unhex(t, v.DeviceEphemeral)))
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return i, r
}

func checkSealed(t *testing.T, c *seal.Channel, messages []sealed) {
	t.Helper()
	for n, m := range messages {
		for i, record := range m.Records {
			got, err := c.Open(unhex(t, record))
			if err != nil {
				t.Fatalf("message %d, record %d: %v", n, i, err)
			}
			last := i == len(m.Records)-1
			if last != (got != nil) || last && string(got) != m.Message {
				t.Errorf("message %d, record %d opens to %q", n, i, got)
			}
		}
	}
}

func checkBadSeal(t *testing.T, v sealVectors, c badSeal, device, client *ident.Private) {
	t.Helper()
	host, entry := sealChannels(t, v, device, client)
	channel, good := host, v.ToDevice[0].Records[0]
	if c.To == ident.KindClient {
		channel, good = entry, v.ToClient[0].Records[0]
	}
	for i, record := range c.Records {
		_, err := channel.Open(unhex(t, record))
		if last := i == len(c.Records)-1; last != (err != nil) || last && !errors.Is(err, seal.ErrBroken) {
			t.Errorf("%s: record %d: %v", c.Why, i, err)
		}
	}
	if _, err := channel.Open(unhex(t, good)); !errors.Is(err, seal.ErrBroken) {
		t.Errorf("%s: the channel lives on", c.Why)
	}
}

func checkBadHandshake(t *testing.T, v sealVectors, c badHandshake, device, client *ident.Private) {
	t.Helper()
	i, r := handshakes(t, v, device, client)
	var err error
	if c.To == ident.KindDevice {
		_, _, err = r.Answer(unhex(t, c.Record))
	} else {
		if _, err := i.Start(); err != nil {
			t.Fatal(err)
		}
		_, err = i.Finish(unhex(t, c.Record))
	}
	if !errors.Is(err, seal.ErrBroken) {
		t.Errorf("%s: %v, want ErrBroken", c.Why, err)
	}
}

func badSeals(t *testing.T, f noiseRun, v sealVectors) []badSeal {
	dev, cli := ident.KindDevice, ident.KindClient
	first, second := v.ToDevice[0].Records[0], v.ToDevice[1].Records[0]
	out := []badSeal{
		{"dropped", dev, []string{second}}, {"repeated", dev, []string{first, first}}, {"reordered", cli, []string{v.ToClient[1].Records[0]}},
		{"first bit flipped", dev, []string{flip(t, first, 0)}}, {"last bit flipped", dev, []string{flip(t, first, -1)}},
		{"truncated", dev, []string{first[:len(first)-2]}}, {"extended", dev, []string{first + "00"}}, {"empty", dev, []string{""}},
		{"a tag's length", dev, []string{first[:32]}}, {"sent back to its sender", cli, []string{first}},
		{"handshake record again", dev, []string{v.Message1}}, {"zeros", cli, []string{strings.Repeat("00", 40)}},
	}
	deflated := string(unhex(t, zlibDeflated))
	for _, c := range []struct {
		why   string
		plain []string
	}{
		{"no kind byte", []string{""}}, {"kind 0", []string{"\x00{}"}}, {"an unknown kind", []string{"\x05{}"}},
		{"not deflated", []string{"\x02{}"}}, {"deflated and cut", []string{"\x02" + deflated[:len(deflated)-9]}},
		{"deflated and empty", []string{"\x02"}}, {"a message inside a chunked one", []string{"\x03\x01{", "\x01{}"}},
		{"chunks without a kind", []string{"\x04"}}, {"chunks of an unknown kind", []string{"\x03\x07", "\x04{}"}},
		{"a chunk inside chunks", []string{"\x03\x04", "\x04{}"}},
	} {
		out = append(out, badSeal{c.why, dev, encryptAll(t, f.toDevice, c.plain...)})
		f = newNoise(t, v, testKeys(t, dev, 21), testKeys(t, cli, 130))
	}
	return out
}

func badHandshakes(v sealVectors) []badHandshake {
	dev, cli := ident.KindDevice, ident.KindClient
	zeroKey := strings.Repeat("00", 32)
	tail := func(s string, b byte) string {
		raw, _ := hex.DecodeString(s)
		raw[len(raw)-1] ^= b
		return hex.EncodeToString(raw)
	}
	out := []badHandshake{
		{"message 1 empty", dev, ""}, {"message 1 short", dev, v.Message1[:94]}, {"message 1 long", dev, v.Message1 + "00"},
		{"message 1 with a flipped tag", dev, tail(v.Message1, 1)}, {"message 2 for message 1", dev, v.Message2},
		{"message 1 with the key of zeros", dev, zeroKey + v.Message1[64:]}, {"message 1 with another key", dev, v.Message2[:64] + v.Message1[64:]},
		{"message 2 empty", cli, ""}, {"message 2 short", cli, v.Message2[:94]}, {"message 2 long", cli, v.Message2 + "00"},
		{"message 2 with a flipped tag", cli, tail(v.Message2, 128)}, {"message 1 sent back", cli, v.Message1},
		{"message 2 with the key of zeros", cli, zeroKey + v.Message2[64:]},
	}
	return slices.Clip(out)
}

func flip(t *testing.T, record string, at int) string {
	t.Helper()
	raw := unhex(t, record)
	if at < 0 {
		at += len(raw)
	}
	raw[at] ^= 0x80
	return hex.EncodeToString(raw)
}
