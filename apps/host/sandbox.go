package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// SandboxHelper is the first argument with which a program that runs a host starts
// itself, in order to start a command of an agent.
const SandboxHelper = sandbox.HelperName

// EnterSandbox is what the program does then, with the arguments that follow. It
// becomes the command, and returns only when it failed, with the exit code.
func EnterSandbox(args []string, stderr io.Writer) int { return sandbox.Helper(args, stderr) }

// detectSandbox tries what this machine has. An error says that a folder of
// config.toml cannot be one that commands write to.
func detectSandbox(ctx context.Context, paths state.Paths, config state.Sandbox, helper string) (*sandbox.Sandbox, error) {
	home := resolveLinks(paths.Home)
	c := sandbox.Config{Off: config.Off, Network: config.Network, Helper: helper, Hidden: []string{home}, Readable: readableParts(paths)}
	for _, given := range config.Writable {
		path := given
		if below, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(userHome(), below)
		}
		path = resolveLinks(path)
		if sandbox.Within(home, path) {
			return nil, fmt.Errorf("%s: sandbox.writable: %s lies in scorel's own folder, which commands do not see: name another", paths.Config(), given)
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return nil, fmt.Errorf("%s: sandbox.writable: %s is a file: name the folder that it lies in", paths.Config(), given)
		}
		c.Writable = append(c.Writable, path)
	}
	return sandbox.Detect(ctx, c), nil
}

// sandboxLimits tells what commands reach, or nil where nothing holds them back.
func (h *Host) sandboxLimits() *api.SandboxLimits {
	if kind, _ := h.sandbox.Kind(); kind == sandbox.None {
		return nil
	}
	reach := h.sandbox.Reach()
	return &api.SandboxLimits{
		Network: string(reach.Network), Writable: append([]string{}, reach.Writable...),
		Missing: reach.Missing, Exposed: reach.Exposed,
	}
}

// sandboxStatus tells what holds commands back, and why it is not the strongest.
func (h *Host) sandboxStatus() (kind, note string) {
	k, note := h.sandbox.Kind()
	return string(k), note
}

// Seclude keeps what runs for the same user from reading the environment of this process,
// which holds the keys of providers. A program that runs a host calls it first.
func Seclude() error { return procgroup.Seclude() }
