// Package sandbox runs commands that can write only to their project and to a few other
// folders. With bubblewrap, a command has its own view of the file system, which is
// read-only except for those folders and does not contain the host's own keys, and its own
// user, process, IPC and UTS namespaces; Landlock applies inside as well. Without
// bubblewrap, Landlock alone is weaker: the owner of files can still change their
// permissions and times, keys are readable, and of the network only TCP can be cut off. In
// both cases commands have no capabilities, even if the host runs as root, and a filter
// refuses system calls that change the machine or the sandbox. At startup the sandbox is
// tested by making the calls that must fail, and the result is reported as it is.
//
// A command is started through a helper, which is this same program with HelperName as its
// first argument and a role as the second: it executes bubblewrap, restricts itself and
// executes the command, or supervises it.
//
// SIGTERM to the process group of a wrapped command reaches the command but not bubblewrap,
// so that the command can exit on its own. On Linux nothing that a command started outlives
// it: with bubblewrap by its process namespace, otherwise by its supervisor
// (procgroup.Supervise).
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

// Roles of the helper.
const (
	roleHold      = "hold"      // a view, and then the command: executes bubblewrap
	roleEnter     = "enter"     // limits, and then the command: executes the command
	roleSupervise = "supervise" // the command: runs it, and kills what it leaves running
	roleProbe     = "probe"     // expectations: checks whether they hold
)

// Kind is what confines commands.
type Kind string

const (
	Both     Kind = "bubblewrap+landlock"
	Landlock Kind = "landlock"
	None     Kind = "none"
)

// Config configures what commands may do.
type Config struct {
	Off      bool
	Network  bool
	Writable []string // absolute folders besides the project; missing ones are left out
	Hidden   []string // absolute folders hidden from commands; only with bubblewrap
	Readable []string // absolute parts of Hidden that commands can read but not change
	Helper   string   // absolute path of the program; "" means no helper, and so no sandbox
	// Protected are absolute folders that stay read-only inside a writable one, unless they are,
	// or are above, one of Writable; only with bubblewrap.
	Protected []string
}

// Sandbox wraps commands. The zero value leaves them unchanged.
type Sandbox struct {
	config Config
	kind   Kind
	note   string
	bwrap  string
	abi    int // version of Landlock in the kernel
	// noUserns makes bubblewrap refuse further user namespaces; supervised reports that the
	// helper can supervise commands.
	noUserns, supervised bool
}

// Kind returns what confines commands, and why it is not the strongest sandbox.
func (s *Sandbox) Kind() (kind Kind, note string) { return s.kind, s.note }

// Network is how much of the network commands can reach.
type Network string

const (
	NetworkOpen   Network = "open"
	NetworkNoTCP  Network = "no_tcp" // everything but TCP: Landlock alone cannot cut off more
	NetworkClosed Network = "closed"
)

// Reach is what commands can actually reach, whatever was configured.
type Reach struct {
	Network  Network
	Writable []string // folders besides the project that currently exist
	Missing  []string // configured folders that do not exist
	Exposed  []string // hidden folders that commands can write to, because they are inside one of Writable
}

// Reach returns what applies now. Without a sandbox nothing is confined, and only the
// network is reported.
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

// abiNetwork is the first version of Landlock that can cut off TCP.
const abiNetwork = 4

// Within reports whether an absolute path is folder or is inside it.
func Within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// limits are the restrictions that the helper applies.
type limits struct {
	Writable []string `json:"writable"`
	Network  bool     `json:"network"`
	Filter   bool     `json:"filter,omitempty"` // system calls, if bubblewrap does not filter them
}

// view is the file system that bubblewrap shows.
type view struct {
	Program string   `json:"program"` // bubblewrap itself
	Args    []string `json:"args"`
	Cover   []string `json:"cover,omitempty"` // files that are covered, if they can be reached
	Dir     string   `json:"dir"`
}

// Wrap returns the command line that runs argv in dir. The command may write to dir and to
// the folders in open, some of which may be inside hidden ones.
func (s *Sandbox) Wrap(argv []string, dir string, open ...string) []string {
	if s == nil || s.kind == "" {
		return argv
	}
	if s.kind == None {
		return s.Supervise(argv)
	}
	writable := append([]string{dir}, folders(append(slices.Clip(open), s.config.Writable...))...)
	limited, err := json.Marshal(limits{Writable: writable, Network: s.config.Network, Filter: s.kind == Landlock})
	if err != nil { // cannot fail: strings and Booleans can always be encoded
		return []string{"false"}
	}
	inner := s.helper(roleEnter, append([]string{string(limited)}, argv...))
	if s.kind == Landlock {
		return s.helper(roleSupervise, inner)
	}
	seen, err := json.Marshal(s.view(dir, open))
	if err != nil { // cannot fail: strings can always be encoded
		return []string{"false"}
	}
	return s.helper(roleHold, append([]string{string(seen)}, inner...))
}

