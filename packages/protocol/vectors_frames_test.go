package protocol_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// frameCase is a text that decodes; Means is the same frame with every field
// written out.
type frameCase struct {
	Name  string          `json:"name"`
	Text  string          `json:"text"`
	Means json.RawMessage `json:"means"`
}

const vectorLimit = 8 << 10

func TestVectorsFrames(t *testing.T) {
	content := struct {
		Limit int         `json:"limit"`
		Good  []frameCase `json:"good"`
		Skip  []bad       `json:"skip"` // of a newer version: skipped, not refused
		Bad   []bad       `json:"bad"`
	}{vectorLimit, append(eachFrame(t), oddFrames(t)...), skippedFrames(), badFrames(t)}
	checkFile(t, "frames.json", content)
	for _, c := range content.Good {
		frame, err := wire.DecodeControl([]byte(c.Text), vectorLimit)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		if again := encode(t, frame); again != string(c.Means) {
			t.Errorf("%s: means %s, want %s", c.Name, again, c.Means)
		}
	}
	for _, c := range content.Skip {
		if _, err := wire.DecodeControl([]byte(c.Input), vectorLimit); !errors.Is(err, wire.ErrUnknownType) {
			t.Errorf("%s: %v, want ErrUnknownType", c.Why, err)
		}
	}
	for _, c := range content.Bad {
		var wireErr *wire.Error
		frame, err := wire.DecodeControl([]byte(c.Input), vectorLimit)
		if !errors.As(err, &wireErr) || wireErr.Kind != wire.KindBadFrame {
			t.Errorf("%s: decoded to %+v, error %v, want bad_frame", c.Why, frame, err)
		}
	}
}

