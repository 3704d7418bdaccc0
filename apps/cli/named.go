package cli

import (
	"cmp"
	"errors"

	"github.com/scorel/scorel/apps/cli/internal/shortid"
)

// named describes things of which a command line names one: by its id, the beginning of it, or a
// name.
type named[T any] struct {
	what string                    // one of them, such as hook
	id   string                    // what its id is called; "" means id
	kind string                    // what every id begins with
	list string                    // the command that shows them
	ids  func(T) (id, name string) // of one of them
	gone error                     // the cause if it is not in the list any more; nil means that the command line is wrong
}

func (n named[T]) find(list []T, given string) (T, error) {
	found, err := shortid.Find(list, n.kind, given, n.ids)
	shown, id := clip(given, 60), cmp.Or(n.id, "id")
	switch {
	case err == nil:
		return found, nil
	case errors.Is(err, shortid.ErrAmbiguous):
		return found, usagef("%q names several %ss: give the whole %s of one, as `%s` shows it", shown, n.what, id, n.list)
	case errors.Is(err, shortid.ErrShort):
		return found, usagef("%q is too short for the %s of a %s: give at least %d characters of it, as `%s` shows it", shown, id, n.what, len(n.kind)+shortid.Least, n.list)
	}
	const message = "there is no %s %q: `%s` shows them"
	if n.gone == nil {
		return found, usagef(message, n.what, shown, n.list)
	}
	return found, sayf(n.gone, message, n.what, shown, n.list)
}
