package host

import (
	"log/slog"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/extension"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// loadExtensions makes the manager of the extensions, and removes what an earlier host left.
func (w *wiring) loadExtensions() error {
	added, err := state.LoadExtensions(w.paths.ExtensionList())
	if err != nil {
		return err
	}
	w.extensions = extension.New(extension.Options{
		Logger: w.log, Paths: w.paths, Added: added, Switches: w.switches, Consents: w.consents, Trusted: w.trust.Has,
		Origin: func(folder string) string { return w.worktrees.Origin(folder) },
	})
	if err := w.extensions.Clean(); err != nil { // they only take room
		w.log.Error("removing copies of extensions that are not used", "error", err)
	}
	return nil
}

// offlineExtensions returns where the extensions that are used in a folder have definitions, for
// commands that work on a home itself. A home that cannot be read has none.
func offlineExtensions(home, folder string) []definition.Extension {
	paths := state.Paths{Home: home}
	added, err := state.LoadExtensions(paths.ExtensionList())
	if err != nil {
		return nil
	}
	switches, err := state.LoadSwitches(paths.Switches())
	if err != nil {
		return nil
	}
	consents, err := state.LoadConsents(paths.MCP())
	if err != nil {
		return nil
	}
	trust, err := state.LoadTrust(paths.Trust())
	if err != nil {
		return nil
	}
	if canonical, err := state.Canonical(folder); err == nil {
		folder = canonical
	}
	manager := extension.New(extension.Options{
		Logger: slog.New(slog.DiscardHandler), Paths: paths, Added: added, Switches: switches, Consents: consents, Trusted: trust.Has,
	})
	return manager.Definitions(folder)
}
