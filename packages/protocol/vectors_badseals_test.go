package protocol_test

import (
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/seal"
)

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
		{"no kind byte", []string{""}}, {"kind 0", []string{"\x00{}"}}, {"an unknown kind", []string{"\x06{}"}},
		{"not deflated", []string{"\x02{}"}}, {"deflated and cut", []string{"\x02" + deflated[:len(deflated)-9]}},
		{"deflated and empty", []string{"\x02"}}, {"a message inside a chunked one", []string{"\x03\x01{", "\x01{}"}},
		{"chunks without a kind", []string{"\x04"}}, {"chunks of an unknown kind", []string{"\x03\x07", "\x04{}"}},
		{"a chunk inside chunks", []string{"\x03\x04", "\x04{}"}},
		{"an acknowledgement of nothing", []string{"\x05"}}, {"an acknowledgement of 7 bytes", []string{ack(9)[:8]}},
		{"an acknowledgement of 9 bytes", []string{ack(9) + "\x00"}}, {"an acknowledgement that goes back", []string{ack(9), ack(8)}},
		{"an acknowledgement that goes back between chunks", []string{ack(9), "\x03\x01{", ack(0)}},
		{"an acknowledgement made of chunks", []string{"\x03" + ack(9)[:4], "\x04" + ack(9)[4:]}},
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
