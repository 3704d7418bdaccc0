package store

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of providers and logs. The wrapping message says what was being done; these say what
// the caller can do about it.
var (
	ErrNotFound    = errors.New("there is no such session")
	ErrExists      = errors.New("a session with this id already exists")
	ErrBadName     = errors.New("the name cannot be stored: use letters, digits, '.', '_' and '-'")
	ErrInUse       = errors.New("the session is open elsewhere")
	ErrDamaged     = errors.New("the session is damaged: it can be read but not written")
	ErrFull        = errors.New("there is no space left: free some space")
	ErrReadOnly    = errors.New("it cannot be written: check who owns it and whether the disk is mounted read-only")
	ErrLost        = errors.New("it is unknown what was stored: open the session again")
	ErrClosed      = errors.New("it is closed")
	ErrUnavailable = errors.New("it cannot be reached now")
	ErrBadLine     = errors.New("a line must be one JSON object without a line end")
)

// Holder says who has a session open.
type Holder struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"` // name of the executable
	Host    string    `json:"host"`    // name of the machine
	Since   time.Time `json:"since"`
}

// InUseError is ErrInUse with the holder of the session, as far as it is known.
type InUseError struct {
	ID     string
	Holder Holder
}

func (e *InUseError) Error() string {
	var who strings.Builder
	switch h := e.Holder; {
	case h.PID == 0:
		who.WriteString("another process")
	case h.Program == "":
		fmt.Fprintf(&who, "process %d", h.PID)
	default:
		fmt.Fprintf(&who, "%s (process %d)", h.Program, h.PID)
	}
	if e.Holder.Host != "" {
		fmt.Fprintf(&who, " on %s", e.Holder.Host)
	}
	return fmt.Sprintf("session %s is open in %s: close it there first", e.ID, who.String())
}

func (e *InUseError) Unwrap() error { return ErrInUse }

// UnavailableError is ErrUnavailable with the provider and the reason. Nothing was done.
type UnavailableError struct {
	Provider string // its name
	Place    string // of its database, for people, without secrets
	Cause    error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the session provider %s (%s) is unavailable: %v. The host keeps trying to reach it", e.Provider, e.Place, e.Cause)
}

func (e *UnavailableError) Unwrap() []error { return []error{ErrUnavailable, e.Cause} }

// DamageError is ErrDamaged with a description of the damage.
type DamageError struct {
	What string
	Err  error // a *session.PathError if the path to the leaf has a hole; otherwise nil
}

func (e *DamageError) Error() string { return fmt.Sprintf("%v: %s", ErrDamaged, e.What) }

func (e *DamageError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrDamaged}
	}
	return []error{ErrDamaged, e.Err}
}
