package v4a

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/tool/fuzzy"
)

// Kinds of errors, in addition to those of package fuzzy.
const (
	KindBadPatch    fuzzy.Kind = "bad_patch"
	KindNoChange    fuzzy.Kind = "no_change"
	KindMissingFile fuzzy.Kind = "missing_file"
	KindFileExists  fuzzy.Kind = "file_exists"
	KindUnreadable  fuzzy.Kind = "unreadable"
)

// Error explains why a patch is not applied. Its kind is that of the first fault.
type Error struct {
	Kind    fuzzy.Kind
	Message string
	Path    string // of the first fault, as the patch names it; may be empty
}

func (e *Error) Error() string { return e.Message }

func bad(format string, args ...any) error {
	return &Error{Kind: KindBadPatch, Message: fmt.Sprintf(format, args...)}
}

// Files provides the files that a patch is planned on.
type Files interface {
	// Key identifies a file, so that different spellings of its path are the same.
	Key(path string) (string, error)
	// Read returns the content of a file, or exists false.
	Read(key string) (content string, exists bool, err error)
}

// Change is the change to one file.
type Change struct {
	Path   string // as the patch names it
	Key    string
	Before *string // nil if the file did not exist
	After  *string // nil if the file is deleted
	From   string  // key of the file whose permissions it gets; "" for its own
}

// Plan is a planned patch. No file occurs twice.
type Plan struct {
	Changes  []Change
	Count    int            // number of hunks and whole files that change something
	Strategy fuzzy.Strategy // the loosest level that a hunk needed; "" without hunks
	// Reindented reports that lines were given the file's indentation.
	Reindented bool
	Notes      []string
}

// planner holds the planned state of the files.
type planner struct {
	files  Files
	order  []string
	change map[string]*Change
	plan   Plan
	faults []error
	first  *Error
}

// Make plans a patch. The error is an *Error that names every fault.
func Make(ops []Op, files Files) (Plan, error) {
	p := &planner{files: files, change: map[string]*Change{}}
	for _, op := range ops {
		if err := p.op(op); err != nil {
			p.fault(op.path, err)
		}
	}
	if p.first != nil {
		p.first.Message = "nothing was written because the patch does not match:"
		for _, fault := range p.faults {
			p.first.Message += "\n- " + strings.ReplaceAll(fault.Error(), "\n", "\n  ")
		}
		return Plan{}, p.first
	}
	for _, key := range p.order {
		if c := p.change[key]; !same(c.Before, c.After) {
			p.plan.Changes = append(p.plan.Changes, *c)
		}
	}
	return p.plan, nil
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

func (p *planner) fault(path string, err error) {
	p.faults = append(p.faults, fmt.Errorf("%s: %w", path, err))
	if p.first != nil {
		return
	}
	p.first = &Error{Kind: KindUnreadable, Path: path}
	var own *Error
	var found *fuzzy.Error
	switch {
	case errors.As(err, &own):
		p.first.Kind = own.Kind
	case errors.As(err, &found):
		p.first.Kind = found.Kind
	}
}

// open returns the state of a file.
func (p *planner) open(path string) (*Change, error) {
	key, err := p.files.Key(path)
	if err != nil {
		return nil, err
	}
	if c := p.change[key]; c != nil {
		return c, nil
	}
	content, exists, err := p.files.Read(key)
	if err != nil {
		return nil, err
	}
	c := &Change{Path: path, Key: key}
	if exists {
		c.Before, c.After = &content, &content
	}
	p.change[key] = c
	p.order = append(p.order, key)
	return c, nil
}

func (p *planner) op(op Op) error {
	c, err := p.open(op.path)
	if err != nil {
		return err
	}
	if op.kind == opAdd {
		c.After = &op.content
		p.plan.Count++
		return nil
	}
	if c.After == nil {
		return &Error{Kind: KindMissingFile, Message: "the file does not exist"}
	}
	switch op.kind {
	case opDelete:
		c.After = nil
		p.plan.Count++
		return nil
	case opUpdate:
		if err := p.update(c, op); err != nil {
			return err
		}
	}
	if op.to != "" {
		return p.move(c, op)
	}
	return nil
}

// move renames a file. Move File does not replace an existing file; a move within an update
// does, as its authors expect.
func (p *planner) move(c *Change, op Op) error {
	to, err := p.open(op.to)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", op.to, err)
	case to == c:
		return &Error{Kind: KindBadPatch, Message: "the source and the target of the move are the same file"}
	case to.After != nil && op.kind == opMove:
		return &Error{Kind: KindFileExists, Message: op.to + " already exists; delete it first to replace it"}
	}
	to.After, to.From = c.After, c.Key
	if c.From != "" {
		to.From = c.From
	}
	c.After = nil
	if op.kind == opMove {
		p.plan.Count++
	}
	return nil
}

