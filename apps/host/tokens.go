package host

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

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
	if err := checkExpiry(r.ExpiresAt); err != nil {
		return api.CreateTokenResponse{}, err
	}
	token, err := h.tokens.Add(r.Hash, r.Label, r.Grants, r.ExpiresAt)
	if err != nil {
		return api.CreateTokenResponse{}, err
	}
	h.log.Info("token added", "client", token.ID, "grants", token.Grants, "expiresAt", token.ExpiresAt)
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

// maxLifetime bounds how far ahead a token may expire: further is a unit that was
// mistaken, and no token is needed longer.
const maxLifetime = 100 * 366 * 24 * time.Hour

// checkExpiry takes 0, which is never, or Unix milliseconds that are still to come.
func checkExpiry(at int64) error {
	if at == 0 {
		return nil
	}
	now := time.Now()
	if at <= now.UnixMilli() {
		return api.Errorf(api.KindBadRequest, "expiresAt has passed already: give Unix milliseconds that are still to come, by this host's clock")
	}
	if at > now.Add(maxLifetime).UnixMilli() {
		return api.Errorf(api.KindBadRequest, "expiresAt is more than a hundred years ahead: give Unix milliseconds, or leave it out for a token that does not expire")
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

// tokenPrefix begins the id of a token, in place of a client's.
const tokenPrefix = "tok_"

// untilToken is the context of a connection: one of a token ends when that expires,
// and at once when it is not admitted any more since the connection was let in. The
// connection must be known to the hub, so that a later revocation finds it.
func (h *Host) untilToken(ctx context.Context, clientID string) (context.Context, context.CancelFunc) {
	if !strings.HasPrefix(clientID, tokenPrefix) {
		return ctx, func() {}
	}
	token, admitted := h.tokens.Find(clientID)
	if !admitted {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errTokenRevoked)
		return ctx, func() {}
	}
	if token.ExpiresAt == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, time.UnixMilli(token.ExpiresAt), errTokenExpired)
}

// errTokenRevoked ends the connections of a token that was revoked, errTokenExpired
// those of one that expired.
var (
	errTokenRevoked = errors.New("this token was revoked")
	errTokenExpired = errors.New("this token expired")
)

// refuseExpired answers who shows a token that expired.
func refuseExpired(token api.Token) *refusal {
	return refuseToken("this token (%s) expired on %s: make a new one with `scorel host token create`",
		token.ID, time.UnixMilli(token.ExpiresAt).UTC().Format("2006-01-02 15:04 UTC"))
}

// refuseEnded answers who waited when the token ended that let them in; nil where another
// reason ended the connection.
func (h *Host) refuseEnded(who caller, reason error) *refusal {
	switch token, admitted := h.tokens.Find(who.id); {
	case errors.Is(reason, errTokenExpired) && admitted:
		return refuseExpired(token)
	case errors.Is(reason, errTokenRevoked), errors.Is(reason, errTokenExpired):
		return refuseToken("this token (%s) was revoked: make a new one with `scorel host token create`", who.id)
	}
	return nil
}
