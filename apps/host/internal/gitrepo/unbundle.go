package gitrepo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/atomicfile"
)

// Bounds of the files in a bundle from elsewhere.
const (
	maxTreeList  = 64 << 20 // bytes of the list of files
	maxTreeFiles = 200_000
	maxRefLine   = 512 // bytes of a line of the header
)

// Bundle is a bundle of WriteBundle that was checked and unpacked.
type Bundle struct {
	Head  string // full id of the commit
	Files string // full id of the commit with the files as they were
	Size  int64  // bytes of these files

	dir string
	max int64 // of Size
}

// BundleError says what is wrong with a bundle.
type BundleError struct{ What string }

func (e *BundleError) Error() string { return "the bundle is not valid: " + e.What }

func badBundle(what string) error { return &BundleError{what} }

// Unbundle checks a bundle from elsewhere and unpacks its objects into dir, a new git directory of
// the host's own, in which nothing runs. Git checks that each object and link is complete, and
// that no name in a tree leads out of it or into a git directory. most bounds the bytes of the files.
func Unbundle(ctx context.Context, dir, path string, most int64) (b *Bundle, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(file, 64<<10)
	b = &Bundle{dir: dir, max: most}
	format, err := b.header(in)
	if err != nil {
		return nil, err
	}
	if err := b.makeDir(format); err != nil {
		return nil, err
	}
	_, err = run(ctx, command{
		dir: dir, env: b.environment(), in: in, limit: maxOutput, time: bundleTime, dies: true,
		args: []string{"index-pack", "--stdin", "--strict", "--max-input-size=" + strconv.FormatInt(info.Size(), 10)},
	})
	if err == nil {
		err = b.check(ctx)
	}
	if message := Message(err); message != "" {
		return nil, badBundle(message)
	}
	return b, err
}

var (
	refLine    = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64}) (refs/[a-z/]+)$`)
	formatLine = regexp.MustCompile(`^@object-format=(sha1|sha256)$`)
)

// header reads the head of a bundle, up to its pack.
func (b *Bundle) header(in *bufio.Reader) (format string, err error) {
	line := func() (string, error) {
		text, err := in.ReadSlice('\n')
		if err != nil || len(text) > maxRefLine {
			return "", badBundle("its head is not complete")
		}
		return string(text[:len(text)-1]), nil
	}
	format = "sha1"
	if first, err := line(); err != nil || first != "# v2 git bundle" && first != "# v3 git bundle" {
		return "", badBundle("it is not a git bundle")
	}
	for {
		text, err := line()
		if err != nil {
			return "", err
		}
		if text == "" {
			break
		}
		if match := formatLine.FindStringSubmatch(text); match != nil {
			format = match[1]
			continue
		}
		match := refLine.FindStringSubmatch(text)
		switch {
		case match != nil && match[2] == headRef && b.Head == "":
			b.Head = match[1]
		case match != nil && match[2] == filesRef && b.Files == "":
			b.Files = match[1]
		default:
			return "", badBundle(fmt.Sprintf("its head has the line %.80q", text))
		}
	}
	if b.Head == "" || b.Files == "" {
		return "", badBundle("a commit is missing")
	}
	return format, nil
}

func (b *Bundle) makeDir(format string) error {
	for _, folder := range []string{"objects/pack", "refs"} {
		if err := os.MkdirAll(filepath.Join(b.dir, folder), 0o700); err != nil {
			return err
		}
	}
	settings := "[core]\n\tbare = true\n"
	if format != "sha1" {
		settings += "\trepositoryformatversion = 1\n[extensions]\n\tobjectFormat = " + format + "\n"
	}
	return errors.Join(
		os.WriteFile(filepath.Join(b.dir, "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(filepath.Join(b.dir, "config"), []byte(settings), 0o600))
}

func (b *Bundle) environment() []string { return []string{"GIT_DIR=" + b.dir} }

func (b *Bundle) git(ctx context.Context, limit int, args ...string) (string, error) {
	out, err := run(ctx, command{dir: b.dir, env: b.environment(), args: args, limit: limit})
	return strings.TrimSuffix(string(out), "\n"), err
}

// check looks at the two commits and the size of their files.
func (b *Bundle) check(ctx context.Context) error {
	for name, want := range map[string]string{b.Head + "^{commit}": b.Head, b.Files + "^1^{commit}": b.Head, b.Files + "^{commit}": b.Files} {
		if got, err := b.git(ctx, maxOutput, "rev-parse", "--verify", "--end-of-options", name); err != nil || got != want {
			return errors.Join(err, badBundle("its commits do not belong together"))
		}
	}
	for _, id := range []string{b.Head, b.Files} {
		size, err := b.sizeOf(ctx, id)
		if err != nil {
			return err
		}
		b.Size = max(b.Size, size)
	}
	return nil
}

// sizeOf returns the bytes of the files of a commit.
func (b *Bundle) sizeOf(ctx context.Context, id string) (total int64, err error) {
	out, err := b.git(ctx, maxTreeList, "ls-tree", "-r", "-l", "-z", "--full-tree", id)
	if errors.Is(err, errCut) || strings.Count(out, "\x00") > maxTreeFiles {
		return 0, badBundle("it has too many files")
	}
	if err != nil {
		return 0, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		attributes, _, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(attributes)
		if len(fields) != 4 || fields[3] == "-" { // a submodule has no size, and is not moved
			continue
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if total += size; err != nil || total > b.max {
			return 0, badBundle("its files are too large")
		}
	}
	return total, nil
}

// Adopt adds the objects of a bundle to the repository. No reference names them yet.
func (r *Repo) Adopt(b *Bundle) (err error) {
	if err := r.checkOwned(); err != nil {
		return err
	}
	packs := filepath.Join("objects", "pack")
	root, err := os.OpenRoot(r.common)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if err := root.MkdirAll(packs, 0o755); err != nil {
		return err
	}
	if info, err := root.Lstat(packs); err != nil || !info.IsDir() {
		return ErrElsewhere
	}
	entries, err := os.ReadDir(filepath.Join(b.dir, packs))
	if err != nil {
		return err
	}
	for _, last := range []bool{false, true} { // git sees a pack when its index is there
		for _, entry := range entries {
			if entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), ".idx") == last {
				if err := adoptFile(root, filepath.Join(b.dir, packs, entry.Name()), filepath.Join(packs, entry.Name())); err != nil {
					return err
				}
			}
		}
	}
	folder, err := root.OpenRoot(packs)
	if err != nil {
		return err
	}
	return errors.Join(atomicfile.SyncRoot(folder), folder.Close())
}

// adoptFile copies a file into a folder, unless it is there. Its name is the hash of its content.
func adoptFile(root *os.Root, from, to string) error {
	if _, err := root.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	temp := filepath.Join(filepath.Dir(to), "tmp_scorel_"+filepath.Base(to))
	if err := root.RemoveAll(temp); err != nil { // of a host that was killed
		return err
	}
	file, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return root.Rename(temp, to)
}
