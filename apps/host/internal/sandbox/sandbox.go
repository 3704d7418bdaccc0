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
package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
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
}

// Kind returns what holds commands back, and why it is not the strongest.
func (s *Sandbox) Kind() (kind Kind, note string) { return s.kind, s.note }

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
	writable := append([]string{dir}, existing(append(open, s.config.Writable...))...)
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

// view is the command line of bubblewrap: later mounts lie over earlier ones.
func (s *Sandbox) view(dir string, open []string) []string {
	args := []string{
		s.bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm",
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
	bind("--bind", append(existing(s.config.Writable), dir)...)
	for _, path := range existing(s.config.Hidden) {
		args = append(args, "--tmpfs", path)
	}
	bind("--ro-bind", existing(s.config.Readable)...)
	bind("--bind", existing(open)...)
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
