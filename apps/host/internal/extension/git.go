package extension

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Bounds of fetching a repository.
const (
	gitTime       = 5 * time.Minute
	maxRepository = 256 << 20 // bytes on disk
	watchEvery    = 200 * time.Millisecond
)

// checkedOut is the folder with the files of a repository, beside the repository.
const checkedOut = "files"

var (
	refForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,255}$`)
	shellForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9._~/+-]+$`) // user@host:path
)

// checkGit refuses an address with which git would do anything but fetch from that place.
func checkGit(from state.Extension) error {
	if from.Source != api.ExtensionGit {
		return nil
	}
	if from.Ref != "" && (!refForm.MatchString(from.Ref) || strings.Contains(from.Ref, "..")) {
		return refused("%s is not the name of a branch, a tag or a commit", printable(from.Ref))
	}
	if from.Folder != "" && (!filepath.IsLocal(filepath.FromSlash(from.Folder)) || path.Clean(from.Folder) != from.Folder || checkName(from.Folder) != nil) {
		return refused("%s is not a folder inside a repository, such as plugins/review", printable(from.Folder))
	}
	if shellForm.MatchString(from.Location) {
		return nil
	}
	address, err := url.Parse(from.Location)
	switch {
	case err != nil || !slices.Contains([]string{"https", "ssh", "file"}, address.Scheme) || shown(from.Location, 4096) != from.Location:
		return refused("%s is neither an absolute folder nor the address of a git repository: use https://, ssh://, file:// or user@host:path", printable(from.Location))
	case address.RawQuery != "" || address.Fragment != "":
		return refused("the address of a repository has neither ? nor #: give the branch as the ref")
	case address.Scheme == "file" && (address.Host != "" || !path.IsAbs(address.Path)), address.Scheme != "file" && address.Hostname() == "",
		strings.HasPrefix(address.Hostname(), "-"):
		return refused("%s is not the address of a git repository", printable(from.Location))
	}
	if _, secret := address.User.Password(); secret {
		return refused("the address contains a password, which would be stored: remove it, and use a credential helper of git or an ssh key")
	}
	return nil
}

// fetchGit fetches one commit, and writes its files below folder. Git runs no hook, no filter
// and no program of the repository: the files are read from its objects and never checked out.
func fetchGit(ctx context.Context, folder string, from state.Extension) (commit string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, gitTime, fmt.Errorf("it took longer than %s", gitTime))
	defer cancel()
	g := repository{filepath.Join(folder, "repository.git")}
	if err := g.fetch(ctx, from); err != nil {
		return "", api.Errorf(api.KindUnavailable, "the repository %s cannot be fetched: %v", printable(from.Location), err)
	}
	out, err := g.run(ctx, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}")
	if err != nil {
		return "", refused("%s of %s is not a commit", printable(from.Ref), printable(from.Location))
	}
	commit = strings.TrimSpace(string(out))
	if err := g.write(ctx, commit, from.Folder, filepath.Join(folder, checkedOut)); err != nil {
		return "", refused("the repository %s cannot be used: %v", printable(from.Location), err)
	}
	return commit, nil
}

// repository is a bare repository that only this package uses.
type repository struct{ folder string }

func (g repository) fetch(ctx context.Context, from state.Extension) error {
	if _, err := g.run(ctx, "init", "--quiet", "--bare", "--template=", "--", g.folder); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		g.watch(ctx, cancel)
	}()
	ref := "HEAD"
	if from.Ref != "" {
		ref = from.Ref
	}
	_, err := g.run(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--end-of-options", from.Location, ref)
	if why := context.Cause(ctx); why != nil {
		err = why
	}
	cancel(nil)
	<-watching
	return err
}

var errHuge = fmt.Errorf("it is larger than %d MiB", maxRepository>>20)

// watch ends a fetch that takes too much of the disk.
func (g repository) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if sizeOf(g.folder) > maxRepository {
				cancel(errHuge)
				return
			}
		}
	}
}

func sizeOf(folder string) (size int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // it was renamed meanwhile
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// settings make git use only plain transports and run nothing besides, and keep what a small
// pack unpacks to out of memory and off the disk. The user's own settings apply otherwise: a
// private repository may need a credential helper or a proxy.
func settings() []string {
	return []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.attributesFile=/dev/null", "-c", "submodule.recurse=false",
		"-c", "fetch.recurseSubmodules=false", "-c", "protocol.ext.allow=never", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "credential.interactive=false",
		"-c", "fetch.writeCommitGraph=false", "-c", "fetch.unpackLimit=1", "-c", "core.bigFileThreshold=" + strconv.Itoa(maxFile), "-c", "transfer.bundleURI=false"}
}