func encode(t testing.TB, f wire.Frame) string {
	t.Helper()
	text, err := wire.EncodeControl(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sample is one frame of every type, with every field set.
func sample(t testing.TB) []wire.Frame {
	device, client := testKeys(t, ident.KindDevice, 1), testKeys(t, ident.KindClient, 65)
	host := wire.Hello{Authority: "relay.example", Label: "Büro 🖥"}
	host.Sign(device, run(0, wire.NonceLen))
	entry := wire.Hello{Authority: "relay.example:8443", Label: "phone <&>", Invite: "7K3M-9QXR-2BTD-0V5W"}
	entry.Sign(client, run(0, wire.NonceLen))
	peer := wire.Peer{ID: device.ID(), Public: device.Public(), Label: "home", Online: true}
	other := wire.Peer{ID: client.ID(), Public: client.Public(), Label: "phone"}
	return []wire.Frame{
		wire.RelayHello{Version: 1, Nonce: run(0, wire.NonceLen), Limits: wire.DefaultLimits()},
		wire.Welcome{ID: client.ID(), ServerTime: 1795255200123, Peers: []wire.Peer{peer, other}},
		wire.HostHello{Hello: host}, wire.EntryHello{Hello: entry},
		wire.CreatePairSession{RequestID: "r1"},
		wire.PairSession{RequestID: "r1", Slot: "7K3M", ExpiresAt: 1795255800123},
		wire.RedeemPair{RequestID: "r2", Slot: "0000"},
		wire.PairJoined{RequestID: "r2", Slot: "ZZZZ", Peer: peer},
		wire.PairMessage{Slot: "7K3M", Body: run(250, 33)},
		wire.PairAccept{Slot: "7K3M"}, wire.PairReject{Slot: "7K3M"},
		wire.PairComplete{Slot: "7K3M", Peer: other},
		wire.PairClosed{Slot: "7K3M", Kind: wire.KindPairUnknown, Message: "the code has expired"},
		wire.OpenChannel{RequestID: "r3", DeviceID: device.ID()},
		wire.ChannelOpened{RequestID: "r3", Channel: 4294967295, PeerID: device.ID()},
		wire.CloseChannel{Channel: 7, Reason: wire.ReasonSealBroken},
		wire.ChannelClosed{Channel: 7, Reason: wire.ReasonSlowConsumer},
		wire.DeviceOnline{DeviceID: device.ID()}, wire.DeviceOffline{DeviceID: device.ID()},
		wire.RevokeBinding{RequestID: "r4", PeerID: client.ID()},
		wire.BindingRevoked{RequestID: "r4", PeerID: client.ID()},
		wire.ClaimBinding{RequestID: "r6", DeviceID: device.ID(), SignedAt: 1795255200123, Proof: wire.SignBinding(device, client.ID(), 1795255200123)},
		wire.BindingClaimed{RequestID: "r6", Peer: peer}, wire.PeerBound{Peer: other},
		wire.ErrorFrame{RequestID: "r5", Kind: wire.KindRateLimited, Message: "too many attempts; wait a minute"},
		wire.Goodbye{Reason: wire.ReasonShutdown, RetryAfter: 2500},
	}
}

func eachFrame(t *testing.T) []frameCase {
	var out []frameCase
	for _, f := range sample(t) {
		text := encode(t, f)
		out = append(out, frameCase{f.FrameType(), text, json.RawMessage(text)})
	}
	return out
}

// oddFrames are unusual and still good: limits reached, keys absent, unknown or null.
func oddFrames(t *testing.T) []frameCase {
	host := asHello(t, sample(t)[2])
	host.Label, host.Authority = strings.Repeat("é", wire.MaxLabel/2), strings.Repeat("a", wire.MaxAuthority)
	longest := encode(t, wire.HostHello{Hello: host})
	body := encode(t, wire.PairMessage{Slot: "7K3M", Body: run(0, wire.MaxPairBody)})
	id := strings.Repeat("r", wire.MaxRequestID)
	welcome := `{"type":"welcome","id":"` + host.ID.String() + `"`
	return []frameCase{
		{"longest label and authority", longest, json.RawMessage(longest)},
		{"longest pair body", body, json.RawMessage(body)},
		{"longest requestId", `{"type":"create_pair_session","requestId":"` + id + `"}`, json.RawMessage(`{"type":"create_pair_session","requestId":"` + id + `"}`)},
		{"white space and key order", " {\n\"slot\" : \"7K3M\",\t\"type\":\"pair_accept\" } ", json.RawMessage(`{"type":"pair_accept","slot":"7K3M"}`)},
		{"unknown keys", `{"type":"pair_accept","slot":"7K3M","future":{"a":[1,null]},"__proto__":{"slot":"x"}}`, json.RawMessage(`{"type":"pair_accept","slot":"7K3M"}`)},
		{"the last of two equal keys counts", `{"type":"pair_accept","slot":"0000","slot":"7K3M"}`, json.RawMessage(`{"type":"pair_accept","slot":"7K3M"}`)},
		{"null is absent", `{"type":"close_channel","channel":null,"reason":null}`, json.RawMessage(`{"type":"close_channel","channel":0}`)},
		{"absent optional fields", `{"type":"goodbye","reason":"replaced"}`, json.RawMessage(`{"type":"goodbye","reason":"replaced"}`)},
		{"no fields at all", `{"type":"error"}`, json.RawMessage(`{"type":"error","kind":0,"message":""}`)},
		{"a reason of a newer version", `{"type":"channel_closed","channel":1,"reason":"moon_phase"}`, json.RawMessage(`{"type":"channel_closed","channel":1,"reason":"moon_phase"}`)},
		{"a kind of a newer version", `{"type":"error","kind":9999,"message":"m"}`, json.RawMessage(`{"type":"error","kind":9999,"message":"m"}`)},
		{"minus zero", `{"type":"error","kind":-0,"message":"m"}`, json.RawMessage(`{"type":"error","kind":0,"message":"m"}`)},
		{"a negative number", `{"type":"goodbye","reason":"shutdown","retryAfter":-5}`, json.RawMessage(`{"type":"goodbye","reason":"shutdown","retryAfter":-5}`)},
		{"no peers", welcome + `,"serverTime":1,"peers":[]}`, json.RawMessage(welcome + `,"serverTime":1,"peers":[]}`)},
		{"escapes", `{"type":"error","kind":1,"message":"\u0041\n\u2028\ud83d\ude00"}`, json.RawMessage(`{"type":"error","kind":1,"message":"A\n\u2028😀"}`)},
		{"a lone surrogate", `{"type":"error","kind":1,"message":"\ud800"}`, json.RawMessage(`{"type":"error","kind":1,"message":"` + "\ufffd" + `"}`)},
	}
}

func skippedFrames() []bad {
	return []bad{
		{"a newer type", `{"type":"from_the_future","requestId":7}`}, {"a property of every object", `{"type":"toString"}`},
		{"the prototype", `{"type":"__proto__","slot":"7K3M"}`}, {"upper case", `{"type":"Goodbye"}`}, {"blank behind", `{"type":"goodbye "}`},
	}
}

// asHello takes the body out of a hello frame.
func asHello(t testing.TB, f wire.Frame) wire.Hello {
	t.Helper()
	switch f := f.(type) {
	case wire.HostHello:
		return f.Hello
	case wire.EntryHello:
		return f.Hello
	}
	t.Fatalf("%s is no hello", reflect.TypeOf(f))
	return wire.Hello{}
}
