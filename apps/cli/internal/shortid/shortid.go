// Package shortid finds what a person names by an id, by the beginning of one, or by a name.
package shortid

import (
	"errors"
	"fmt"
	"strings"
)

// Least is how many characters of an id its beginning needs, not counting the kind. With fewer, a
// mistyped name would select something by chance.
const Least = 4

// Errors of Find.
var (
	ErrUnknown   = errors.New("nothing has this id or name")
	ErrShort     = fmt.Errorf("%w: more of the id is needed", ErrUnknown)
	ErrAmbiguous = errors.New("more than one has this id or name")
)

// Find returns the element of a list that a person gave: the one with this id; else the only one
// that has this name, or an id that begins so. kind is what every id begins with, such as "dev_", or
// "". ids returns the id of an element and its name, which may be "". Elements with the same id are
// one. The error is ErrUnknown, ErrShort, which is a kind of it, or ErrAmbiguous.
func Find[T any](list []T, kind, given string, ids func(T) (id, name string)) (T, error) {
	var (
		found, none T
		foundID     string
		matches     int
		short       bool
	)
	for _, element := range list {
		id, name := ids(element)
		if id == given {
			return element, nil
		}
		begins := given != "" && strings.HasPrefix(id, given)
		long := len(given) >= len(kind)+Least
		short = short || begins && !long
		if (begins && long || given != "" && name == given) && (matches == 0 || id != foundID) {
			found, foundID = element, id
			matches++
		}
	}
	switch {
	case matches == 1:
		return found, nil
	case matches > 1:
		return none, ErrAmbiguous
	case short:
		return none, ErrShort
	}
	return none, ErrUnknown
}
