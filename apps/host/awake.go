package host

import "github.com/scorel/scorel/apps/host/internal/awake"

// working returns what is called when a turn begins to run: it keeps the machine awake until the
// turn ends, unless config.toml lets it sleep.
func (w *wiring) working() func() (ended func()) {
	if w.config.MaySleep {
		return nil
	}
	w.awake = awake.New(awake.System(), w.log)
	return w.awake.Begin
}