// WithNetwork returns a copy of the sandbox with network access.
func (s *Sandbox) WithNetwork() *Sandbox {
	open := *s
	open.config.Network = true
	return &open
}

// Protect returns a copy of the sandbox that protects folders, of which some may not exist.
func (s *Sandbox) Protect(folders ...string) *Sandbox {
	if s == nil {
		return nil
	}
	more := *s
	more.config.Protected = append(slices.Clip(s.config.Protected), folders...)
	return &more
}

// Supervise returns the command line that runs argv outside the sandbox, and kills what
// it leaves running when it ends.
func (s *Sandbox) Supervise(argv []string) []string {
	if s == nil || !s.supervised {
		return argv
	}
	return s.helper(roleSupervise, argv)
}

// helper returns the command line of the helper in a role.
func (s *Sandbox) helper(role string, rest []string) []string {
	return append([]string{s.config.Helper, HelperName, role}, rest...)
}

// view returns what a command in dir sees. Later mounts cover earlier ones.
func (s *Sandbox) view(dir string, open []string) view {
	args := []string{
		"--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop", "ALL",
		"--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/dev/shm",
	}
	if s.noUserns {
		args = append(args, "--disable-userns")
	}
	if !s.config.Network {
		args = append(args, "--unshare-net")
	}
	bind := func(flag string, paths ...string) {
		for _, path := range paths {
			args = append(args, flag, path, path)
		}
	}
	// Hidden folders may be inside writable ones, for example if the project is a home
	// folder.
	above, below := s.writable()
	bind("--bind", above...)
	protected := folders(s.config.Protected)
	for _, path := range protected { // before all of them: they may have folders in common
		bind("--bind", between(above, path)...)
	}
	bind("--ro-bind", protected...)
	bind("--bind", append(below, dir)...)
	for _, path := range existing(s.config.Hidden) {
		args = append(args, "--tmpfs", path)
	}
	bind("--ro-bind", existing(s.config.Readable)...)
	bind("--bind", folders(open)...)
	// A mount point can be neither renamed nor removed, so nothing can replace what git
	// reads.
	git := filepath.Join(dir, ".git")
	if info, err := os.Lstat(git); err == nil && info.IsDir() {
		bind("--bind", git)
	} else if err == nil && info.Mode().IsRegular() { // it names the repository of a worktree
		bind("--ro-bind", git)
	}
	fixed := []string{filepath.Join(git, "hooks"), s.config.Helper}
	for _, folder := range open { // the repository of a worktree
		if filepath.Base(folder) == ".git" {
			fixed = append(fixed, filepath.Join(folder, "hooks"))
		}
	}
	bind("--ro-bind", existing(fixed)...)
	return view{Program: s.bwrap, Args: args, Cover: existing(starters()), Dir: dir}
}

// writable returns the folders of the configuration that exist: those below a protected one
// apart, since they are mounted after it.
func (s *Sandbox) writable() (above, below []string) {
	for _, path := range folders(s.config.Writable) {
		if slices.ContainsFunc(s.config.Protected, func(folder string) bool { return Within(folder, path) }) {
			below = append(below, path)
		} else {
			above = append(above, path)
		}
	}
	return above, below
}

// between returns the folders between the outermost writable one and a path. As mount points they
// cannot be renamed, which would move what is protected below them.
func between(writable []string, path string) (out []string) {
	for parent := filepath.Dir(path); slices.ContainsFunc(writable, func(folder string) bool { return folder != parent && Within(folder, parent) }); parent = filepath.Dir(parent) {
		out = append(out, parent)
	}
	slices.Reverse(out) // later mounts cover earlier ones
	return out
}

// starters are sockets of programs outside the sandbox that run commands on request: the
// user's service manager, and terminals that continue without a window. For root, this
// includes the system's service manager.
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
	if os.Getuid() == 0 {
		sockets = append(sockets, "/run/systemd/private", "/run/dbus/system_bus_socket", "/run/initctl", "/run/snapd.socket")
	}
	more, err := filepath.Glob(filepath.Join(terminals, fmt.Sprintf("tmux-%d", os.Getuid()), "*"))
	if err != nil { // the pattern is well-formed, unless a variable breaks it
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

// folders returns the paths that exist and are folders.
func folders(paths []string) []string {
	return slices.DeleteFunc(existing(paths), func(path string) bool {
		info, err := os.Stat(path)
		return err != nil || !info.IsDir()
	})
}
