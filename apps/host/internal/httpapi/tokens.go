package httpapi

import (
	"errors"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
)

// refuseExpired is for a request with a token that expired.
func refuseExpired(token api.Token) *refusal {
	return refuseToken("this token (%s) expired on %s: create a new one with `scorel host token create`",
		token.ID, time.UnixMilli(token.ExpiresAt).UTC().Format("2006-01-02 15:04 UTC"))
}

// refuseEnded is for a request that was waiting when its token ended; nil where the
// connection ended for another reason.
func (s *Server) refuseEnded(who caller, reason error) *refusal {
	switch token, admitted := s.tokens.Find(who.id); {
	case errors.Is(reason, dispatch.ErrTokenExpired) && admitted:
		return refuseExpired(token)
	case errors.Is(reason, dispatch.ErrTokenRevoked), errors.Is(reason, dispatch.ErrTokenExpired):
		return refuseToken("this token (%s) was revoked: create a new one with `scorel host token create`", who.id)
	}
	return nil
}
