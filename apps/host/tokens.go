package host

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// createToken admits a token of which it learns only the hash: who makes it keeps
// it, and a retry changes nothing.
func (h *Host) createToken(_ context.Context, _ *conn, r api.CreateTokenRequest) (api.CreateTokenResponse, error) {
	hash, err := hex.DecodeString(r.Hash)
	if err != nil || len(hash) != 32 || r.Hash != strings.ToLower(r.Hash) {
		return api.CreateTokenResponse{}, api.Errorf(api.KindBadRequest, "hash must be the SHA-256 of the token as 64 lower-case hex digits")
	}
	if wire.CheckLabel(r.Label) != nil {
		return api.CreateTokenResponse{}, api.Errorf(api.KindBadRequest, "the label must have 1 to %d bytes of printable text", wire.MaxLabel)
	}
	if err := checkGrants(r.Grants); err != nil {
		return api.CreateTokenResponse{}, err
	}
	token, err := h.tokens.Add(r.Hash, r.Label, r.Grants)
	if err != nil {
		return api.CreateTokenResponse{}, err
	}
	h.log.Info("token added", "client", token.ID, "grants", token.Grants)
	return api.CreateTokenResponse{Token: token}, nil
}

// checkGrants takes only what a client can have: never the local grant.
func checkGrants(grants []api.Grant) error {
	if len(grants) == 0 {
		return api.Errorf(api.KindBadRequest, "a token needs at least one grant of %q", api.AllGrants())
	}
	for i, grant := range grants {
		if !slices.Contains(api.AllGrants(), grant) {
			return api.Errorf(api.KindBadRequest, "a token cannot have the grant %.40q: give some of %q", grant, api.AllGrants())
		}
		if slices.Contains(grants[:i], grant) {
			return api.Errorf(api.KindBadRequest, "the grant %q stands there twice", grant)
		}
	}
	return nil
}

func (h *Host) listTokens(context.Context, *conn, api.Empty) (api.ListTokensResponse, error) {
	return api.ListTokensResponse{Tokens: h.tokens.List()}, nil
}

func (h *Host) revokeToken(_ context.Context, _ *conn, r api.RevokeTokenRequest) (api.Empty, error) {
	known, err := h.tokens.Remove(r.TokenID)
	if err != nil {
		return none, err
	}
	if !known {
		return none, api.Errorf(api.KindNotFound, "no token %.64q on this host: list the tokens to see their ids", r.TokenID)
	}
	h.hub.closeClient(r.TokenID, errTokenRevoked)
	h.log.Info("token revoked", "client", r.TokenID)
	return none, nil
}

// revoked tells whether a connection is that of a token that is not admitted.
func (h *Host) revoked(clientID string) bool {
	return strings.HasPrefix(clientID, "tok_") && !h.tokens.Has(clientID)
}

// errTokenRevoked ends the connections of a token that was revoked.
var errTokenRevoked = errors.New("this token was revoked")
