// Package sandbox runs commands that can write to their project and to a few
// folders besides, and to nothing else. With bubblewrap a command has a view of the
// file system of its own, read-only but for those folders, without the host's own
// keys, and processes of its own; inside, Landlock holds again. Where there is no
// bubblewrap, Landlock alone is weaker: rights and times of files can still be
// changed by who owns them, keys are readable, and only TCP can be cut off. What
// holds is tried out at the start and reported as it is.
//
// The command is started through a helper, which is this same program with
// HelperName as its first argument: it takes the rights away from itself and becomes
// the command.
//
// SIGTERM to the process group of a wrapped command reaches the command and not what
// holds it, so that it can end by itself; SIGKILL ends all of it.
package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// HelperName is the first argument that makes the program the helper.
const HelperName = "sandbox-exec"

// Kind says what holds commands back.
type Kind string

const (
	Both     Kind = "bubblewrap+landlock"
	Landlock Kind = "landlock"
	None     Kind = "none"
)

// Config says what commands may do.
type Config struct {
	Off      bool
	Network  bool
	Writable []string // absolute folders besides the project; those that are not there are left out
	Hidden   []string // absolute folders that commands do not see; with bubblewrap only
	Readable []string // absolute parts of them that commands see, and cannot change
	Helper   string   // absolute path of the program; "" has none, and so no sandbox
}

// Sandbox wraps commands. The zero value leaves them as they are.
type Sandbox struct {
	config Config
	kind   Kind
	note   string
	bwrap  string
	shell  string // starts bubblewrap deaf to SIGTERM
	abi    int    // version of Landlock in the kernel
}

// Kind returns what holds commands back, and why it is not the strongest.
func (s *Sandbox) Kind() (kind Kind, note string) { return s.kind, s.note }

// Network says what of the network commands reach.
type Network string

const (
	NetworkOpen   Network = "open"
	NetworkNoTCP  Network = "no_tcp" // all but TCP: Landlock alone can cut off no more
	NetworkClosed Network = "closed"
)

// Reach is what commands reach in truth, whatever was asked for.
type Reach struct {
	Network  Network
	Writable []string // folders besides the project, as they are there now
	Missing  []string // folders that were asked for and are not there
	Exposed  []string // hidden folders that commands can write to, for they lie in one of Writable
}

// Reach tells what holds now. Without a sandbox nothing is held back, and the
// network alone is told.
func (s *Sandbox) Reach() Reach {
	r := Reach{Network: NetworkOpen}
	if s == nil || s.kind == None || s.kind == "" {
		return r
	}
	r.Writable = folders(s.config.Writable)
	for _, path := range s.config.Writable {
		if !slices.Contains(r.Writable, path) {
			r.Missing = append(r.Missing, path)
		}
	}
	if s.kind == Landlock {
		r.Exposed = slices.DeleteFunc(existing(s.config.Hidden), func(path string) bool {
			return !slices.ContainsFunc(r.Writable, func(folder string) bool { return Within(folder, path) })
		})
	}
	switch {
	case s.config.Network:
	case s.kind == Both:
		r.Network = NetworkClosed
	case s.abi >= abiNetwork:
		r.Network = NetworkNoTCP
	}
	return r
}

// abiNetwork is the version of Landlock that can first cut off TCP.
const abiNetwork = 4

// Within tells whether an absolute path is folder or lies in it.
func Within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// limits are what the helper takes away.
type limits struct {
	Writable []string `json:"writable"`
	Network  bool     `json:"network"`
}

// Wrap returns the command line that runs argv in dir, which it may write to, as it
// may to open, folders of which some may lie in hidden ones.
func (s *Sandbox) Wrap(argv []string, dir string, open ...string) []string {
	if s == nil || s.kind == None || s.kind == "" {
		return argv
	}
	writable := append([]string{dir}, folders(append(slices.Clip(open), s.config.Writable...))...)
	encoded, err := json.Marshal(limits{Writable: writable, Network: s.config.Network})
	if err != nil { // texts and a truth value always encode
		return []string{"false"}
	}
	inner := append([]string{s.config.Helper, HelperName, string(encoded)}, argv...)
	if s.kind == Landlock {
		return inner
	}
	return append(s.view(dir, open), inner...)
}

// deaf starts a program that ignores SIGTERM. One to the group would end bubblewrap,
// and with it at once every process inside, where the command is to end by itself
// first. The command hears it: a Go program, as the helper is one, handles SIGTERM
// even where it came to be ignored, and what is handled is back to its default in
// the program that it becomes.
const deaf = `trap "" TERM; exec "$@"`

// view is the command line of bubblewrap: later mounts lie over earlier ones.
func (s *Sandbox) view(dir string, open []string) []string {
	args := []string{
		s.shell, "-c", deaf, "sh", s.bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm",
	}
	if !s.config.Network {
		args = append(args, "--unshare-net")
	}
	bind := func(flag string, paths ...string) {
		for _, path := range paths {
			args = append(args, flag, path, path)
		}
	}
	// What is hidden may lie in what is written to, as where the project is a home folder.
	bind("--bind", append(folders(s.config.Writable), dir)...)
	for _, path := range existing(s.config.Hidden) {
		args = append(args, "--tmpfs", path)
	}
	bind("--ro-bind", existing(s.config.Readable)...)
	bind("--bind", folders(open)...)
	bind("--ro-bind", existing([]string{filepath.Join(dir, ".git", "hooks"), s.config.Helper})...)
	for _, path := range existing(starters()) {
		args = append(args, "--ro-bind", "/dev/null", path)
	}
	return append(args, "--chdir", dir, "--")
}

// starters are sockets behind which somebody runs, outside of the sandbox, what they are
// told to: the service manager of the user, and terminals that go on without a window.
func starters() []string {
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if runtime == "" {
		runtime = fmt.Sprintf("/run/user/%d", os.Getuid())
	}
	terminals := os.Getenv("TMUX_TMPDIR")
	if terminals == "" {
		terminals = "/tmp"
	}
	sockets := []string{filepath.Join(runtime, "bus"), filepath.Join(runtime, "systemd", "private")}
	more, err := filepath.Glob(filepath.Join(terminals, fmt.Sprintf("tmux-%d", os.Getuid()), "*"))
	if err != nil { // the pattern is well formed, unless a variable makes it otherwise
		return sockets
	}
	return append(sockets, more...)
}

func existing(paths []string) []string {
	var out []string
	for _, path := range paths {
		if _, err := os.Stat(path); err == nil {
			out = append(out, path)
		}
	}
	return out
}

// folders are those of paths that are there and are folders.
func folders(paths []string) []string {
	return slices.DeleteFunc(existing(paths), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}
