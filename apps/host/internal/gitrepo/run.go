package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Bounds of one command of git.
const (
	gitTime   = 20 * time.Second
	maxOutput = 8 << 20 // bytes
	maxErrors = 4 << 10 // bytes of messages
)

// disabled are settings that no repository overrides: those of the command line come last.
// Each names a program, or makes git start one.
var disabled = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.untrackedCache=false", "core.pager=cat", "core.editor=false", "core.askPass=", "core.sshCommand=false",
	"core.gitProxy=", "core.alternateRefsCommand=false", "core.safecrlf=false", "credential.helper=", "diff.external=", "diff.ignoreSubmodules=all",
	"protocol.allow=never", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "log.showSignature=false",
	"commit.gpgSign=false", "tag.gpgSign=false", "gpg.program=false", "gpg.ssh.program=false", "gpg.x509.program=false",
	"sequence.editor=false", "uploadpack.packObjectsHook=", "core.quotePath=false", "status.renames=false", "advice.detachedHead=false",
}

// passed matches the variables of the host that git gets. Those that begin with GIT_ could
// name programs and folders, except for the files of the user's own settings and names.
var passed = regexp.MustCompile(`(?i)^(PATH|HOME|USER|LOGNAME|LANG|TMPDIR|TMP|TEMP|XDG_CONFIG_HOME|SYSTEMROOT|USERPROFILE|APPDATA|PROGRAMDATA|PATHEXT|COMSPEC|` +
	`GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)|GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL))=`)

// environment is that of every command of git.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return !passed.MatchString(entry) })
	return append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1", "GIT_PAGER=cat", "GIT_EDITOR=false", "GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_SSH_COMMAND=false")
}

// exitError is a command of git that failed.
type exitError struct {
	code    int
	message string
}

func (e *exitError) Error() string { return fmt.Sprintf("git ended with %d: %s", e.code, e.message) }

// Message returns what git said when it failed, in one line, or "".
func Message(err error) string {
	var failed *exitError
	if !errors.As(err, &failed) {
		return ""
	}
	line, _, _ := strings.Cut(failed.message, "\n")
	return line
}

// errCut reports output that is longer than its limit. What fits is returned with it.
var errCut = errors.New("the output of git is too long")

// command is one run of git.
type command struct {
	dir   string   // working folder
	env   []string // in addition to environment
	args  []string
	stdin []byte
	in    io.Reader     // instead of stdin
	out   io.Writer     // gets the output, which is then not returned; it may refuse more
	limit int           // bytes of output
	time  time.Duration // 0 is gitTime
	dies  bool          // with this process, where the system can do that: it writes files for long
}

func run(ctx context.Context, c command) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.time, gitTime))
	defer cancel()
	args := []string{"--no-pager", "--no-replace-objects"}
	for _, setting := range disabled {
		args = append(args, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, "git", append(args, c.args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.dir, append(environment(), c.env...), time.Second
	cmd.Stdin = c.in
	if c.in == nil {
		cmd.Stdin = bytes.NewReader(c.stdin)
	}
	if c.dies {
		// Linux kills the command when the thread ends that started it, not the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		dieWith(cmd)
	}
	out := &bounded{limit: c.limit, full: cancel}
	messages := &bounded{limit: maxErrors, full: func() {}}
	cmd.Stdout, cmd.Stderr = out, messages
	refusal := &refusing{w: c.out}
	if c.out != nil {
		cmd.Stdout = refusal
	}
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case refusal.err != nil:
		return nil, refusal.err
	case out.cut:
		return out.data, errCut
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, ErrTooSlow
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoGit
	case errors.As(err, &exit):
		return nil, &exitError{exit.ExitCode(), strings.TrimSpace(string(messages.data))}
	}
	return out.data, err
}

// bounded keeps the beginning of what is written to it, and calls full when there is more.
type bounded struct {
	data  []byte
	limit int
	cut   bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - len(b.data)
	b.data = append(b.data, p[:min(room, len(p))]...)
	if len(p) > room && !b.cut {
		b.cut = true
		b.full()
	}
	return len(p), nil
}

// refusing keeps the error of a writer: git itself only says that it could not write.
type refusing struct {
	w   io.Writer
	err error
}

func (r *refusing) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil {
		r.err = err
	}
	return n, err
}

// bare runs a command of git that looks at names and ids in the repository itself, and at no
// file of the folder.
func (r *Repo) bare(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, command{dir: r.dir, env: []string{"GIT_DIR=" + r.dir}, args: args, limit: maxOutput})
}
