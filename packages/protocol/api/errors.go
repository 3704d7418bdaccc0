package api

import "fmt"

// Kind numbers an error of a request. Texts are for people, kinds are for code. New
// kinds are only ever appended.
type Kind int

const (
	KindUnknown        Kind = 0  // a kind from a newer host
	KindUnknownRequest Kind = 1  // the host does not know this request
	KindBadRequest     Kind = 2  // a field is missing or wrong
	KindNotAllowed     Kind = 3  // the connection lacks the grant
	KindNotFound       Kind = 4  // no such project, session, client, turn or pairing
	KindConflict       Kind = 5  // the state has changed, or does not allow the request now
	KindInvalidPath    Kind = 6  // the folder does not exist or cannot be used
	KindProjectInUse   Kind = 7  // the project has sessions
	KindUnknownModel   Kind = 8  // no model of that name on the host
	KindTooLarge       Kind = 9  // over a limit
	KindDamaged        Kind = 10 // the session file is damaged; nothing was changed
	KindQueueFull      Kind = 11 // the prompt queue of the session is full
	KindPairing        Kind = 12 // the pairing failed
	KindUnavailable    Kind = 13 // the host cannot do it now: relay down, disk full, or the session is being moved
	KindInternal       Kind = 14 // an internal error of the host; see its log
	KindUnconfirmed    Kind = 15 // a broad rule was not confirmed
	KindMoved          Kind = 16 // the session belongs to another device now, which the error names
)

var kindNames = [...]string{
	"unknown", "unknown_request", "bad_request", "not_allowed", "not_found", "conflict", "invalid_path",
	"project_in_use", "unknown_model", "too_large", "damaged", "queue_full", "pairing", "unavailable", "internal", "unconfirmed", "moved",
}

// String returns the kind's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind_%d", int(k))
	}
	return kindNames[k]
}

// Error is a refused request.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"` // one sentence for people: what is wrong and what to do
	// DeviceID is the device that has the session, with KindMoved.
	DeviceID string `json:"deviceId,omitempty"`
	// MovingTo is the device that the session is being moved to, with KindUnavailable.
	MovingTo string `json:"movingTo,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an Error.
func Errorf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}
