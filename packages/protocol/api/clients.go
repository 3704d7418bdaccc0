package api

import "github.com/scorel/scorel/packages/protocol/ident"

// Requests about clients, guest links, tokens and pairings.
type (
	ListClientsResponse struct {
		Clients []Client `json:"clients"`
	}
	RevokeClientRequest struct {
		ClientID ident.ID `json:"clientId"`
	}
	// NameHostRequest sets the name of the host's machine. Repeating it changes nothing.
	NameHostRequest struct {
		Label string `json:"label" req:"min=1,max=64"`
	}
	// PauseHostRequest waits until no turn runs. Repeating it changes nothing.
	PauseHostRequest struct {
		WaitSeconds int64 `json:"waitSeconds,omitempty" req:"min=0,max=86400"` // 0 is one second
	}
	// RenameClientRequest sets the name under which the host shows a client. Repeating
	// it changes nothing.
	RenameClientRequest struct {
		ClientID ident.ID `json:"clientId"`
		Label    string   `json:"label" req:"min=1,max=64"`
	}
	RenameClientResponse struct {
		Client Client `json:"client"`
	}
	// SetGrantRequest gives a client one of ClientGrants or revokes it. Repeating it
	// changes nothing. A client gives only grants that it has itself, none of
	// ExtraGrants, and changes neither its own nor those of a client that sees more
	// projects or has access for longer.
	SetGrantRequest struct {
		ClientID ident.ID `json:"clientId"`
		Grant    Grant    `json:"grant"`
		Given    bool     `json:"given"`
	}
	SetGrantResponse struct {
		Client Client `json:"client"`
	}
	// SetLimitsRequest replaces the limits of a client. The rules of SetGrantRequest
	// apply, and a client sets no limits beyond its own.
	SetLimitsRequest struct {
		ClientID ident.ID `json:"clientId"`
		ClientLimits
	}
	SetLimitsResponse struct {
		Client Client `json:"client"`
	}
	// CreateGuestLinkRequest admits a client that sees one session, to which nothing else
	// applies. The caller generates the keys of the client and keeps them: they are the
	// secret of the link. The same keys yield the same link. A client gives no access for
	// longer than its own, and only to sessions that it sees.
	CreateGuestLinkRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Label     string `json:"label" req:"min=1,max=64"`
		SignKey   string `json:"signKey" req:"min=43,max=43"` // Ed25519, base64url
		SealKey   string `json:"sealKey" req:"min=43,max=43"` // X25519, base64url
		ExpiresAt int64  `json:"expiresAt" req:"min=1"`       // Unix milliseconds, at most MaxGuestTime away
	}
	// CreateGuestLinkResponse holds the rest of what a link consists of.
	CreateGuestLinkResponse struct {
		Client        Client       `json:"client"`
		DeviceSignKey string       `json:"deviceSignKey"`
		DeviceSealKey string       `json:"deviceSealKey"`
		Proof         BindingProof `json:"proof"`
	}

	// CreateTokenRequest registers a token for programs on the host's own machine.
	// The caller generates and keeps the token; the same hash yields the same
	// token.
	CreateTokenRequest struct {
		Hash   string  `json:"hash" req:"max=256"` // SHA-256 of the token, lower-case hex
		Label  string  `json:"label" req:"max=256"`
		Grants []Grant `json:"grants" req:"min=1,max=64"`
		// ExpiresAt is when the token expires, in Unix milliseconds; 0 means never.
		ExpiresAt int64 `json:"expiresAt,omitempty" req:"min=0"`
	}
	CreateTokenResponse struct {
		Token Token `json:"token"`
	}
	ListTokensResponse struct {
		Tokens []Token `json:"tokens"`
	}
	RevokeTokenRequest struct {
		TokenID string `json:"tokenId" req:"min=1,max=256"`
	}

	// CreatePairingRequest requests a code on one of the host's relays.
	CreatePairingRequest struct {
		// Relay is the URL of one of the host's paths; "" is the first that is connected.
		Relay string `json:"relay,omitempty" req:"max=4096"`
	}
	// CreatePairingResponse holds a code to show. Its secret half leaves the host's
	// machine only through the person who reads it.
	CreatePairingResponse struct {
		PairingID string `json:"pairingId"`
		Code      string `json:"code"`
		URL       string `json:"url"`       // the relay's page with the code in the fragment
		ExpiresAt int64  `json:"expiresAt"` // Unix milliseconds
	}
	// RedeemPairingRequest redeems a code that an entry shows.
	RedeemPairingRequest struct {
		Code string `json:"code" req:"min=1,max=256"`
		// Relay is the URL of one of the host's paths; "" tries all of them.
		Relay string `json:"relay,omitempty" req:"max=4096"`
	}
	RedeemPairingResponse struct {
		PairingID string `json:"pairingId"`
	}
	// PairingRequest names a pairing in progress.
	PairingRequest struct {
		PairingID string `json:"pairingId" req:"min=1,max=256"`
	}
	// AwaitPairingResponse is sent when the other side has proven that it knows the
	// code.
	AwaitPairingResponse struct {
		ClientID ident.ID `json:"clientId"`
		Label    string   `json:"label"`
	}
	FinishPairingRequest struct {
		PairingID string `json:"pairingId" req:"min=1,max=256"`
		Accept    bool   `json:"accept"`
		// Grants are those of the new client, besides GrantView; empty means AllGrants.
		Grants []Grant `json:"grants,omitempty" req:"max=64"`
		ClientLimits
	}
	FinishPairingResponse struct {
		Paired bool `json:"paired"`
	}
)
