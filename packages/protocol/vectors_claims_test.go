package protocol_test

import (
	"encoding/hex"
	"testing"

	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

type claimCase struct {
	Why     string `json:"why"`
	Client  party  `json:"client"` // that shows the claim
	Message string `json:"message,omitempty"`
	Frame   string `json:"frame"` // claim_binding
}

func TestVectorsClaims(t *testing.T) {
	device, client, thief := testKeys(t, ident.KindDevice, 3), testKeys(t, ident.KindClient, 9), testKeys(t, ident.KindClient, 17)
	other := testKeys(t, ident.KindDevice, 5)
	var content struct {
		Device party       `json:"device"`
		Good   []claimCase `json:"good"`
		Bad    []claimCase `json:"bad"`
	}
	content.Device = partyOf(device)
	for _, at := range []int64{0, 1795255200123, 9007199254740991} {
		frame := wire.ClaimBinding{RequestID: "r", DeviceID: device.ID(), SignedAt: at, Proof: wire.SignBinding(device, client.ID(), at)}
		content.Good = append(content.Good, claimCase{
			"", partyOf(client), hex.EncodeToString(wire.BindMessage(device.ID(), client.ID(), at)), encode(t, frame),
		})
	}
	bad := func(why string, by *ident.Private, change func(f *wire.ClaimBinding)) {
		f := wire.ClaimBinding{RequestID: "r", DeviceID: device.ID(), SignedAt: 7, Proof: wire.SignBinding(device, client.ID(), 7)}
		change(&f)
		content.Bad = append(content.Bad, claimCase{Why: why, Client: partyOf(by), Frame: encode(t, f)})
	}
	bad("another client shows it", thief, func(*wire.ClaimBinding) {})
	bad("the device shows it", device, func(*wire.ClaimBinding) {})
	bad("another time", client, func(f *wire.ClaimBinding) { f.SignedAt++ })
	bad("another device", client, func(f *wire.ClaimBinding) { f.DeviceID = other.ID() })
	bad("another device signed", client, func(f *wire.ClaimBinding) { f.Proof = other.Sign(wire.BindMessage(device.ID(), client.ID(), 7)) })
	bad("the client signed", client, func(f *wire.ClaimBinding) { f.Proof = client.Sign(wire.BindMessage(device.ID(), client.ID(), 7)) })
	bad("a login proof", client, func(f *wire.ClaimBinding) {
		f.Proof = device.Sign(wire.ProofMessage(device.ID(), "relay.example", run(0, wire.NonceLen)))
	})
	checkFile(t, "claims.json", content)
	for _, c := range content.Good {
		if !verifyClaim(t, device, c) {
			t.Errorf("%s: the claim does not verify", c.Frame)
		}
	}
	for _, c := range content.Bad {
		if verifyClaim(t, device, c) {
			t.Errorf("%s: the claim verifies", c.Why)
		}
	}
}

func verifyClaim(t *testing.T, device *ident.Private, c claimCase) bool {
	t.Helper()
	frame, err := wire.DecodeControl([]byte(c.Frame), wire.MaxControl)
	claim, ok := frame.(*wire.ClaimBinding)
	if err != nil || !ok {
		t.Fatalf("%s: %v", c.Why, err)
	}
	return claim.Verify(device.Public().Sign, c.Client.ID)
}
