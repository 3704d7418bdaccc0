package tool

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/tool/fuzzy"
	"github.com/scorel/scorel/apps/host/internal/tool/v4a"
)

// planned is a patch that can be applied.
type planned struct {
	changes  []fileChange
	strategy fuzzy.Strategy
	count    int
	notes    []string
	// reindented reports that lines were given the file's indentation.
	reindented bool

	text string // the diff, once it was requested
}

type fileChange struct{ v4a.Change }

func (c fileChange) verb() string {
	switch {
	case c.Before == nil:
		return "Create"
	case c.After == nil:
		return "Delete"
	}
	return "Change"
}

// diff returns the unified diff of all files.
func (p *planned) diff() string {
	if p.text == "" {
		var b strings.Builder
		for _, c := range p.changes {
			b.WriteString(c.diff())
		}
		p.text = b.String()
	}
	return p.text
}

func (c fileChange) diff() string {
	path := filepath.ToSlash(c.Path)
	from, to, before, after := "a/"+path, "b/"+path, "", ""
	if c.Before == nil {
		from = "/dev/null"
	} else {
		before = *c.Before
	}
	if c.After == nil {
		to = "/dev/null"
	} else {
		after = *c.After
	}
	if before == after { // an empty file is created or deleted
		return "--- " + from + "\n+++ " + to + "\n"
	}
	return udiff.Unified(from, to, before, after)
}

// lockKeys returns the files that a call names, as far as its arguments can be parsed.
func (t patchTool) lockKeys(call agent.Call) []string {
	var args patchArgs
	if decodeArgs(call.Arguments, &args) != nil {
		return nil
	}
	paths := []string{args.Path}
	if args.Patch != "" {
		ops, err := v4a.Parse(args.Patch)
		if err != nil {
			return nil
		}
		for _, op := range ops {
			paths = append(paths, op.Paths()...)
		}
	}
	var keys []string
	for _, path := range paths {
		if full, err := resolvePath(call, path, t.private.forWriting()); err == nil {
			keys = append(keys, resolved(full))
		}
	}
	return keys
}

// plan reads the files and computes their new content.
func (t patchTool) plan(call agent.Call) (*planned, *patchError) {
	var args patchArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return nil, &patchError{kind: kindBadArguments, message: err.Error()}
	}
	if err := args.check(); err != nil {
		return nil, &patchError{kind: kindBadArguments, message: err.Error()}
	}
	p, failure := (*planned)(nil), (*patchError)(nil)
	if args.Patch != "" {
		p, failure = t.planPatch(call, args.Patch)
	} else {
		p, failure = t.planReplace(call, args)
	}
	if failure != nil {
		return nil, failure
	}
	return p, t.checkStale(p)
}

func (a patchArgs) check() error {
	single := a.Path != "" || a.OldString != nil || a.NewString != nil || a.ReplaceAll
	switch {
	case a.Patch != "" && single:
		return errors.New("give either patch, or path, old_string and new_string")
	case a.Patch != "" && !utf8.ValidString(a.Patch):
		return errors.New("the patch is not UTF-8 text")
	case a.Patch != "":
		return nil
	case !single:
		return errors.New("give path, old_string and new_string, or patch")
	case a.Path == "":
		return errors.New(`the argument "path" is missing`)
	case a.OldString == nil:
		return errors.New(`the argument "old_string" is missing; to create a new file, use write_file`)
	case a.NewString == nil:
		return errors.New(`the argument "new_string" is missing; send an empty one to delete text`)
	}
	return nil
}

func (t patchTool) planReplace(call agent.Call, args patchArgs) (*planned, *patchError) {
	files := diskFiles{t.Set, call}
	key, err := files.Key(args.Path)
	if err != nil {
		return nil, asPatchError(err, "")
	}
	content, exists, err := files.Read(key)
	if err == nil && !exists {
		err = &patchError{kind: v4a.KindMissingFile, message: t.pathError(call, args.Path, key, fs.ErrNotExist)}
	}
	if err != nil {
		return nil, asPatchError(err, args.Path)
	}
	file := fuzzy.Read(content)
	found, err := fuzzy.Find(file.Text(), *args.OldString, *args.NewString, args.ReplaceAll)
	if err != nil {
		return nil, asPatchError(err, args.Path)
	}
	p := &planned{strategy: found.Strategy, count: len(found.Edits), notes: found.Notes, reindented: found.Reindented}
	if found.NoChange {
		return p, nil
	}
	if found.Strategy != fuzzy.Exact && looksNumbered(*args.NewString) {
		return nil, &patchError{kindNumbered, "every line of new_string begins with a number and a bar, as in the output of read_file; send both texts without them", args.Path}
	}
	after := file.Apply(found.Edits)
	p.changes = []fileChange{{v4a.Change{Path: args.Path, Key: key, Before: &content, After: &after}}}
	return p, nil
}

