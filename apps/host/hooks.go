package host

import (
	"github.com/scorel/scorel/apps/host/internal/hook"
)

// newHooks makes the manager of the hooks, which run as MCP servers do: in the sandbox, with
// the network, and without the keys of providers.
func (w *wiring) newHooks() *hook.Manager {
	confined := w.sandbox.WithNetwork()
	kind, _ := confined.Kind()
	return hook.New(hook.Options{
		Logger: w.log, Hooks: w.config.Hooks, Consents: w.consents, Trusted: w.trust.Has, Origin: w.worktrees.Origin, Bundles: w.extensions.Hooks, Environ: w.environ, Ledger: w.ledger,
		Sandbox: func(argv []string, folder string) []string { return w.confine(confined, argv, folder) }, Kind: string(kind), Supervise: confined.Supervise,
	})
}
