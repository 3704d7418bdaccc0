package api

// Requests about who may reach the host, and with what.
var (
	ListClients       = Define[Empty, ListClientsResponse]("list_clients", GrantManage, "Lists the clients of the host.", Shown)
	RevokeClient      = Define[RevokeClientRequest, Empty]("revoke_client", GrantManage, "Revokes a client and closes its connections.", Shown)
	RenameClient      = Define[RenameClientRequest, RenameClientResponse]("rename_client", GrantManage, "Sets the name under which the host shows a client.", Shown)
	SetGrant          = Define[SetGrantRequest, SetGrantResponse]("set_grant", GrantManage, "Gives a client a grant, or revokes it.", Shown)
	SetLimits         = Define[SetLimitsRequest, SetLimitsResponse]("set_limits", GrantManage, "Limits a client to some projects and to a time.", Shown)
	CreateGuestLink   = Define[CreateGuestLinkRequest, CreateGuestLinkResponse]("create_guest_link", GrantManage, "Admits a client that sees one session, for a limited time; the same keys yield the same client.", Named)
	ListProviders     = Define[Empty, ListProvidersResponse]("list_providers", GrantManage, "Lists the model providers, and where the key of each comes from.")
	SetProviderKey    = Define[SetProviderKeyRequest, ProviderResponse]("set_provider_key", GrantManage, "Saves the key of a model provider on the host, which uses it from the next call on.", Concurrently)
	RemoveProviderKey = Define[RemoveProviderKeyRequest, ProviderResponse]("remove_provider_key", GrantManage, "Removes the saved key of a model provider.", Concurrently)
	CreateToken       = Define[CreateTokenRequest, CreateTokenResponse]("create_token", GrantLocal, "Registers a token with some grants for programs on the host's machine; the same hash yields the same token.")
	ListTokens        = Define[Empty, ListTokensResponse]("list_tokens", GrantLocal, "Lists the tokens.")
	RevokeToken       = Define[RevokeTokenRequest, Empty]("revoke_token", GrantLocal, "Revokes a token and closes its connections.")
	CreatePairing     = Define[CreatePairingRequest, CreatePairingResponse]("create_pairing", GrantLocal, "Requests a pairing code from the relay, to be shown to a person.", Concurrently)
	RedeemPairing     = Define[RedeemPairingRequest, RedeemPairingResponse]("redeem_pairing", GrantLocal, "Redeems a code that an entry shows.", Concurrently)
	AwaitPairing      = Define[PairingRequest, AwaitPairingResponse]("await_pairing", GrantLocal, "Waits until the other side has proven that it knows the code.", Concurrently)
	FinishPairing     = Define[FinishPairingRequest, FinishPairingResponse]("finish_pairing", GrantLocal, "Accepts or rejects the other side.", Concurrently)
)

func clientRequests() []Spec {
	return []Spec{
		ListClients.Spec(),
		RevokeClient.Spec(),
		RenameClient.Spec(),
		SetGrant.Spec(),
		SetLimits.Spec(),
		CreateGuestLink.Spec(),
		ListProviders.Spec(),
		SetProviderKey.Spec(),
		RemoveProviderKey.Spec(),
		CreateToken.Spec(),
		ListTokens.Spec(),
		RevokeToken.Spec(),
		CreatePairing.Spec(),
		RedeemPairing.Spec(),
		AwaitPairing.Spec(),
		FinishPairing.Spec(),
	}
}
