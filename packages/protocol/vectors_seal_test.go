package protocol_test

import (
	"bytes"
	"encoding/binary"
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

// sealed is one message and the records that carry it, with the
// acknowledgements between and before them.
type sealed struct {
	Message string   `json:"message"`
	Records []string `json:"records"`
	Acked   uint64   `json:"acked,string"` // what the receiver knows acknowledged after them
}

type sealVectors struct {
	Window          int            `json:"window"`   // bytes
	AckEvery        int            `json:"ackEvery"` // bytes
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
		Window: seal.Window, AckEvery: seal.AckEvery,
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
	checkMakes(t, entry, v.ToDevice)
	checkMakes(t, host, v.ToClient)
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

// firstAck is the acknowledgement that stands first in either direction. Before it
// are whole messages that are too short to be deflated, so that every
// implementation makes the same records up to and with it.
const (
	plainMessages = 3
	firstAck      = seal.AckEvery + 24
)

// sealedMessages writes each kind of record by hand.
func sealedMessages(t *testing.T, c *noise.CipherState) []sealed {
	deflated := append([]byte{2}, unhex(t, zlibDeflated)...)
	at := len(deflated) / 3
	const far, most = 1 << 40, 1<<64 - 1
	return []sealed{
		{`{"type":"list_projects","requestId":"1"}`, encryptAll(t, c, "\x01"+`{"type":"list_projects","requestId":"1"}`), 0},
		{`{"text":"Grüße 🖥"}`, encryptAll(t, c, "\x01"+`{"text":"Grüße 🖥"}`), 0},
		{"", encryptAll(t, c, "\x01"), 0},
		{`{"after":"an ack"}`, encryptAll(t, c, ack(firstAck), "\x01"+`{"after":"an ack"}`), firstAck},
		{longMessage, encryptAll(t, c, string(deflated)), firstAck},
		{`{"a":"bc"}`, encryptAll(t, c, "\x03\x01"+`{"a"`, "\x03"+`:"b`, "\x03", "\x04"+`c"}`), firstAck},
		{longMessage, encryptAll(t, c, "\x03"+string(deflated[:at]), "\x03"+string(deflated[at:2*at]), "\x04"+string(deflated[2*at:])), firstAck},
		{`{"alone":true}`, encryptAll(t, c, "\x04\x01"+`{"alone":true}`), firstAck},
		{`{"an ack":"between"}`, encryptAll(t, c, "\x03\x01"+`{"an ack":`, ack(far), "\x03", ack(far), "\x04"+`"between"}`), far},
		{`{"after":"chunks"}`, encryptAll(t, c, ack(most), ack(most), "\x01"+`{"after":"chunks"}`), most},
	}
}

// ack is the plaintext of an acknowledgement.
func ack(received uint64) string {
	return string(binary.BigEndian.AppendUint64([]byte{5}, received))
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

// checkMakes seals what every implementation seals alike.
func checkMakes(t *testing.T, c *seal.Channel, messages []sealed) {
	t.Helper()
	for n, m := range messages[:plainMessages+1] {
		var made []string
		if n == plainMessages {
			record, err := c.AppendPiece(nil, seal.Ack(m.Acked))
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, hex.EncodeToString(record))
		}
		records, err := c.Seal([]byte(m.Message))
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records {
			made = append(made, hex.EncodeToString(record))
		}
		if !slices.Equal(made, m.Records) {
			t.Errorf("message %d is sealed to %v", n, made)
		}
	}
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
		if c.Acked() != m.Acked {
			t.Errorf("after message %d %d bytes are acknowledged, want %d", n, c.Acked(), m.Acked)
		}
	}
}
