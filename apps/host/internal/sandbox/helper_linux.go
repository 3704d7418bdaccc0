package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
)

// exitHelper is the exit code when the command could not be started as asked.
const exitHelper = 126

// Helper runs the program as the helper: args are a role and its arguments. In the roles
// that execute the command it returns only on failure, with the exit code.
func Helper(args []string, stderr io.Writer) int {
	// Restrictions belong to a thread, and exec keeps those of the calling thread.
	runtime.LockOSThread()
	code, err := play(args, stderr)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "scorel: the sandbox could not be set up, and the command was not run:", err)
		return exitHelper
	}
	return code
}

func play(args []string, stderr io.Writer) (code int, err error) {
	if len(args) < 2 {
		return 0, fmt.Errorf("%s is for internal use by scorel", HelperName)
	}
	switch role, rest := args[0], args[1:]; role {
	case roleHold:
		return 0, hold(rest)
	case roleEnter:
		return 0, enter(rest)
	case roleSupervise:
		return procgroup.Supervise(rest)
	case roleProbe:
		return probe(rest[0], stderr)
	default:
		return 0, fmt.Errorf("%s: unknown role %q", HelperName, role)
	}
}

// hold executes bubblewrap with the system call filter. bubblewrap ignores SIGTERM: a
// signal to the group would otherwise end it, and with it immediately every process inside,
// although the command should exit on its own first. The command does get the signal: a Go
// program, such as the helper inside, handles SIGTERM even if it was ignored before, and a
// handled signal is reset to its default in the program that it executes.
func hold(args []string) error {
	var v view
	if err := json.Unmarshal([]byte(args[0]), &v); err != nil {
		return fmt.Errorf("reading the view: %w", err)
	}
	reached, err := reachable(v.Cover)
	if err != nil {
		return err
	}
	filter, err := filterFile()
	if err != nil {
		return err
	}
	argv := append([]string{v.Program, "--seccomp", strconv.Itoa(int(filter.Fd()))}, v.Args...)
	for _, path := range reached {
		argv = append(argv, "--ro-bind", "/dev/null", path)
	}
	argv = append(append(argv, "--chdir", v.Dir, "--"), args[1:]...)
	signal.Ignore(syscall.SIGTERM)
	err = syscall.Exec(v.Program, argv, os.Environ())
	runtime.KeepAlive(filter)
	return fmt.Errorf("starting bubblewrap: %w", err)
}

// enter applies the restrictions that the limits name, and executes the command.
func enter(args []string) error {
	var l limits
	if err := json.Unmarshal([]byte(args[0]), &l); err != nil {
		return fmt.Errorf("reading the limits: %w", err)
	}
	if len(args) < 2 {
		return errors.New("the command is missing")
	}
	program, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	if err := restrict(l); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if l.Filter {
		if err := installFilter(); err != nil {
			return err
		}
	}
	return syscall.Exec(program, args[1:], os.Environ())
}

// restrict applies Landlock to writing and, if the kernel supports it, to signals to
// processes outside the sandbox, their abstract sockets, and TCP.
func restrict(l limits) error {
	config := landlock.V6.BestEffort()
	err := config.RestrictPaths(
		landlock.RODirs("/"),
		landlock.RWDirs(existing([]string{"/dev/pts", "/dev/shm"})...).WithIoctlDev(),
		landlock.RWFiles(existing([]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"})...).WithIoctlDev(),
		landlock.RWDirs(l.Writable...).WithRefer(),
	)
	if err == nil {
		err = config.RestrictScoped()
	}
	if err == nil && !l.Network {
		err = config.RestrictNet()
	}
	return err
}
