package host

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/mcpauth"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/apps/host/internal/toolkit"
	"github.com/scorel/scorel/packages/protocol/api"
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
	auth, err := w.newMCPAuth()
	if err != nil {
		return nil, err
	}
	confined := w.sandbox.WithNetwork()
	kind, _ := confined.Kind()
	return mcp.New(mcp.Options{
		Sandbox: func(argv []string, folder string) []string { return w.confine(confined, argv, folder) }, Kind: string(kind), Supervise: confined.Supervise,
		Logger: w.log, Version: w.cfg.Version, Servers: w.config.MCP, Saved: saved, Switches: w.switches, Consents: w.consents, Trusted: w.trust.Has, Origin: w.worktrees.Origin, Auth: auth,
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

// newMCPAuth makes what signs in to MCP servers. It connects to the addresses that fetch_url may
// connect to.
func (w *wiring) newMCPAuth() (*mcpauth.Auth, error) {
	signIns, err := state.LoadSignIns(w.paths.SignIns())
	if err != nil {
		return nil, err
	}
	options, err := toolkit.Options(w.paths, w.config)
	if err != nil {
		return nil, state.Misconfigured(err)
	}
	return mcpauth.New(mcpauth.Options{
		Logger: w.log, SignIns: signIns, ClientURL: w.config.MCPClient,
		Refuse: func(address string) error {
			if tool.RefusePrivate(address, options.FetchPrivate...) != nil {
				return errors.New("its address is not public, and fetch_private in config.toml does not open it")
			}
			return nil
		},
		Changed: func(key state.SignInKey, signedIn bool) {
			if signedIn {
				w.mcp.SignedIn(key)
			}
			w.hub.Notify(api.MCPServersChanged{ProjectID: w.projectAt(key.Project)})
		},
	}), nil
}

// projectAt returns the id of the project with a folder, or "".
func (w *wiring) projectAt(folder string) string {
	list := w.projects.List()
	if i := slices.IndexFunc(list, func(p api.Project) bool { return p.Path == folder }); i >= 0 {
		return list[i].ID
	}
	return ""
}

// environ is the host's environment without the keys of providers.
func (w *wiring) environ() []string {
	withheld := w.config.WithheldEnvs()
	return slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(withheld, name)
	})
}
