package procgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// Supervise runs a command and kills every process that it started before it returns. That
// includes processes with their own sessions, which become children of this process when
// their parents end. It does the same when the process that started this one dies. It
// returns the exit code of the command, or 128 plus the number of the signal that killed
// it.
//
// The calling process must not do anything else: Supervise waits for every child.
func Supervise(argv []string) (code int, err error) {
	// The kernel signals the end of the thread that starts the command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, fmt.Errorf("adopting what a command leaves running: %w", err)
	}
	if err := Seclude(); err != nil {
		return 0, err
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return 0, err
	}
	// Package os checks once which kind of process handle works, using a child process of
	// its own. That must happen before we wait for arbitrary children.
	if _, err := os.FindProcess(os.Getpid()); err != nil {
		return 0, err
	}
	parent := os.Getppid()
	signals := make(chan os.Signal, 16)
	// A signal to the whole group is meant for the command. It is handled rather than
	// ignored, because handled signals are reset to their default in the command.
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGPIPE)
	defer signal.Stop(signals)
	if err := tellOfParent(parent, syscall.SIGUSR2); err != nil {
		return 0, err
	}
	pid, err := syscall.ForkExec(program, argv, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return 0, err
	}
	orphaned, ended := make(chan struct{}), make(chan struct{})
	go watchParent(parent, signals, orphaned, ended)
	defer func() { close(ended); <-orphaned }()
	return reap(pid), nil
}

// tellOfParent makes the kernel send a signal to this process, instead of the one that
// would kill it, when the thread that started it ends.
func tellOfParent(parent int, s syscall.Signal) error {
	if _, _, errno := psx.Syscall3(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(s), 0); errno != 0 {
		return fmt.Errorf("requesting a signal for the end of the parent: %w", errno)
	}
	if os.Getppid() != parent {
		return errors.New("the parent process is gone")
	}
	return nil
}

// watchParent kills all descendants when the parent is gone. Other signals are ignored.
func watchParent(parent int, signals <-chan os.Signal, done chan<- struct{}, ended <-chan struct{}) {
	defer close(done)
	for {
		select {
		case <-signals:
			if os.Getppid() != parent {
				endDescendants(os.Getpid())
			}
		case <-ended:
			return
		}
	}
}

// reap waits for the command and every adopted child, and returns the exit code of the
// command. What is still running then is killed.
func reap(command int) (code int) {
	for ended := false; !ended; {
		pid, status, err := wait(0)
		if err != nil {
			return code // no child is left, and so no descendant
		}
		if pid == command {
			if code, ended = status.ExitStatus(), true; status.Signaled() {
				code = signalled + int(status.Signal())
			}
		}
	}
	for deadline := time.Now().Add(endPatience); time.Now().Before(deadline); {
		endDescendants(os.Getpid())
		if _, _, err := wait(syscall.WNOHANG); err != nil {
			break
		}
	}
	return code
}

// wait reaps a child that ended.
func wait(options int) (pid int, status syscall.WaitStatus, err error) {
	for {
		pid, err = syscall.Wait4(-1, &status, options, nil)
		if !errors.Is(err, syscall.EINTR) {
			return pid, status, err
		}
	}
}

// signalled is added to the number of the signal that killed a command.
const signalled = 128

// endDescendants kills every descendant of top, but not top itself, until there are none or
// time is up. A killed process starts nothing, so each round leaves fewer.
func endDescendants(top int) {
	const pause = 2 * time.Millisecond
	for deadline := time.Now().Add(endPatience); time.Now().Before(deadline); {
		all, err := running()
		if err != nil {
			return
		}
		below := descendants(all, top)
		if len(below) == 0 {
			return
		}
		for _, p := range below {
			p.kill()
		}
		time.Sleep(pause)
	}
}

// descendants returns the running descendants of top.
func descendants(all []process, top int) (below []process) {
	children := map[int][]process{}
	for _, p := range all {
		children[p.parent] = append(children[p.parent], p)
	}
	known := map[int]bool{top: true}
	for next := []int{top}; len(next) > 0; next = next[1:] {
		for _, p := range children[next[0]] {
			if known[p.pid] {
				continue
			}
			known[p.pid] = true
			next = append(next, p.pid)
			if !p.dead {
				below = append(below, p)
			}
		}
	}
	return below
}
