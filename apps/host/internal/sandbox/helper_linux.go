package sandbox

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// exitHelper is the exit code when the command could not be started as asked.
const exitHelper = 126

// Helper is the program as the helper: args are the limits and the command. It
// returns only when it failed, with the exit code.
func Helper(args []string, stderr io.Writer) int {
	if err := become(args); err != nil {
		_, _ = fmt.Fprintln(stderr, "scorel: the sandbox could not be entered, and the command was not run:", err)
	}
	return exitHelper
}

func become(args []string) error {
	var l limits
	if len(args) < 2 {
		return fmt.Errorf("%s is for scorel's own use", HelperName)
	}
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return fmt.Errorf("reading the limits: %w", err)
	}
	program, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	config := landlock.V5.BestEffort()
	err = config.RestrictPaths(
		landlock.RODirs("/"),
		landlock.RWDirs(existing([]string{"/dev/pts", "/dev/shm"})...).WithIoctlDev(),
		landlock.RWFiles(existing([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"})...).WithIoctlDev(),
		landlock.RWDirs(l.Writable...).WithRefer(),
	)
	if err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if !l.Network {
		if err := config.RestrictNet(); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
	}
	return syscall.Exec(program, args[1:], os.Environ())
}
