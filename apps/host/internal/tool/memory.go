package tool

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/atomicfile"
)

//go:embed memorysave.md
var memorySaveDoc string

//go:embed memoryrecall.md
var memoryRecallDoc string

// Bounds of notes.
const (
	maxNote  = 32 << 10 // bytes of one note
	maxNotes = 500      // per scope
)

// Scopes of a note.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

// noteName matches valid names, which are valid file names on every system.
var noteName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

var errNoteName = errors.New("name must have 1 to 64 characters, lowercase letters, digits and hyphens, such as build-commands")

type memorySave struct{ *Set }

type memorySaveArgs struct {
	Name    string `json:"name"`
	Content string `json:"content"`
	Scope   string `json:"scope,omitempty"`
}

func (memorySave) Spec() agent.ToolSpec {
	return spec("memory_save", memorySaveDoc, `{
		"name": {"type": "string", "description": "Lowercase letters, digits and hyphens, for example build-commands."},
		"content": {"type": "string", "description": "The note, in Markdown; its first line says what it is about."},
		"scope": {"type": "string", "enum": ["project", "user"], "description": "Who it is for; project without this."}}`, "name", "content")
}

func (memorySave) Risk() agent.Risk { return agent.RiskWrite }

func (memorySave) Describe(call agent.Call) agent.Description {
	var args memorySaveArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Description{Title: "Save a note (the arguments are wrong)", Detail: string(call.Arguments)}
	}
	title := fmt.Sprintf("Remember %s (%s)", args.Name, cmp.Or(args.Scope, scopeProject))
	if strings.TrimSpace(args.Content) == "" {
		title = fmt.Sprintf("Forget %s (%s)", args.Name, cmp.Or(args.Scope, scopeProject))
	}
	return agent.Description{Title: title, Detail: args.Content}
}

func (t memorySave) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	var args memorySaveArgs
	err := decodeArgs(call.Arguments, &args)
	scope := cmp.Or(args.Scope, scopeProject)
	switch {
	case err != nil:
		return agent.Failure("memory_save: %v.", err)
	case !noteName.MatchString(args.Name):
		return agent.Failure("memory_save: %v.", errNoteName)
	case scope != scopeUser && scope != scopeProject:
		return agent.Failure("memory_save: scope must be project or user.")
	case len(args.Content) > maxNote:
		return agent.Failure("memory_save: the note has %d bytes, the limit is %d; keep what matters.", len(args.Content), maxNote)
	case !utf8.ValidString(args.Content):
		return agent.Failure("memory_save: the note is not UTF-8 text.")
	}
	dir := t.memoryDir(scope, call.Cwd)
	unlock, err := t.locks.lock(ctx, dir)
	if err != nil {
		return agent.Failure("%s", agent.TextNotStarted)
	}
	defer unlock()
	path := filepath.Join(dir, args.Name+".md")
	if strings.TrimSpace(args.Content) == "" {
		if err := os.Remove(path); errors.Is(err, fs.ErrNotExist) {
			return agent.Failure("memory_save: there is no note %s to remove (%s); memory_recall lists them.", args.Name, scope)
		} else if err != nil {
			return agent.Failure("memory_save: the note could not be removed: %v.", err)
		}
		return agent.Success(fmt.Sprintf("Removed the note %s (%s).", args.Name, scope))
	}
	if err := writeNote(path, args.Content); err != nil {
		return agent.Failure("memory_save: %v.", err)
	}
	return agent.Success(fmt.Sprintf("Saved the note %s (%s).", args.Name, scope))
}

func writeNote(path, content string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the folder for notes could not be created: %w", err)
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if entries, err := os.ReadDir(dir); err == nil && len(entries) >= maxNotes {
			return fmt.Errorf("the limit of %d notes is reached; remove outdated ones", len(entries))
		}
	}
	if !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	if err := atomicfile.Write(path, []byte(content), 0o600); err != nil {
		return fmt.Errorf("the note could not be saved: %w", err)
	}
	return nil
}

// memoryDir returns the folder of a scope. A project's folder is named after its path, so
// that renaming the project does not lose it.
func (s *Set) memoryDir(scope, cwd string) string {
	if scope == scopeUser {
		return filepath.Join(s.options.Memory, "user")
	}
	if s.options.Origin != nil {
		cwd = s.options.Origin(cwd)
	}
	path := resolved(cwd)
	sum := sha256.Sum256([]byte(path))
	name := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, filepath.Base(path))
	return filepath.Join(s.options.Memory, "projects", name[:min(len(name), 40)]+"-"+hex.EncodeToString(sum[:6]))
}

type memoryRecall struct{ *Set }

type memoryRecallArgs struct {
	Name  string `json:"name,omitempty"`
	Query string `json:"query,omitempty"`
}

func (memoryRecall) Spec() agent.ToolSpec {
	return spec("memory_recall", memoryRecallDoc, `{
		"name": {"type": "string", "description": "Show this note completely."},
		"query": {"type": "string", "description": "Show the notes that contain all these words."}}`)
}

func (memoryRecall) Risk() agent.Risk { return agent.RiskRead }

func (memoryRecall) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Recall notes", Detail: string(call.Arguments)}
}

// note is a saved note.
type note struct{ scope, name, content string }

func (t memoryRecall) Run(_ context.Context, call agent.Call, _ func(string)) agent.Result {
	var args memoryRecallArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("memory_recall: %v.", err)
	}
	if args.Name != "" && !noteName.MatchString(args.Name) {
		return agent.Failure("memory_recall: %v.", errNoteName)
	}
	var all []note
	for _, scope := range []string{scopeProject, scopeUser} {
		notes, err := readNotes(t.memoryDir(scope, call.Cwd), scope)
		if err != nil {
			return agent.Failure("memory_recall: the notes cannot be read: %v.", err)
		}
		all = append(all, notes...)
	}
	words := strings.Fields(strings.ToLower(args.Query))
	found := slices.DeleteFunc(slices.Clone(all), func(n note) bool {
		text := strings.ToLower(n.name + "\n" + n.content)
		return args.Name != "" && n.name != args.Name ||
			slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
	switch {
	case len(all) == 0:
		return agent.Success("No notes have been saved yet.")
	case len(found) == 0 && args.Name != "":
		return agent.Failure("memory_recall: there is no note %s; without arguments all are listed.", args.Name)
	case len(found) == 0:
		return agent.Success(fmt.Sprintf("None of the %d notes contains all of these words; without arguments all are listed.", len(all)))
	}
	return agent.Success(t.firstRows("memory_recall", noteRows(found, args.Name != "" || len(words) > 0), MaxLines, "lines", "ask for one by its name"))
}

func noteRows(notes []note, whole bool) []string {
	var rows []string
	for _, n := range notes {
		if !whole {
			first, _, _ := strings.Cut(strings.TrimSpace(n.content), "\n")
			rows = append(rows, fmt.Sprintf("- %s (%s): %s", n.name, n.scope, first))
			continue
		}
		rows = append(rows, fmt.Sprintf("# %s (%s)", n.name, n.scope))
		rows = append(rows, strings.Split(strings.TrimRight(n.content, "\n"), "\n")...)
	}
	return rows
}

func readNotes(dir, scope string) ([]note, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var notes []note
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".md")
		if !ok || !entry.Type().IsRegular() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		notes = append(notes, note{scope, name, strings.ToValidUTF8(string(data[:min(len(data), 2*maxNote)]), "\uFFFD")})
	}
	return notes, nil
}
