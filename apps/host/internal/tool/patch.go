package tool

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/tool/fuzzy"
	"github.com/scorel/scorel/apps/host/internal/tool/v4a"
)

//go:embed patch.md
var patchDoc string

const patchName = "patch"

// maxPatchFile bounds the size of a file to patch, in bytes.
const maxPatchFile = 10 << 20

// failuresBeforeHint is the number of consecutive failures on one file after which the
// model is asked to try another way.
const failuresBeforeHint = 3

// Kinds of failures, in addition to those of packages fuzzy and v4a.
const (
	kindBadArguments fuzzy.Kind = "bad_arguments"
	kindBadPath      fuzzy.Kind = "bad_path"
	kindStale        fuzzy.Kind = "stale"
	kindNumbered     fuzzy.Kind = "line_numbers"
	kindWrite        fuzzy.Kind = "write_failed"
	kindCancelled    fuzzy.Kind = "cancelled"
)

type patchTool struct{ *Set }

type patchArgs struct {
	Path       string  `json:"path,omitempty"`
	OldString  *string `json:"old_string,omitempty"`
	NewString  *string `json:"new_string,omitempty"`
	ReplaceAll bool    `json:"replace_all,omitempty"`
	Patch      string  `json:"patch,omitempty"`
}

// patchOutcome is the result for programs.
type patchOutcome struct {
	OK       bool            `json:"ok"`
	Strategy *fuzzy.Strategy `json:"strategy"` // the loosest strategy needed; null if no text was searched for
	Count    int             `json:"count"`    // number of places changed
	Diff     string          `json:"diff"`     // unified
	Error    *string         `json:"error"`    // "KIND: what to do"
}

// patchDetails holds information for people and programs besides the text.
type patchDetails struct {
	patchOutcome
	Approximate bool       `json:"approximate,omitempty"`
	Reindented  bool       `json:"reindented,omitempty"` // lines were given the file's indentation
	NoChange    bool       `json:"noChange,omitempty"`
	Files       []string   `json:"files,omitempty"` // absolute
	ErrorKind   fuzzy.Kind `json:"errorKind,omitempty"`
}

func (patchTool) Spec() agent.ToolSpec {
	return spec(patchName, patchDoc, `{
		"path": {"type": "string", "description": "File to change, absolute or relative to the working folder."},
		"old_string": {"type": "string", "description": "Text to replace, exactly as in the file."},
		"new_string": {"type": "string", "description": "Replacement text; empty to delete."},
		"replace_all": {"type": "boolean", "description": "Replace every occurrence, not only one."},
		"patch": {"type": "string", "description": "A patch of several files, instead of the other arguments."}}`)
}

func (patchTool) Risk() agent.Risk { return agent.RiskWrite }

// patchState is what a session remembers about its patches.
type patchState struct {
	mu       sync.Mutex
	shown    map[string]fingerprint // call id -> hash of the diff that a person saw
	failures map[string]int         // resolved path -> consecutive failures
}

// Describe shows the diff. Run makes exactly that change.
func (t patchTool) Describe(call agent.Call) agent.Description {
	planned, failure := t.plan(call)
	if failure != nil {
		t.remember(call.ID, failure.Error())
		return agent.Description{Title: "Change files (this cannot be done)", Detail: failure.Error() + "\n\n" + string(call.Arguments), Paths: t.lockKeys(call)}
	}
	diff := planned.diff()
	t.remember(call.ID, diff)
	title := "Change nothing"
	if n := len(planned.changes); n == 1 {
		title = planned.changes[0].verb() + " " + planned.changes[0].Path
	} else if n > 1 {
		title = fmt.Sprintf("Change %d files", n)
	}
	for _, c := range planned.changes {
		title += outside(call.Cwd, c.Key)
	}
	return agent.Description{Title: title, Detail: diff, IsDiff: true, Paths: t.lockKeys(call)}
}

func (t patchTool) remember(id, shown string) {
	t.patches.mu.Lock()
	defer t.patches.mu.Unlock()
	if t.patches.shown == nil {
		t.patches.shown = map[string]fingerprint{}
	}
	t.patches.shown[id] = sha256.Sum256([]byte(shown))
}

