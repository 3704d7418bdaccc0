package sandbox_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/scorel/scorel/apps/host/internal/sandbox"
)

// attackName is the first argument that makes this program a malicious command.
const attackName = "attack"

// attacks are what such a command tries. Each returns nil if it succeeded.
var attacks = map[string]func(args []string) error{
	"read by handle": func(args []string) error {
		file, err := openHandle(args, unix.O_RDONLY)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		buffer := make([]byte, 6)
		if _, err := file.Read(buffer); err != nil || string(buffer) != "secret" {
			return fmt.Errorf("read %q, %w", buffer, err)
		}
		return nil
	},
	"write by handle": func(args []string) error {
		file, err := openHandle(args, unix.O_WRONLY)
		if err != nil {
			return err
		}
		_, err = file.WriteString("stolen")
		return errors.Join(err, file.Close())
	},
	"make a handle": func([]string) error {
		_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, "/", 0)
		return err
	},
	"set the clock": func([]string) error {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
			return err
		}
		return unix.ClockSettime(unix.CLOCK_REALTIME, &now)
	},
	"name the machine": func([]string) error {
		name, err := os.Hostname()
		if err != nil {
			return err
		}
		return unix.Sethostname([]byte(name))
	},
	"make a device":   func([]string) error { return unix.Mknod("device", unix.S_IFCHR|0o600, 1<<8|3) },
	"mount":           func([]string) error { return unix.Mount("none", ".", "tmpfs", 0, "") },
	"remount":         func([]string) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") },
	"unmount":         func([]string) error { return unix.Unmount("/proc", unix.MNT_DETACH) },
	"change the root": func([]string) error { return unix.Chroot(".") },
	"make namespaces": func([]string) error {
		return exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").Run()
	},
	"clone namespaces":  func([]string) error { return cloned(unix.CLONE_NEWUSER | unix.CLONE_NEWNS) },
	"enter a namespace": enterNamespace,
	"read the keyring": func([]string) error {
		_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_SESSION_KEYRING, false)
		return err
	},
	"keep a key": func([]string) error {
		_, err := unix.AddKey("user", "scorel", []byte("x"), unix.KEY_SPEC_SESSION_KEYRING)
		return err
	},
	"load a module":      func([]string) error { return notRefused(unix.FinitModule(-1, "", 0)) },
	"load a program":     func([]string) error { return notRefused(call(unix.SYS_BPF, ^uintptr(0))) },
	"watch the machine":  func([]string) error { return notRefused(call(unix.SYS_PERF_EVENT_OPEN, 0)) },
	"use a second way":   func([]string) error { return notRefused(call(unix.SYS_IO_URING_SETUP, 1)) },
	"handle page faults": func([]string) error { return notRefused(call(unix.SYS_USERFAULTFD, ^uintptr(0))) },
	"type in a terminal": func([]string) error { return notRefused(call(unix.SYS_IOCTL, ^uintptr(0), 0x5412)) },
	"type, with more bits": func([]string) error {
		return notRefused(call(unix.SYS_IOCTL, ^uintptr(0), uintptr(1<<32|0x5412)))
	},
	"call by the second numbers": func([]string) error { return notRefused(call(0x40000000|unix.SYS_CHROOT, 0)) },
	"have capabilities": func([]string) error {
		status, err := os.ReadFile("/proc/self/status")
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			left := strings.Trim(value, "0 \t\n") != ""
			if err == nil && left && (strings.HasPrefix(name, "CapE") || strings.HasPrefix(name, "CapP") || strings.HasPrefix(name, "CapB") && os.Getuid() == 0) {
				return nil
			}
		}
		return errors.Join(err, errors.New("there is none"))
	},
}

func attack(name string, args []string) int {
	if err := attacks[name](args); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func call(number int, args ...uintptr) error {
	var all [3]uintptr
	copy(all[:], args)
	if _, _, errno := unix.Syscall(uintptr(number), all[0], all[1], all[2]); errno != 0 {
		return errno
	}
	return nil
}

// notRefused reports whether the kernel looked at the bad arguments of a call.
func notRefused(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		return err
	}
	return nil
}

func cloned(flags uintptr) error {
	cmd := exec.Command("true")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: flags, UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	return cmd.Run()
}

func enterNamespace([]string) error {
	file, err := os.Open("/proc/self/ns/uts")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	return notRefused(unix.Setns(int(file.Fd()), 0))
}

// openHandle opens the file that a handle names: its arguments are a folder of the same
// file system, the type of the handle and its bytes.
func openHandle(args []string, flags int) (*os.File, error) {
	mount, err := os.Open(args[0])
	if err != nil {
		return nil, err
	}
	defer func() { _ = mount.Close() }()
	kind, err := strconv.Atoi(args[1])
	if err != nil {
		return nil, err
	}
	data, err := hex.DecodeString(args[2])
	if err != nil {
		return nil, err
	}
	fd, err := unix.OpenByHandleAt(int(mount.Fd()), unix.NewFileHandle(int32(kind), data), flags)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "handle"), nil
}

