package host

import (
	"cmp"
	"fmt"
	"os"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// loadName reads the name of the machine. Relays refuse labels that the wire does not accept.
func (w *wiring) loadName() (err error) {
	own, _ := os.Hostname()
	if wire.CheckLabel(own) != nil {
		own = unnamed
	}
	fixed := cmp.Or(w.cfg.Label, w.config.Label)
	if fixed != "" && wire.CheckLabel(fixed) != nil { // earlier versions started with such a config.toml
		w.log.Warn("the label of config.toml cannot be a name: it needs printable text of limited length", "used", unnamed, "max_bytes", wire.MaxLabel)
		fixed = unnamed
	}
	if w.name, err = state.LoadName(w.paths.Name(), fixed, own); err != nil {
		return err
	}
	if err := wire.CheckLabel(w.name.Current()); err != nil {
		return fmt.Errorf("host: %s is damaged: %w; delete it, and name this machine with `scorel pair --label NAME`", w.paths.Name(), err)
	}
	return nil
}

// unnamed is the name of a machine that has none that the wire accepts.
const unnamed = "scorel host"
