//go:build !windows

package terminal

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// start runs the user's login shell in a folder on a new pseudo-terminal, as the leader of
// its own session. The returned end of the terminal can be closed while it is read.
func start(cwd string, environ []string, cols, rows int) (*exec.Cmd, *os.File, error) {
	shell := loginShell(environ)
	cmd := exec.Command(shell)
	cmd.Args = []string{"-" + filepath.Base(shell)} // the sign of a login shell
	cmd.Dir = cwd
	cmd.Env = append(environ, "TERM=xterm-256color", "COLORTERM=truecolor", "SHELL="+shell)
	blocking, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
	if err != nil {
		return nil, nil, fmt.Errorf("starting %s: %w", shell, err)
	}
	master, err := pollable(blocking)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, nil, err
	}
	return cmd, master, nil
}

// pollable replaces a file that blocks, as package pty returns it, by one whose Close ends a
// Read and a Write.
func pollable(blocking *os.File) (*os.File, error) {
	defer func() { _ = blocking.Close() }()
	fd, err := unix.FcntlInt(blocking.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("copying the terminal's file: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("setting up the terminal's file: %w", err)
	}
	return os.NewFile(uintptr(fd), blocking.Name()), nil
}

// setSize tells the terminal its size. The system notifies the program in it.
func setSize(master *os.File, cols, rows int) error {
	raw, err := master.SyscallConn()
	if err != nil {
		return err
	}
	var setErr error
	err = raw.Control(func(fd uintptr) {
		setErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(cols), Row: uint16(rows)})
	})
	return errors.Join(err, setErr)
}

// loginShell returns the shell that SHELL names, or that of the user database, or sh.
func loginShell(environ []string) string {
	for _, shell := range []string{variable(environ, "SHELL"), shellOf("/etc/passwd", os.Getuid())} {
		if info, err := os.Stat(shell); err == nil && filepath.IsAbs(shell) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return shell
		}
	}
	return "/bin/sh"
}

func variable(environ []string, name string) (value string) {
	for _, pair := range environ {
		if found, ok := strings.CutPrefix(pair, name+"="); ok {
			value = found // the last one counts
		}
	}
	return value
}

// shellOf reads the shell of a user from a file in the format of passwd(5); "" if there is
// none.
func shellOf(path string, uid int) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); len(fields) == 7 && fields[2] == strconv.Itoa(uid) {
			return fields[6]
		}
	}
	return ""
}

// signalName returns the name of the signal that ended a process, or "".
func signalName(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return ""
	}
	return cmp.Or(unix.SignalName(status.Signal()), status.Signal().String())
}
