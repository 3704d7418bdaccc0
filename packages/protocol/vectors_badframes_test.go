package protocol_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// badFrames are texts that every implementation refuses with bad_frame.
func badFrames(t *testing.T) []bad {
	return append(append(badShapes(), badFields(t)...), badPeers(t)...)
}

func badShapes() []bad {
	return []bad{
		{"empty", ""}, {"blank", " "}, {"not JSON", "hello"}, {"cut", `{"type":"pair_accept","slot":"7K3M"`},
		{"two values", `{"type":"pair_accept","slot":"7K3M"}{}`}, {"text behind", `{"type":"pair_accept","slot":"7K3M"}x`},
		{"an array", `[{"type":"pair_accept","slot":"7K3M"}]`}, {"null", `null`}, {"a string", `"pair_accept"`}, {"a number", `7`},
		{"no type", `{"slot":"7K3M"}`}, {"empty type", `{"type":"","slot":"7K3M"}`}, {"type is a number", `{"type":7}`},
		{"type is null", `{"type":null}`}, {"type is an object", `{"type":{"a":1}}`},
		{"single quotes", `{'type':'pair_accept','slot':'7K3M'}`}, {"trailing comma", `{"type":"pair_accept","slot":"7K3M",}`},
		{"comment", `{"type":"pair_accept","slot":"7K3M"/* */}`}, {"control character in a string", "{\"type\":\"error\",\"message\":\"a\nb\"}"},
		{"byte order mark", "\ufeff" + `{"type":"pair_accept","slot":"7K3M"}`}, {"NaN", `{"type":"close_channel","channel":NaN}`},
		{"over the limit", `{"type":"pair_accept","slot":"7K3M"` + strings.Repeat(" ", vectorLimit) + `}`},
		{"over the limit in bytes, not in characters", `{"type":"error","message":"` + strings.Repeat("€", vectorLimit/3) + `"}`},
		{"unknown type over the limit", `{"type":"from_the_future"` + strings.Repeat(" ", vectorLimit) + `}`},
	}
}

func badFields(t *testing.T) []bad {
	slot := func(s string) string { return `{"type":"pair_accept","slot":` + s + `}` }
	request := func(s string) string { return `{"type":"create_pair_session","requestId":` + s + `}` }
	channel := func(s string) string { return `{"type":"close_channel","channel":` + s + `}` }
	nonce := func(s string) string { return `{"type":"relay_hello","version":1,"nonce":` + s + `,"limits":{}}` }
	body := func(s string) string { return `{"type":"pair_message","slot":"7K3M","body":` + s + `}` }
	b64 := func(n int) string { return `"` + base64.StdEncoding.EncodeToString(run(0, n)) + `"` }
	claim := func(fields string) string { return `{"type":"claim_binding",` + fields + `}` }
	device, client := asHello(t, sample(t)[2]).ID.String(), asHello(t, sample(t)[3]).ID.String()
	return []bad{
		{"slot missing", `{"type":"pair_accept"}`}, {"slot null", slot(`null`)}, {"slot a number", slot(`1234`)}, {"slot empty", slot(`""`)},
		{"slot lower case", slot(`"7k3m"`)}, {"slot with I", slot(`"7I3M"`)}, {"slot with L", slot(`"7L3M"`)}, {"slot with O", slot(`"7O3M"`)},
		{"slot with U", slot(`"7U3M"`)}, {"slot short", slot(`"7K3"`)}, {"slot long", slot(`"7K3M9"`)}, {"slot not ASCII", slot(`"7K3É"`)},
		{"slot missing in reject", `{"type":"pair_reject"}`}, {"slot missing in redeem", `{"type":"redeem_pair","requestId":"r"}`},
		{"slot missing in session", `{"type":"pair_session","requestId":"r"}`},
		{"requestId missing", `{"type":"create_pair_session"}`}, {"requestId empty", request(`""`)}, {"requestId a number", request(`7`)},
		{"requestId an array", request(`["r"]`)}, {"requestId too long", request(`"` + strings.Repeat("r", wire.MaxRequestID+1) + `"`)},
		{"requestId too long in bytes", request(`"` + strings.Repeat("é", wire.MaxRequestID/2+1) + `"`)},
		{"requestId missing in revoke", `{"type":"revoke_binding","peerId":"` + client + `"}`},
		{"channel negative", channel(`-1`)}, {"channel too large", channel(`4294967296`)}, {"channel a fraction", channel(`1.5`)},
		{"channel a string", channel(`"1"`)}, {"channel huge", channel(`1e400`)}, {"channel a boolean", channel(`true`)}, {"channel minus zero", channel(`-0`)},
		{"nonce missing", `{"type":"relay_hello","version":1}`}, {"nonce short", nonce(b64(31))}, {"nonce long", nonce(b64(33))},
		{"nonce not base64", nonce(`"` + strings.Repeat("*", 44) + `"`)}, {"nonce a number", nonce(`7`)}, {"nonce unpadded", nonce(`"` + strings.Repeat("A", 43) + `"`)},
		{"nonce base64url", nonce(`"` + strings.Repeat("_", 43) + `="`)}, {"limits an array", `{"type":"relay_hello","version":1,"nonce":` + b64(32) + `,"limits":[]}`},
		{"limit a string", `{"type":"relay_hello","version":1,"nonce":` + b64(32) + `,"limits":{"maxControl":"1"}}`},
		{"version a fraction", `{"type":"relay_hello","version":1.5,"nonce":` + b64(32) + `}`},
		{"body missing", `{"type":"pair_message","slot":"7K3M"}`}, {"body empty", body(`""`)}, {"body too long", body(b64(wire.MaxPairBody + 1))},
		{"body an object", body(`{}`)},
		{"deviceId missing", `{"type":"open_channel","requestId":"r"}`}, {"deviceId a client", `{"type":"open_channel","requestId":"r","deviceId":"` + client + `"}`},
		{"deviceId no id", `{"type":"open_channel","requestId":"r","deviceId":"dev_x"}`}, {"online for a client", `{"type":"device_online","deviceId":"` + client + `"}`},
		{"offline without id", `{"type":"device_offline"}`}, {"peerId missing", `{"type":"revoke_binding","requestId":"r"}`},
		{"peerId empty", `{"type":"binding_revoked","peerId":""}`}, {"peerId missing in opened", `{"type":"channel_opened","channel":1}`},
		{"deviceId missing in claim", claim(`"requestId":"r"`)}, {"requestId missing in claim", claim(`"deviceId":"` + device + `"`)},
		{"deviceId a client in claim", claim(`"requestId":"r","deviceId":"` + client + `"`)},
		{"proof missing in claim", claim(`"requestId":"r","deviceId":"` + device + `"`)},
		{"proof short in claim", claim(`"requestId":"r","deviceId":"` + device + `","proof":` + b64(63))},
		{"signedAt a string in claim", claim(`"requestId":"r","deviceId":"` + device + `","signedAt":"1","proof":` + b64(64))},
		{"kind a string", `{"type":"error","kind":"limit"}`}, {"message a number", `{"type":"error","kind":1,"message":2}`},
		{"reason a number", `{"type":"goodbye","reason":1}`},
	}
}

