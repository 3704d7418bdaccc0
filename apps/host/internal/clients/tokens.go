package clients

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// createToken admits a token by its hash. The client that made the token keeps it, and a
// retry changes nothing.
func (c *Clients) createToken(_ context.Context, _ *dispatch.Conn, r api.CreateTokenRequest) (api.CreateTokenResponse, error) {
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
	if err := checkExpiry(r.ExpiresAt); err != nil {
		return api.CreateTokenResponse{}, err
	}
	token, err := c.tokens.Add(r.Hash, r.Label, r.Grants, r.ExpiresAt)
	if err != nil {
		return api.CreateTokenResponse{}, err
	}
	c.log.Info("token added", "client", token.ID, "grants", token.Grants, "expiresAt", token.ExpiresAt)
	return api.CreateTokenResponse{Token: token}, nil
}

// checkGrants accepts the grants that a client can have, which never include the local one.
func checkGrants(grants []api.Grant) error {
	if len(grants) == 0 {
		return api.Errorf(api.KindBadRequest, "a token needs at least one grant of %q", api.AllGrants())
	}
	for i, grant := range grants {
		if !slices.Contains(api.AllGrants(), grant) {
			return api.Errorf(api.KindBadRequest, "a token cannot have the grant %.40q: choose from %q", grant, api.AllGrants())
		}
		if slices.Contains(grants[:i], grant) {
			return api.Errorf(api.KindBadRequest, "the grant %q is given twice", grant)
		}
	}
	return nil
}

// maxLifetime bounds how far ahead a token may expire: further is a unit that was
// mistaken, and no token is needed longer.
const maxLifetime = 100 * 366 * 24 * time.Hour

// checkExpiry accepts 0, which is never, or Unix milliseconds in the future.
func checkExpiry(at int64) error {
	if at == 0 {
		return nil
	}
	now := time.Now()
	if at <= now.UnixMilli() {
		return api.Errorf(api.KindBadRequest, "expiresAt is in the past: give Unix milliseconds in the future, by this host's clock")
	}
	if at > now.Add(maxLifetime).UnixMilli() {
		return api.Errorf(api.KindBadRequest, "expiresAt is more than a hundred years in the future: give Unix milliseconds, or leave it out for a token that does not expire")
	}
	return nil
}

func (c *Clients) listTokens(context.Context, *dispatch.Conn, api.Empty) (api.ListTokensResponse, error) {
	return api.ListTokensResponse{Tokens: c.tokens.List()}, nil
}

func (c *Clients) revokeToken(_ context.Context, _ *dispatch.Conn, r api.RevokeTokenRequest) (api.Empty, error) {
	known, err := c.tokens.Remove(r.TokenID)
	if err != nil {
		return none, err
	}
	if !known {
		return none, api.Errorf(api.KindNotFound, "no token %.64q on this host: list the tokens to see their ids", r.TokenID)
	}
	c.hub.EndClient(r.TokenID, dispatch.ErrTokenRevoked)
	c.log.Info("token revoked", "client", r.TokenID)
	return none, nil
}
