package wire

import (
	"bytes"
	"strconv"
	"time"

	"github.com/scorel/scorel/packages/protocol/ident"
)

const bindDomain = "scorel bind v1"

// BindMessage returns the message that a device signs for a client that it has paired,
// so that the client can claim its binding at other relays: the domain tag, the two ids
// and the time in Unix milliseconds, separated by NUL. It names no relay: wherever it is
// shown, only that client may reach that device.
func BindMessage(device, client ident.ID, signedAt int64) []byte {
	var b bytes.Buffer
	for _, part := range []string{bindDomain, device.String(), client.String()} {
		b.WriteString(part)
		b.WriteByte(0)
	}
	b.WriteString(strconv.FormatInt(signedAt, 10))
	return b.Bytes()
}

// SignBinding returns a device's signature for a client that it has paired.
func SignBinding(device *ident.Private, client ident.ID, signedAt int64) []byte {
	return device.Sign(BindMessage(device.ID(), client, signedAt))
}

// Verify reports whether the device has signed this claim for a client. The caller passes
// the sign key that belongs to the device's id, and checks the time with Fresh.
func (f *ClaimBinding) Verify(device ident.SignPublic, client ident.ID) bool {
	return client.Kind() == ident.KindClient && device.Verify(BindMessage(f.DeviceID, client, f.SignedAt), f.Proof)
}

// Fresh reports whether the time of a claim is valid at a time: at most MaxClaimAge ago,
// and at most MaxClaimAhead in the future, because clocks differ.
func (f *ClaimBinding) Fresh(now time.Time) bool {
	age := now.Sub(time.UnixMilli(f.SignedAt))
	return age <= MaxClaimAge && age >= -MaxClaimAhead
}