func badPeers(t *testing.T) []bad {
	frames := sample(t)
	host, entry := asHello(t, frames[2]), asHello(t, frames[3])
	var out []bad
	hello := func(why string, change func(h *wire.Hello)) {
		h := host
		change(&h)
		out = append(out, bad{why, encode(t, wire.HostHello{Hello: h})})
	}
	hello("id of other keys", func(h *wire.Hello) { h.Public = entry.Public })
	hello("invite too long", func(h *wire.Hello) { h.Invite = strings.Repeat("7", wire.MaxInvite+1) })
	hello("keys swapped with each other's", func(h *wire.Hello) { h.Public.Seal = entry.Public.Seal })
	hello("a client as host", func(h *wire.Hello) { *h = entry })
	hello("id missing", func(h *wire.Hello) { h.ID = wire.Hello{}.ID })
	hello("authority missing", func(h *wire.Hello) { h.Authority = "" })
	hello("authority too long", func(h *wire.Hello) { h.Authority = strings.Repeat("a", wire.MaxAuthority+1) })
	hello("proof missing", func(h *wire.Hello) { h.Proof = nil })
	hello("proof short", func(h *wire.Hello) { h.Proof = h.Proof[:63] })
	hello("proof long", func(h *wire.Hello) { h.Proof = append(h.Proof[:64:64], 0) })
	for why, label := range labels() {
		hello("label "+why, func(h *wire.Hello) { h.Label = label })
	}
	out = sortBad(out)
	out = append(out,
		bad{"a device as entry", encode(t, wire.EntryHello{Hello: host})},
		bad{"sign key padded", strings.Replace(encode(t, frames[2]), host.Public.Sign.String(), host.Public.Sign.String()+"=", 1)},
		bad{"sign key empty", strings.Replace(encode(t, frames[2]), host.Public.Sign.String(), "", 1)},
		bad{"seal key missing", strings.Replace(encode(t, frames[2]), `"sealKey"`, `"sealkei"`, 1)})
	wrong := wire.Peer{ID: host.ID, Public: entry.Public, Label: "home"}
	unnamed := wire.Peer{ID: host.ID, Public: host.Public}
	for i, p := range []wire.Peer{wrong, unnamed, {}} {
		out = append(out,
			bad{fmt.Sprintf("peer %d in joined", i), encode(t, wire.PairJoined{Slot: "7K3M", Peer: p})},
			bad{fmt.Sprintf("peer %d in claimed", i), encode(t, wire.BindingClaimed{RequestID: "r", Peer: p})},
			bad{fmt.Sprintf("peer %d in bound", i), encode(t, wire.PeerBound{Peer: p})},
			bad{fmt.Sprintf("peer %d in complete", i), encode(t, wire.PairComplete{Slot: "7K3M", Peer: p})},
			bad{fmt.Sprintf("peer %d in welcome", i), encode(t, wire.Welcome{ID: entry.ID, Peers: []wire.Peer{p}})})
	}
	return append(out,
		bad{"peer missing", `{"type":"pair_joined","slot":"7K3M"}`},
		bad{"peers an object", `{"type":"welcome","id":"` + entry.ID.String() + `","peers":{}}`},
		bad{"peer a string", `{"type":"welcome","id":"` + entry.ID.String() + `","peers":["x"]}`},
		bad{"null as a peer", `{"type":"welcome","id":"` + entry.ID.String() + `","peers":[null]}`},
		bad{"welcome for nobody", `{"type":"welcome","peers":[]}`})
}

func labels() map[string]string {
	return map[string]string{
		"empty": "", "too long": strings.Repeat("a", wire.MaxLabel+1), "too long in bytes": strings.Repeat("é", wire.MaxLabel/2+1),
		"with NUL": "a\x00b", "with line end": "a\nb", "with escape": "a\x1b[31mb", "with C1 control": "a\u0085b",
		"with right-to-left override": "a\u202eb", "with zero width joiner": "a\u200db", "with replacement character": "a\ufffdb",
		"with soft hyphen": "a\u00adb", "with byte order mark": "a\ufeffb",
	}
}