// approved reports whether the diff is the one that was shown, if one was shown.
func (t patchTool) approved(id, diff string) bool {
	t.patches.mu.Lock()
	defer t.patches.mu.Unlock()
	shown, asked := t.patches.shown[id]
	delete(t.patches.shown, id)
	return !asked || shown == sha256.Sum256([]byte(diff))
}

// Run changes all files or none; a cancellation does not stop it halfway.
func (t patchTool) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	unlock, err := t.locks.lock(ctx, t.lockKeys(call)...)
	if err != nil {
		return t.failed(call, &patchError{kind: kindCancelled, message: agent.TextNotStarted})
	}
	defer unlock()
	planned, failure := t.plan(call)
	if failure == nil && !t.approved(call.ID, planned.diff()) {
		failure = &patchError{kind: kindStale, message: "the file changed after the user approved the change; repeat the call"}
	}
	if failure == nil {
		failure = t.write(planned)
	}
	if failure != nil {
		return t.failed(call, failure)
	}
	for _, c := range planned.changes {
		t.wrote(call.Cwd, c.Key)
	}
	return t.succeeded(planned)
}

func (t patchTool) succeeded(p *planned) agent.Result {
	diff := p.diff()
	info := patchDetails{
		patchOutcome: patchOutcome{OK: true, Count: p.count, Diff: diff},
		Approximate:  p.strategy.Approximate(), Reindented: p.reindented, NoChange: len(p.changes) == 0,
	}
	if p.strategy != "" {
		info.Strategy = &p.strategy
	}
	t.patches.mu.Lock()
	for _, c := range p.changes {
		info.Files = append(info.Files, c.Key)
		delete(t.patches.failures, c.Key)
	}
	t.patches.mu.Unlock()
	var text strings.Builder
	switch {
	case info.NoChange:
		text.WriteString("Nothing to do: the file already contains the change.\n")
	case info.Approximate:
		fmt.Fprintf(&text, "Changed, but old_string was only similar to the file (%s). Check the diff:\n", p.strategy)
	case info.Reindented:
		fmt.Fprintf(&text, "Changed %d (%s). The indentation you sent was converted to that of the file. Check the diff:\n", p.count, p.strategy)
	case p.strategy != "":
		fmt.Fprintf(&text, "Changed %d (%s).\n", p.count, p.strategy)
	default:
		fmt.Fprintf(&text, "Changed %d.\n", p.count)
	}
	for _, note := range p.notes {
		text.WriteString("Note: " + note + ".\n")
	}
	text.WriteString(t.firstRows(patchName, strings.Split(strings.TrimSuffix(diff, "\n"), "\n"), MaxLines, "lines of the diff", "read the file to see them"))
	result := agent.Success(text.String())
	result.Details = details(info)
	return result
}

// failed counts the failure and returns its result, which says what to do.
func (t patchTool) failed(call agent.Call, failure *patchError) agent.Result {
	message := failure.Error()
	if failure.path != "" {
		if full, err := resolvePath(call, failure.path, t.private.forWriting()); err == nil {
			if n := t.countFailure(resolved(full)); n >= failuresBeforeHint {
				message += fmt.Sprintf("\nThis is failure %d in a row on this file. Do not repeat the same call: read the file, use a longer and exact old_string, or write the whole file with write_file.", n)
			}
		}
	}
	result := agent.Failure("patch: %s", message)
	result.Details = details(patchDetails{patchOutcome: patchOutcome{Error: &message}, ErrorKind: failure.kind})
	return result
}

func (t patchTool) countFailure(key string) int {
	t.patches.mu.Lock()
	defer t.patches.mu.Unlock()
	if t.patches.failures == nil {
		t.patches.failures = map[string]int{}
	}
	t.patches.failures[key]++
	return t.patches.failures[key]
}

// patchError is why nothing was changed.
type patchError struct {
	kind    fuzzy.Kind
	message string
	path    string // as the call names it; "" if no file is to blame
}

func (e *patchError) Error() string { return string(e.kind) + ": " + e.message }

// asPatchError converts an error of packages fuzzy or v4a.
func asPatchError(err error, path string) *patchError {
	var (
		found *fuzzy.Error
		plan  *v4a.Error
		own   *patchError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &plan):
		return &patchError{plan.Kind, plan.Message, plan.Path}
	case errors.As(err, &found):
		return &patchError{found.Kind, found.Message, path}
	}
	return &patchError{v4a.KindUnreadable, err.Error(), path}
}
