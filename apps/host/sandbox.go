package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// SandboxHelper is the first argument with which a program that runs a host starts
// itself, in order to start a command of an agent.
const SandboxHelper = sandbox.HelperName

// EnterSandbox runs the command of an agent in place of the program, with the arguments
// behind SandboxHelper. It returns only after a failure, with the exit code.
func EnterSandbox(args []string, stderr io.Writer) int { return sandbox.Helper(args, stderr) }

// detectSandbox finds the strongest sandbox of this machine. The error is about a folder of
// config.toml that commands must not write to.
func detectSandbox(ctx context.Context, paths state.Paths, config state.Sandbox, helper string) (*sandbox.Sandbox, error) {
	home := machine.ResolveLinks(paths.Home)
	c := sandbox.Config{Off: config.Off, Network: config.Network, Helper: helper, Hidden: []string{home}, Readable: machine.ReadableParts(paths)}
	for _, given := range config.Writable {
		path := given
		if below, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(machine.UserHome(), below)
		}
		path = machine.ResolveLinks(path)
		if sandbox.Within(home, path) {
			return nil, fmt.Errorf("%s: sandbox.writable: %s is in scorel's own folder, which commands cannot see: choose another folder", paths.Config(), given)
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s: sandbox.writable: %s is a file: use its folder instead", paths.Config(), given)
		}
		c.Writable = append(c.Writable, path)
	}
	return sandbox.Detect(ctx, c), nil
}

// SecretVariables are the environment variables whose values other processes must not see:
// keys of providers, and addresses of databases. If config.toml cannot be read, they are
// the usual ones; starting the host reports the error.
func SecretVariables(home string, getenv func(string) string) []string {
	config, err := state.LoadConfig(state.Paths{Home: home}.Config(), getenv)
	if err != nil {
		config = state.Config{}
	}
	return config.WithheldEnvs()
}

// Seclude prevents other processes of the same user from reading the environment of this
// process, which holds the keys of providers. A program that runs a host calls it first.
func Seclude() error { return procgroup.Seclude() }
