package gitrepo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Bounds of a baseline.
const (
	baselineTime  = 15 * time.Second
	maxFile       = 2 << 20   // bytes of one file; larger ones are skipped
	maxFiles      = 10_000    // files to store
	maxBytes      = 128 << 20 // bytes to store
	maxSkipped    = 200       // skipped paths that are recorded
	maxBaseline   = 1 << 20   // bytes of the record
	maxRestored   = 10 << 20  // bytes of a file to restore
	baselineName  = "baseline.json"
	executableBit = 0o111
)

// Baseline is the state of a folder at some time, in a folder of its own: an index that names
// every file, and the contents that no commit has. Files that .gitignore excludes are not part
// of it.
type Baseline struct {
	Since   int64    `json:"since"`             // Unix milliseconds
	Reason  string   `json:"reason,omitempty"`  // why there is none, for people
	Skipped []string `json:"skipped,omitempty"` // files that are too large or closed, and repositories below the folder

	dir string
}

// TakeBaseline records the state of a folder in dir, unless dir holds one already. A folder
// that is too large or too slow to read gets a baseline that says so. skip reports files whose
// content is not stored.
func TakeBaseline(ctx context.Context, dir, work string, repo *Repo, skip func(path string) bool) error {
	if _, err := os.Lstat(filepath.Join(dir, baselineName)); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil { // a crash may have left a part
		return fmt.Errorf("gitrepo: recording a folder: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "objects"), 0o700); err != nil {
		return fmt.Errorf("gitrepo: recording a folder: %w", err)
	}
	b := &Baseline{Since: time.Now().UnixMilli(), dir: dir}
	limited, cancel := context.WithTimeout(ctx, baselineTime)
	defer cancel()
	err := b.take(limited, work, repo, skip)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch {
	case errors.Is(err, errTooLarge):
		b.Reason = "the folder has too many files to record its state"
	case errors.Is(err, ErrNoGit):
		b.Reason = ErrNoGit.Error()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		b.Reason = "recording the state of the folder took too long"
	case err != nil:
		b.Reason = "the state of the folder could not be recorded"
	}
	record, encodeErr := json.Marshal(b)
	if encodeErr != nil {
		return encodeErr
	}
	if writeErr := atomicfile.Write(filepath.Join(dir, baselineName), record, 0o600); writeErr != nil {
		return fmt.Errorf("gitrepo: recording a folder: %w", errors.Join(err, writeErr))
	}
	return err
}

var errTooLarge = errors.New("the folder has too many files")

func (b *Baseline) take(ctx context.Context, work string, repo *Repo, skip func(path string) bool) (err error) {
	v, err := NewView(ctx, b.dir, work, repo)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	v.objects = filepath.Join(b.dir, "objects")
	changed, err := b.changed(ctx, v, skip)
	if err != nil {
		return err
	}
	if len(changed) > 0 {
		if err := v.stage(ctx, changed); err != nil {
			return err
		}
	}
	err = os.Rename(filepath.Join(v.dir, "index"), filepath.Join(b.dir, "index"))
	if errors.Is(err, fs.ErrNotExist) { // an empty folder
		return nil
	}
	if err != nil {
		return err
	}
	shared, err := filepath.Glob(filepath.Join(v.dir, "sharedindex.*"))
	for _, name := range shared {
		err = errors.Join(err, os.Rename(name, filepath.Join(b.dir, filepath.Base(name))))
	}
	return err
}

// changed lists the files whose content no commit has.
func (b *Baseline) changed(ctx context.Context, v *View, skip func(path string) bool) (paths []string, err error) {
	out, err := v.git(ctx, maxOutput, nil, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--", ".")
	if errors.Is(err, errCut) {
		return nil, errTooLarge
	}
	if err != nil {
		return nil, err
	}
	var total int64
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if path == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(v.work, path))
		link := err == nil && info.Mode()&fs.ModeSymlink != 0
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted, which the index is to know
		case err != nil, strings.HasSuffix(path, "/"), !link && !info.Mode().IsRegular(), info.Size() > maxFile, skip(path):
			if len(b.Skipped) == maxSkipped {
				return nil, errTooLarge
			}
			b.Skipped = append(b.Skipped, path)
			continue
		default:
			total += info.Size()
		}
		if paths = append(paths, path); len(paths) > maxFiles || total > maxBytes {
			return nil, errTooLarge
		}
	}
	return paths, nil
}

// LoadBaseline reads the record in dir. It returns nil if there is none.
func LoadBaseline(dir string) (*Baseline, error) {
	data, err := readBounded(filepath.Join(dir, baselineName), maxBaseline)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b := &Baseline{dir: dir}
	if err == nil {
		err = exactjson.Strict(data, b)
	}
	if err != nil {
		return nil, fmt.Errorf("gitrepo: reading %s: %w", dir, err)
	}
	return b, nil
}

// View makes a view whose index is that of the baseline. scratch is as for NewView.
func (b *Baseline) View(ctx context.Context, scratch, work string, repo *Repo) (*View, Range, error) {
	v, err := NewView(ctx, scratch, work, repo)
	if err != nil {
		return nil, Range{}, err
	}
	if err := b.lend(v); err != nil {
		return nil, Range{}, errors.Join(err, v.Close())
	}
	return v, Range{cached: true}, nil
}

func (b *Baseline) lend(v *View) error {
	v.objects = filepath.Join(b.dir, "objects")
	if err := os.Remove(filepath.Join(v.dir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := filepath.Glob(filepath.Join(b.dir, "*index*"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := copyIndex(name, filepath.Join(v.dir, filepath.Base(name)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Stored is a file of a baseline.
type Stored struct {
	Content []byte
	Mode    fs.FileMode
}

// Stored returns a file as the baseline has it; nil if it did not exist. A file to which a
// filter applies, or a link, is an error.
func (v *View) Stored(ctx context.Context, path string) (*Stored, error) {
	out, err := v.git(ctx, maxOutput, nil, "ls-files", "-z", "--stage", "--", path)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	record, _, _ := bytes.Cut(out, []byte{0})
	head, name, _ := strings.Cut(string(record), "\t")
	fields := strings.Fields(head)
	if len(fields) != 3 || name != path || fields[0] != "100644" && fields[0] != "100755" {
		return nil, fmt.Errorf("%s: %w", path, ErrNotAFile)
	}
	if filtered, err := v.filtered(ctx, []string{path}); err != nil || filtered != "" {
		return nil, errors.Join(err, fmt.Errorf("%s: %w", path, ErrFiltered))
	}
	content, err := v.git(ctx, maxRestored, nil, "cat-file", "--filters", "--path="+v.prefix()+path, fields[1])
	if err != nil {
		return nil, err
	}
	mode := fs.FileMode(0o644)
	if fields[0] == "100755" {
		mode |= executableBit
	}
	return &Stored{content, mode}, nil
}
