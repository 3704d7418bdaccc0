package sessions

import (
	"errors"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ErrClosed says that the session was closed, as when the host ends.
var ErrClosed = errors.New("sessions: the session is closed")

// clientError turns an error of the log into one for a client.
func clientError(err error) error {
	var refusal *api.Error
	var damage *store.DamageError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refusal):
		return refusal
	case transferError(err) != nil:
		return transferError(err)
	case errors.As(err, &damage):
		return api.Errorf(api.KindDamaged, "this session is damaged (%s) and was not written to: fork it at an entry before the damage, or start a new session", damage.What)
	case errors.Is(err, ErrClosed):
		return api.Errorf(api.KindUnavailable, "the host is shutting down: try again in a moment")
	case errors.Is(err, store.ErrNotFound):
		return api.Errorf(api.KindNotFound, "the session no longer exists: %v", err)
	case errors.Is(err, store.ErrInUse), errors.Is(err, store.ErrUnavailable):
		return api.Errorf(api.KindUnavailable, "%v", err)
	}
	return api.Errorf(api.KindUnavailable, "the session could not be written: %v", err)
}

// transferError turns an error of copying, moving or importing a session into one for a
// client; nil for other errors.
func transferError(err error) *api.Error {
	switch {
	case errors.Is(err, places.ErrUnknown), errors.Is(err, store.ErrBadName), errors.Is(err, store.ErrBadLine):
		return api.Errorf(api.KindBadRequest, "%v", err)
	case errors.Is(err, store.ErrExists):
		return api.Errorf(api.KindConflict, "%v: delete it first to replace it with the file", store.ErrExists)
	case errors.Is(err, places.ErrThere), errors.Is(err, places.ErrDiffers):
		return api.Errorf(api.KindConflict, "%v", err)
	}
	return nil
}
