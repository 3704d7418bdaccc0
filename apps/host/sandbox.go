package host

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/state"
)

// SandboxHelper is the first argument with which a program that runs a host starts
// itself, in order to start a command of an agent.
const SandboxHelper = sandbox.HelperName

// EnterSandbox is what the program does then, with the arguments that follow. It
// becomes the command, and returns only when it failed, with the exit code.
func EnterSandbox(args []string, stderr io.Writer) int { return sandbox.Helper(args, stderr) }

// detectSandbox tries what this machine has.
func detectSandbox(ctx context.Context, paths state.Paths, config state.Sandbox, helper string) *sandbox.Sandbox {
	c := sandbox.Config{Off: config.Off, Network: config.Network, Helper: helper, Hidden: []string{resolveLinks(paths.Home)}, Readable: readableParts(paths)}
	for _, path := range config.Writable {
		if below, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(userHome(), below)
		}
		c.Writable = append(c.Writable, resolveLinks(path))
	}
	return sandbox.Detect(ctx, c)
}

// sandboxStatus tells what holds commands back, and why it is not the strongest.
func (h *Host) sandboxStatus() (kind, note string) {
	k, note := h.sandbox.Kind()
	return string(k), note
}

// Seclude keeps what runs for the same user from reading the environment of this process,
// which holds the keys of providers. A program that runs a host calls it first.
func Seclude() error { return procgroup.Seclude() }