func (t patchTool) planPatch(call agent.Call, text string) (*planned, *patchError) {
	ops, err := v4a.Parse(text)
	if err != nil {
		return nil, asPatchError(err, "")
	}
	plan, err := v4a.Make(ops, diskFiles{t.Set, call})
	if err != nil {
		return nil, asPatchError(err, "")
	}
	p := &planned{strategy: plan.Strategy, count: plan.Count, notes: plan.Notes, reindented: plan.Reindented}
	for _, c := range plan.Changes {
		if c.After == nil && isLink(call, c.Path) { // this would delete the link's target and leave the link
			return nil, &patchError{kindBadPath, c.Path + " is a symbolic link; delete or move it with bash", c.Path}
		}
		p.changes = append(p.changes, fileChange{c})
	}
	return p, nil
}

func isLink(call agent.Call, path string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(call.Cwd, path)
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// checkStale refuses a change to a file that is different from what the session last read.
// An exact match of the text is sufficient proof.
func (t patchTool) checkStale(p *planned) *patchError {
	for _, c := range p.changes {
		if c.Before == nil {
			continue
		}
		print, known := t.seen.get(c.Key)
		switch {
		case !known || print == sha256.Sum256([]byte(*c.Before)):
		case p.strategy == fuzzy.Exact:
			p.notes = append(p.notes, c.Path+" changed on disk since you read it; your text was still there")
		default:
			return &patchError{kindStale, c.Path + " changed on disk since you read it, and no longer contains your text exactly; read it again", c.Path}
		}
	}
	return nil
}

// write writes all changes to disk, or restores the previous content.
func (t patchTool) write(p *planned) *patchError {
	// Deletions go last: if something fails before them, the files are still there.
	ordered := slices.Clone(p.changes)
	slices.SortStableFunc(ordered, func(a, b fileChange) int { return goes(a) - goes(b) })
	private := t.private.forWriting()
	modes := make([]fs.FileMode, len(ordered))
	for i, c := range ordered {
		modes[i] = modeOf(c.Key)
		if err := c.write(private); err != nil {
			for k, done := range ordered[:i] {
				err = errors.Join(err, done.undo(private, modes[k]))
			}
			return &patchError{kindWrite, fmt.Sprintf("%s could not be written, nothing was changed: %v", c.Path, err), c.Path}
		}
	}
	for _, c := range p.changes {
		if c.After == nil {
			t.seen.forget(c.Key)
		} else {
			t.seen.note(c.Key, sha256.Sum256([]byte(*c.After)))
		}
	}
	return nil
}

func (c fileChange) write(private guard) error {
	if c.After == nil {
		return private.remove(c.Key)
	}
	if err := private.makeFolders(filepath.Dir(c.Key)); err != nil {
		return err
	}
	if err := private.put(c.Key, *c.After, 0o644); err != nil || c.From == "" {
		return err
	}
	return private.chmod(c.Key, modeOf(c.From))
}

func goes(c fileChange) int {
	if c.After == nil {
		return 1
	}
	return 0
}

// modeOf returns the permissions of a file, or the default for a new one.
func modeOf(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

func (c fileChange) undo(private guard, mode fs.FileMode) error {
	if c.Before == nil {
		return private.remove(c.Key)
	}
	return errors.Join(private.put(c.Key, *c.Before, mode), private.chmod(c.Key, mode))
}

// diskFiles provides the files of a call to the planner.
type diskFiles struct {
	set  *Set
	call agent.Call
}

// Key implements v4a.Files.
func (d diskFiles) Key(path string) (string, error) {
	full, err := resolvePath(d.call, path, d.set.private.forWriting())
	if err != nil {
		return "", &patchError{kind: kindBadPath, message: err.Error()}
	}
	return resolved(full), nil
}

// Read implements v4a.Files.
func (d diskFiles) Read(key string) (content string, exists bool, err error) {
	file, err := d.set.private.forWriting().openRegular(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case errors.Is(err, errIsFolder), errors.Is(err, errNotRegular), errors.Is(err, errKernel), errors.Is(err, errClosed):
		return "", false, fmt.Errorf("%s %w", key, err)
	case err != nil:
		return "", false, errors.New(d.set.pathError(d.call, key, key, err))
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPatchFile+1))
	switch {
	case err != nil:
		return "", false, fmt.Errorf("reading %s: %w", key, err)
	case len(data) > maxPatchFile:
		return "", false, fmt.Errorf("%s is larger than %d bytes; change it with bash", key, maxPatchFile)
	case !utf8.Valid(data):
		return "", false, fmt.Errorf("%s is not UTF-8 text; change it with bash", key)
	}
	return string(data), true, nil
}