// handleOf returns the arguments of openHandle for a path.
func handleOf(t *testing.T, folder, path string) []string {
	t.Helper()
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		t.Fatal(err)
	}
	return []string{folder, strconv.Itoa(int(handle.Type())), hex.EncodeToString(handle.Bytes())}
}

// TestNoRightOfTheHostIsLeft: a command of a host that runs as root has no more privileges
// than one of an ordinary user, and neither escapes the sandbox.
func TestNoRightOfTheHostIsLeft(t *testing.T) {
	for _, kind := range []sandbox.Kind{sandbox.Both, sandbox.Landlock} {
		if kind == sandbox.Landlock {
			t.Setenv("PATH", withoutBwrap(t))
		}
		for user, who := range users() {
			w := newWorld(t)
			s := detect(t, kind, sandbox.Config{Helper: w.helper, Network: true, Hidden: []string{w.hidden}})
			for name := range attacks {
				t.Run(fmt.Sprintf("%s in %s as %s", name, kind, user), func(t *testing.T) {
					path := filepath.Join(w.hidden, "key")
					if name == "write by handle" {
						path = filepath.Join(w.outside, "f")
					}
					words := append([]string{w.helper, attackName, name}, handleOf(t, w.project, path)...)
					out, err := run(t, s, w, who, "'"+strings.Join(words, "' '")+"'")
					if exitCode(err) != 1 {
						t.Errorf("it was not refused: %v %s", err, out)
					}
				})
			}
			if data, err := os.ReadFile(filepath.Join(w.outside, "f")); err != nil || string(data) != "secret" {
				t.Errorf("the file outside is %q, %v", data, err)
			}
		}
	}
}

// TestForeignCallsAreNotMade: a 32-bit program numbers its calls differently, and the
// filter does not know those numbers.
func TestForeignCallsAreNotMade(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		return // other processors with a filter cannot run such a program
	}
	w := newWorld(t)
	path := filepath.Join(w.project, "small")
	if err := os.WriteFile(path, smallProgram(), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []sandbox.Kind{sandbox.Both, sandbox.Landlock} {
		s := detect(t, kind, sandbox.Config{Helper: w.helper})
		if out, err := run(t, s, w, nil, "./small"); err == nil {
			t.Errorf("%s: it ran: %s", kind, out)
		}
	}
}

// smallProgram is a 32-bit program that exits with code 0.
func smallProgram() []byte {
	const base, headers = 0x10000, 52 + 32
	code := []byte{0xb8, 1, 0, 0, 0, 0x31, 0xdb, 0xcd, 0x80} // exit(0) by int 0x80
	size := uint32(headers + len(code))
	header := struct {
		Ident                                    [16]byte
		Type, Machine                            uint16
		Version, Entry, Phoff, Shoff, Flags      uint32
		Ehsize, Phentsize, Phnum, Sh1, Sh2, Sh3  uint16
		PType, Offset, Vaddr, Paddr, Filesz, Mem uint32
		PFlags, Align                            uint32
	}{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 1, 1, 1}, Type: 2, Machine: 3, Version: 1, Entry: base + headers, Phoff: 52,
		Ehsize: 52, Phentsize: 32, Phnum: 1, PType: 1, Vaddr: base, Paddr: base, Filesz: size, Mem: size, PFlags: 5, Align: 0x1000,
	}
	return append(unsafe.Slice((*byte)(unsafe.Pointer(&header)), headers), code...)
}

// TestASocketOutOfReachBreaksNothing: a socket of a service manager or a terminal that the
// command's user cannot reach, such as another user's, needs no cover.
func TestASocketOutOfReachBreaksNothing(t *testing.T) {
	for name, who := range users() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			runtime, terminals := filepath.Join(w.outside, "run"), filepath.Join(w.outside, "tmp")
			t.Setenv("XDG_RUNTIME_DIR", runtime)
			t.Setenv("TMUX_TMPDIR", terminals)
			for path, owner := range map[string]int{
				filepath.Join(runtime, "bus"):                                            65533,
				filepath.Join(terminals, fmt.Sprintf("tmux-%d", os.Getuid()), "default"): os.Getuid(),
				filepath.Join(runtime, "systemd", "private"):                             65533,
			} {
				listenIn(t, path, owner)
			}
			s := detect(t, sandbox.Both, sandbox.Config{Helper: w.helper})
			if out, err := run(t, s, w, who, "true"); err != nil {
				t.Errorf("the command was not run: %v %s", err, out)
			}
		})
	}
}

// TestASandboxThatDoesNotHoldIsNotCalledStrong: a bubblewrap that runs commands unconfined
// is detected.
func TestASandboxThatDoesNotHoldIsNotCalledStrong(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	fake := "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift\nexec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	s := sandbox.Detect(t.Context(), sandbox.Config{Helper: w.helper, Hidden: []string{w.hidden}})
	kind, note := s.Kind()
	if kind != sandbox.Landlock || !strings.Contains(note, "does not refuse") || !strings.Contains(note, "namespace") || !strings.Contains(note, "open_by_handle_at") {
		t.Errorf("it is called %s (%s)", kind, note)
	}
}