// update applies the hunks in order.
func (p *planner) update(c *Change, op Op) error {
	content := *c.After
	inert := true
	for i, h := range op.hunks {
		if !slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.mark != ' ' }) {
			continue // only context: it changes nothing
		}
		inert = false
		changed, err := p.hunk(content, h)
		if err != nil {
			return fmt.Errorf("hunk %d: %w", i+1, err)
		}
		content = changed
	}
	if inert && op.to == "" {
		return &Error{Kind: KindNoChange, Message: "the hunks contain only context; mark removed lines with - and added lines with +"}
	}
	c.After = &content
	return nil
}

func (p *planner) hunk(content string, h hunk) (string, error) {
	var old, new []string
	for _, line := range h.lines {
		if line.mark != '+' {
			old = append(old, line.text)
		}
		if line.mark != '-' {
			new = append(new, line.text)
		}
	}
	file := fuzzy.Read(content)
	if len(old) == 0 {
		edit, err := insertion(file.Text(), h.hint, strings.Join(new, "\n")+"\n")
		if err != nil {
			return "", err
		}
		p.plan.Count++
		return file.Apply([]fuzzy.Edit{edit}), nil
	}
	from, to := strings.Join(old, "\n"), strings.Join(new, "\n")
	if len(new) == 0 { // whole lines are deleted, with their line ends
		from += "\n"
	}
	found, err := fuzzy.Find(file.Text(), from, to, false)
	if err != nil {
		return "", err
	}
	if found.NoChange {
		return content, nil
	}
	p.plan.Count++
	p.plan.Strategy = looser(p.plan.Strategy, found.Strategy)
	p.plan.Reindented = p.plan.Reindented || found.Reindented
	p.plan.Notes = append(p.plan.Notes, found.Notes...)
	return file.Apply(found.Edits), nil
}

func looser(a, b fuzzy.Strategy) fuzzy.Strategy {
	order := fuzzy.Strategies()
	if slices.Index(order, b) > slices.Index(order, a) {
		return b
	}
	return a
}

// insertion inserts lines after the one line that matches the hint, or at the end.
func insertion(text, hint, added string) (fuzzy.Edit, error) {
	if hint == "" {
		if text != "" && !strings.HasSuffix(text, "\n") {
			added = "\n" + strings.TrimSuffix(added, "\n")
		}
		return fuzzy.Edit{Span: fuzzy.Span{Start: len(text), End: len(text)}, New: added}, nil
	}
	for _, names := range []func(line string) bool{
		func(line string) bool { return strings.TrimSpace(line) == hint },
		func(line string) bool { return strings.Contains(line, hint) },
	} {
		var ends []int
		at := 0
		for line := range strings.Lines(text) {
			if at += len(line); names(line) {
				ends = append(ends, at)
			}
		}
		switch {
		case len(ends) > 1:
			return fuzzy.Edit{}, &fuzzy.Error{Kind: fuzzy.KindAmbiguous, Matches: len(ends), Message: fmt.Sprintf(
				"the hunk only adds lines, and %d lines match its hint %q; put lines of context into the hunk", len(ends), hint)}
		case len(ends) == 1:
			if !strings.HasSuffix(text[:ends[0]], "\n") {
				added = "\n" + strings.TrimSuffix(added, "\n")
			}
			return fuzzy.Edit{Span: fuzzy.Span{Start: ends[0], End: ends[0]}, New: added}, nil
		}
	}
	return fuzzy.Edit{}, &fuzzy.Error{Kind: fuzzy.KindNotFound, Message: fmt.Sprintf(
		"the hunk only adds lines, and no line matches its hint %q; put lines of context into the hunk", hint)}
}
