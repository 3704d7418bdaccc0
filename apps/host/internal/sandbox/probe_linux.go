package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// expected is what must hold inside the sandbox.
type expected struct {
	// Closed are paths at which no file can be created.
	Closed []string `json:"closed"`
	// Gone are paths that must not exist.
	Gone []string `json:"gone,omitempty"`
	// Apart are the namespaces outside, by name, from which those inside must differ.
	Apart map[string]string `json:"apart,omitempty"`
	// Filter reports that system calls are filtered; Bound that no capability can be
	// regained.
	Filter bool `json:"filter"`
	Bound  bool `json:"bound"`
}

// namespaces are those that bubblewrap creates, named as in /proc/self/ns.
var namespaces = []string{"user", "mnt", "pid", "uts", "ipc"}

// probe tries, from inside the sandbox, what the sandbox must refuse, and reports what was
// not refused.
func probe(text string, stderr io.Writer) (code int, err error) {
	var e expected
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return 0, fmt.Errorf("reading what is expected: %w", err)
	}
	held, err := e.broken()
	if err != nil {
		return 0, err
	}
	if len(held) == 0 {
		return 0, nil
	}
	_, _ = fmt.Fprintf(stderr, "it does not refuse: %s\n", strings.Join(held, ", "))
	return 1, nil
}

// broken returns the names of what does not hold.
func (e expected) broken() (names []string, err error) {
	status, err := os.ReadFile("/proc/thread-self/status")
	if err != nil {
		return nil, fmt.Errorf("reading the capabilities of this process: %w", err)
	}
	names = heldRights(status, e.Bound)
	for _, path := range e.Closed {
		if file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
			_, _ = file.Close(), os.Remove(path) // it is empty
			names = append(names, "writing to "+path)
		}
	}
	for _, path := range e.Gone {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			names = append(names, "looking at "+path)
		}
	}
	for _, name := range namespaces {
		if outside, ok := e.Apart[name]; ok {
			if inside, err := os.Readlink("/proc/self/ns/" + name); err != nil || inside == outside {
				names = append(names, "the "+name+" namespace of the host")
			}
		}
	}
	if e.Filter {
		names = append(names, openCalls()...)
	}
	return names, nil
}

// heldRights names the remaining privileges according to /proc/self/status.
func heldRights(status []byte, bound bool) (names []string) {
	want := map[string]string{"NoNewPrivs": "1"}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		want[set] = strings.Repeat("0", 16)
	}
	if bound {
		want["CapBnd"] = strings.Repeat("0", 16)
	}
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if w, ok := want[string(name)]; ok && string(bytes.TrimSpace(value)) != w {
			names = append(names, "capabilities ("+string(name)+")")
		}
	}
	return names
}

// openCalls makes every call that the filter refuses, with invalid arguments: a refused
// call fails with EPERM or ENOSYS, any other with another error and without harm.
func openCalls() (names []string) {
	const wrong = ^uintptr(0)
	try := func(name string, call int, args [3]uintptr) {
		_, _, errno := unix.Syscall6(uintptr(call), args[0], args[1], args[2], wrong, wrong, wrong)
		if errno != unix.EPERM && errno != unix.ENOSYS {
			names = append(names, name)
		}
	}
	table, _ := callTable()
	for _, calls := range []map[string]int{refused, table.other} {
		for name, call := range calls {
			try(name, call, [3]uintptr{wrong, wrong, wrong})
		}
	}
	try("clone3", unix.SYS_CLONE3, [3]uintptr{wrong, wrong, wrong})
	// The kernel rejects this combination of flags, so nothing is started.
	try("clone", unix.SYS_CLONE, [3]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS, 0, 0})
	try("unshare", unix.SYS_UNSHARE, [3]uintptr{unix.CLONE_NEWUSER | unix.CLONE_THREAD, 0, 0})
	for _, request := range []uintptr{tiocsti, tioclinux} {
		try("ioctl", unix.SYS_IOCTL, [3]uintptr{wrong, request, wrong})
	}
	try("mknodat", unix.SYS_MKNODAT, [3]uintptr{wrong, wrong, unix.S_IFCHR})
	slices.Sort(names)
	return slices.Compact(names)
}
