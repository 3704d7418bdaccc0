package host

import (
	"os"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// newMCP makes the manager of the MCP servers. They get the host's environment
// without the keys of providers, and a configuration cannot ask for one either.
func (w *wiring) newMCP() (*mcp.Manager, error) {
	saved, err := state.LoadSavedServers(w.paths.Servers())
	if err != nil {
		return nil, err
	}
	keys := w.config.WithheldEnvs()
	hidden := func(name string) bool { return slices.Contains(keys, name) }
	confined := w.sandbox.WithNetwork()
	kind, _ := confined.Kind()
	return mcp.New(mcp.Options{
		Sandbox: func(argv []string, folder string) []string { return w.confine(confined, argv, folder) }, Kind: string(kind), Supervise: confined.Supervise,
		Logger: w.log, Version: w.cfg.Version, Servers: w.config.MCP, Saved: saved, Switches: w.switches, Consents: w.consents, Trusted: w.trust.Has, Origin: w.worktrees.Origin,
		Bundles: w.extensions.Servers,
		Getenv: func(name string) string {
			if hidden(name) {
				return ""
			}
			return w.getenv(name)
		},
		Environ:  w.environ,
		Withheld: hidden,
		Patience: mcp.DefaultPatience, Ledger: w.ledger,
	}), nil
}

// environ is the host's environment without the keys of providers.
func (w *wiring) environ() []string {
	withheld := w.config.WithheldEnvs()
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(withheld, name)
	})
}
