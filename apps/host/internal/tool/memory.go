package tool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/memory"
)

//go:embed memorysave.md
var memorySaveDoc string

//go:embed memoryrecall.md
var memoryRecallDoc string

// Scopes of a note.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

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

func (memorySave) Risk() agent.Risk { return agent.RiskNote }

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

func (t memorySave) Run(_ context.Context, call agent.Call, _ func(string)) agent.Result {
	var args memorySaveArgs
	err := decodeArgs(call.Arguments, &args)
	scope := cmp.Or(args.Scope, scopeProject)
	if err == nil {
		err = cmp.Or(memory.CheckName(args.Name), memory.CheckText(args.Content))
	}
	switch {
	case err != nil:
		return agent.Failure("memory_save: %v.", err)
	case scope != scopeUser && scope != scopeProject:
		return agent.Failure("memory_save: scope must be project or user.")
	}
	folder := t.notes(scope, call.Cwd)
	if strings.TrimSpace(args.Content) == "" {
		if err := folder.Delete(args.Name, memory.Anything()); errors.Is(err, memory.ErrMissing) {
			return agent.Failure("memory_save: there is no note %s to remove (%s); memory_recall lists them.", args.Name, scope)
		} else if err != nil {
			return agent.Failure("memory_save: %v.", err)
		}
		return agent.Success(fmt.Sprintf("Removed the note %s (%s).", args.Name, scope))
	}
	if _, err := folder.Save(args.Name, args.Content, memory.Anything()); err != nil {
		return agent.Failure("memory_save: %v.", err)
	}
	return agent.Success(fmt.Sprintf("Saved the note %s (%s).", args.Name, scope))
}

// notes returns the notes of a scope. Those of a worktree are the project's.
func (s *Set) notes(scope, cwd string) memory.Folder {
	if scope == scopeUser {
		return s.options.Memory.User()
	}
	if s.options.Origin != nil {
		cwd = s.options.Origin(cwd)
	}
	return s.options.Memory.Project(resolved(cwd))
}

type memoryRecall struct{ *Set }

type memoryRecallArgs struct {
	Name  string `json:"name,omitempty"`
	Query string `json:"query,omitempty"`
	Day   string `json:"day,omitempty"`
}

func (memoryRecall) Spec() agent.ToolSpec {
	return spec("memory_recall", memoryRecallDoc, `{
		"name": {"type": "string", "description": "Show this note completely."},
		"query": {"type": "string", "description": "Show the notes that contain all these words."},
		"day": {"type": "string", "description": "Show this day of the project's journal, YYYY-MM-DD, or latest."}}`)
}

func (memoryRecall) Risk() agent.Risk { return agent.RiskRead }

func (memoryRecall) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Recall notes", Detail: string(call.Arguments)}
}

// scopedNote is a note with its scope.
type scopedNote struct {
	memory.Note
	scope string
}

func (t memoryRecall) Run(_ context.Context, call agent.Call, _ func(string)) agent.Result {
	var args memoryRecallArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("memory_recall: %v.", err)
	}
	if args.Day != "" {
		return t.journal(t.notes(scopeProject, call.Cwd).Journal(), args.Day)
	}
	var all []scopedNote
	for _, scope := range []string{scopeProject, scopeUser} {
		notes, err := t.notes(scope, call.Cwd).List()
		if err != nil {
			return agent.Failure("memory_recall: %v.", err)
		}
		for _, n := range notes {
			all = append(all, scopedNote{n, scope})
		}
	}
	words := strings.Fields(strings.ToLower(args.Query))
	found := slices.DeleteFunc(slices.Clone(all), func(n scopedNote) bool {
		text := strings.ToLower(n.Name + "\n" + n.Text)
		return args.Name != "" && n.Name != args.Name ||
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

// journal shows a day of a journal. The last day may be asked for without its date.
func (t memoryRecall) journal(journal memory.Journal, day string) agent.Result {
	days, err := journal.Days()
	if err != nil {
		return agent.Failure("memory_recall: %v.", err)
	}
	if day == "latest" && len(days) > 0 {
		day = days[0]
	}
	text, err := journal.Day(day)
	switch {
	case errors.Is(err, memory.ErrMissing) && len(days) == 0:
		return agent.Success("The journal of this project is empty.")
	case errors.Is(err, memory.ErrMissing):
		return agent.Failure("memory_recall: the journal has no entry for that day; it has %s.", strings.Join(days[:min(len(days), 14)], ", "))
	case err != nil:
		return agent.Failure("memory_recall: %v.", err)
	}
	rows := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return agent.Success(t.firstRows("memory_recall", rows, MaxLines, "lines", "ask for another day"))
}

func noteRows(notes []scopedNote, whole bool) []string {
	var rows []string
	for _, n := range notes {
		if !whole {
			first, _, _ := strings.Cut(strings.TrimSpace(n.Text), "\n")
			rows = append(rows, fmt.Sprintf("- %s (%s): %s", n.Name, n.scope, first))
			continue
		}
		rows = append(rows, fmt.Sprintf("# %s (%s)", n.Name, n.scope))
		rows = append(rows, strings.Split(strings.TrimRight(n.Text, "\n"), "\n")...)
	}
	return rows
}