// variable is what git gets of the environment, which holds keys.
var variable = regexp.MustCompile(`(?i)^(PATH|HOME|USER|LOGNAME|LANG|LC_[A-Z]+|TMPDIR|TMP|TEMP|XDG_[A-Z_]+|SSH_AUTH_SOCK|SYSTEMROOT|USERPROFILE|APPDATA|PROGRAMDATA|PATHEXT|COMSPEC|(HTTPS?|ALL|NO)_PROXY|GIT_CONFIG_GLOBAL|GIT_CONFIG_NOSYSTEM|GIT_SSL_CAINFO|SSL_CERT_FILE)=`)

func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(pair string) bool { return !variable.MatchString(pair) })
	return append(env, "GIT_ALLOW_PROTOCOL=https:ssh:file", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "SSH_ASKPASS_REQUIRE=never",
		"GIT_SSH_COMMAND=ssh -o BatchMode=yes", "GIT_LFS_SKIP_SMUDGE=1", "GIT_NO_LAZY_FETCH=1")
}

// command is git in the repository, in its own process group.
func (g repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(settings(), args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Dir(g.folder), append(environment(), "GIT_DIR="+g.folder), time.Second
	if args[0] == "init" {
		cmd.Env = environment()
	}
	procgroup.Own(cmd)
	cmd.Cancel = func() error {
		procgroup.Kill(cmd)
		return nil
	}
	return cmd
}

// run returns the output of git. The error has the last line that git printed.
func (g repository) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := g.command(ctx, args...)
	out, problems := &limited{most: maxListing}, &limited{most: 64 << 10}
	cmd.Stdout, cmd.Stderr = out, problems
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(string(problems.data)), "\n")
		if last := shown(lines[len(lines)-1], 300); last != "" {
			return nil, errors.New(last)
		}
		return nil, err
	}
	if out.over {
		return nil, fmt.Errorf("it has more than %d files", maxFiles)
	}
	return out.data, nil
}

// limited keeps the beginning of an output.
type limited struct {
	data []byte
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := min(l.most-len(l.data), len(p))
	l.data, l.over = append(l.data, p[:room]...), l.over || room < len(p)
	return len(p), nil
}

// maxListing bounds the list of the files of a commit, in bytes.
const maxListing = maxFiles * (maxPath + 100)

// object is a file of a commit.
type object struct{ mode, id, path string }

// write writes the files of a commit, or of a folder of it.
func (g repository) write(ctx context.Context, commit, inside, folder string) error {
	of := commit
	if inside != "" {
		of += ":" + inside
	}
	out, err := g.run(ctx, "ls-tree", "-r", "-z", "--full-tree", "--end-of-options", of)
	if err != nil {
		return err
	}
	var objects []object
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(head)
		if len(fields) != 3 || fields[1] != "blob" { // a submodule is another repository
			continue
		}
		objects = append(objects, object{fields[0], fields[2], name})
	}
	if len(objects) > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	return errors.Join(g.writeAll(ctx, objects, root), root.Close())
}

// writeAll writes objects, which one process of git prints.
func (g repository) writeAll(ctx context.Context, objects []object, root *os.Root) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := g.command(ctx, "cat-file", "--batch")
	var ids bytes.Buffer
	for _, o := range objects {
		ids.WriteString(o.id + "\n")
	}
	cmd.Stdin = &ids
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	reader, left := bufio.NewReader(out), int64(maxBytes)
	for _, o := range objects {
		if err = writeObject(reader, o, &left, root); err != nil {
			cancel()
			break
		}
	}
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	return err
}

func writeObject(from *bufio.Reader, o object, left *int64, root *os.Root) error {
	header, err := from.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", printable(o.path), err)
	}
	fields := strings.Fields(header)
	if len(fields) != 3 {
		return fmt.Errorf("%s is missing", printable(o.path))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w", printable(o.path), err)
	}
	if *left -= size; size > maxFile || *left < 0 {
		return fmt.Errorf("%s is too large, or all of its files together are: the limits are %d and %d MiB", printable(o.path), maxFile>>20, maxBytes>>20)
	}
	if err := checkName(o.path); err != nil {
		return err
	}
	data := make([]byte, size+1) // with the line break that follows
	if _, err := io.ReadFull(from, data); err != nil {
		return fmt.Errorf("%s cannot be read: %w", printable(o.path), err)
	}
	name := filepath.FromSlash(o.path)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("%s cannot be written: %w", printable(o.path), err)
	}
	if o.mode == "120000" {
		return root.Symlink(string(data[:size]), name)
	}
	mode := fs.FileMode(0o600)
	if o.mode == "100755" {
		mode = 0o700
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", printable(o.path), err)
	}
	_, err = file.Write(data[:size])
	return errors.Join(err, file.Close())
}
