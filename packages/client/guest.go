package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/guest"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// CreateGuestLink generates the keys of a guest and has the host admit it. The link holds
// them; nothing else does.
func CreateGuestLink(ctx context.Context, c *Client, sessionID, name string, expires time.Time) (guest.Link, api.Client, error) {
	link := guest.Link{SessionID: sessionID}
	if _, err := rand.Read(link.Seed[:]); err != nil {
		return link, api.Client{}, fmt.Errorf("generating the keys of a guest link: %w", err)
	}
	keys, err := guest.Keys(link.Seed)
	if err != nil {
		return link, api.Client{}, err
	}
	public := keys.Public()
	response, err := Call(ctx, c, api.CreateGuestLink, api.CreateGuestLinkRequest{
		SessionID: sessionID, Label: name, SignKey: public.Sign.String(), SealKey: public.Seal.String(), ExpiresAt: expires.UnixMilli(),
	})
	if err != nil {
		return link, api.Client{}, err
	}
	if err := link.Device.Sign.UnmarshalText([]byte(response.DeviceSignKey)); err != nil {
		return link, api.Client{}, fmt.Errorf("reading the host's answer: %w", err)
	}
	if err := link.Device.Seal.UnmarshalText([]byte(response.DeviceSealKey)); err != nil {
		return link, api.Client{}, fmt.Errorf("reading the host's answer: %w", err)
	}
	if response.Client.ID != keys.ID() || copy(link.Proof[:], response.Proof.Signature) != len(link.Proof) {
		return link, api.Client{}, fmt.Errorf("the host's answer is not about the guest link that was requested")
	}
	link.SignedAt, link.ExpiresAt = response.Proof.SignedAt, response.Client.ExpiresAt
	return link, response.Client, nil
}

// DialGuest logs in at a relay as the client that a guest link stands for, and has it store the
// binding with the device of the link.
func DialGuest(ctx context.Context, relayURL string, link guest.Link, label string) (*Entry, error) {
	keys, err := guest.Keys(link.Seed)
	if err != nil {
		return nil, err
	}
	e, err := DialEntry(ctx, relayconn.Config{RelayURL: relayURL, Keys: keys, Label: label})
	if err != nil {
		return nil, err
	}
	if e.bound(link.DeviceID()) {
		return e, nil
	}
	if err := e.Claim(ctx, link.DeviceID(), api.BindingProof{SignedAt: link.SignedAt, Signature: link.Proof[:]}); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// bound reports whether the relay has named a device as one of this client.
func (e *Entry) bound(device ident.ID) bool {
	for _, peer := range e.Peers() {
		if peer.ID == device {
			return true
		}
	}
	return false
}
