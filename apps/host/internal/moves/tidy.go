package moves

import (
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Intervals between two looks for moves that nobody continued, and for old copies.
const (
	tidyEvery       = time.Minute
	tidyCopiesEvery = time.Hour // without such moves, so that an idle machine sleeps
)

// tidyPause returns when tidy is worth another call. A session that was moved away leaves a record that
// stays.
func (m *Moves) tidyPause() time.Duration {
	for _, one := range m.all() {
		if r := m.of(one); r.Incoming || r.State != api.MoveDone {
			return tidyEvery
		}
	}
	return tidyCopiesEvery
}
