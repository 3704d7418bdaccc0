package host

import (
	"os"

	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// openBackends makes the programs that can work on turns. They get what config.toml names of the
// host's environment, and nothing of its keys.
func (w *wiring) openBackends() {
	var own []backend.Definition
	for name, b := range w.config.Backends {
		own = append(own, definitionOf(name, b))
	}
	w.backends = backend.New(backend.Options{
		Logger: w.log, Definitions: backend.Merge(own), Environ: os.Environ, Ledger: w.ledger, Version: w.cfg.Version,
		Confine: func(argv []string, dir string, open ...string) []string {
			return w.confine(w.sandbox.WithNetwork(), argv, dir, open...)
		},
		Supervise: w.sandbox.Supervise,
	})
}

func definitionOf(name string, b state.Backend) backend.Definition {
	return backend.Definition{
		Name: name, Command: b.Command, Args: b.Args, Env: b.Env, Mode: b.Mode, Model: b.Model, Asks: b.Asks, Sandbox: b.Sandbox, Writable: b.Writable,
	}
}

func (w *wiring) backendAPI() *backend.Requests {
	return &backend.Requests{Backends: w.backends, MaxMode: w.sessionAPI.MaxMode, Folder: func(projectID string) (string, error) {
		if projectID == "" {
			return machine.UserHome(), nil
		}
		project, err := w.projects.Find(projectID)
		if err == nil && project.Missing {
			err = api.Errorf(api.KindInvalidPath, "the folder %s is missing: restore it", project.Path)
		}
		return project.Path, err
	}}
}
