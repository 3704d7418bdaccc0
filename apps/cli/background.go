package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/logfile"
	"github.com/scorel/scorel/apps/host"
)

// startTimeout bounds how long a host in the background may take to become ready.
const startTimeout = 30 * time.Second

// hostLogName is the log of a host in the background, in the home.
const hostLogName = "host.log"

// ensureHost starts the host of this machine in the background unless one is running.
func ensureHost(ctx context.Context, env *environment) (started bool, err error) {
	home, err := env.home()
	if err != nil {
		return false, err
	}
	if _, err := host.ReadState(home); !errors.Is(err, host.ErrNoHost) {
		return false, err
	}
	if err := startHost(ctx, home); err != nil {
		if _, running := host.ReadState(home); running == nil { // another command was faster
			return false, nil
		}
		return false, err
	}
	return true, nil
}

// startHost starts a host that outlives this command, and returns when it is ready.
func startHost(ctx context.Context, home string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program, which runs the host: %w", err)
	}
	path := filepath.Join(home, hostLogName)
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of the host: %w", err)
	}
	defer log.Close()
	before, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Errorf("opening the log of the host: %w", err)
	}
	cmd := exec.Command(program, "host", "serve", "--background", "--json", "--log-level", "warn", "--home", home)
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = home, log, detached()
	ready, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("starting the host: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the host: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = ready.Close() })()
	line, err := bufio.NewReader(ready).ReadBytes('\n')
	var state struct {
		Ready bool `json:"ready"`
	}
	if err == nil && json.Unmarshal(line, &state) == nil && state.Ready {
		return cmd.Process.Release() // it runs on without this command
	}
	if ctx.Err() != nil {
		_ = cmd.Process.Kill() // it never became ready
	}
	_ = cmd.Wait() // its log says why
	return sayf(errUnreachable, "the host did not start: %s", lastLine(path, before))
}

// lastLine returns the end of what a log got after an offset, for a message.
func lastLine(path string, after int64) string {
	file, err := os.Open(path)
	if err != nil {
		return "see " + path
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.NewSectionReader(file, after, logfile.Limit))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if last := lines[len(lines)-1]; err == nil && last != "" {
		return strings.TrimPrefix(last, "scorel: ")
	}
	return "see " + path
}
