package projects_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestNotesAreEditedByVersion: notes of the project and of the user are listed, and a note
// that changed in the meantime is neither replaced nor deleted.
func TestNotesAreEditedByVersion(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	build := api.MemoryNoteRequest{Scope: api.MemoryProject, ProjectID: project.ID, Name: "build"}
	save := api.SaveMemoryNoteRequest{MemoryNoteRequest: build, Text: "# " + strings.Repeat("ü", 300)}
	first := dispatchtest.Call(t, w.local, api.SaveMemoryNote, save).Note
	w.expectEvents(t, "memory_changed")
	if utf8.RuneCountInString(first.Title) != 200 || first.Scope != api.MemoryProject || first.ModifiedAt == 0 || !strings.HasPrefix(first.Path, w.Paths.Memory()) {
		t.Errorf("the note is %+v", first)
	}
	dispatchtest.Refused(t, w.local, api.SaveMemoryNote, save, api.KindConflict) // it exists
	save.Version, save.Text = first.Version, "make all"
	second := dispatchtest.Call(t, w.local, api.SaveMemoryNote, save).Note
	dispatchtest.Refused(t, w.local, api.SaveMemoryNote, save, api.KindConflict) // the version before
	dispatchtest.Refused(t, w.local, api.DeleteMemoryNote, api.DeleteMemoryNoteRequest{MemoryNoteRequest: build, Version: first.Version}, api.KindConflict)

	mine := api.SaveMemoryNoteRequest{MemoryNoteRequest: api.MemoryNoteRequest{Scope: api.MemoryUser, Name: "taste"}, Text: "Likes tabs."}
	dispatchtest.Call(t, w.local, api.SaveMemoryNote, mine)
	list := func(projectID string) string {
		var names []string
		for _, note := range dispatchtest.Call(t, w.local, api.ListMemory, api.ListMemoryRequest{ProjectID: projectID}).Notes {
			names = append(names, note.Name+" "+string(note.Scope))
		}
		return strings.Join(names, ", ")
	}
	if got, want := list(project.ID), "build project, taste user"; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	if got := dispatchtest.Call(t, w.local, api.GetMemoryNote, build); got.Text != "make all\n" || got.Note != second || got.Partial {
		t.Errorf("the note is %+v", got)
	}
	dispatchtest.Call(t, w.local, api.DeleteMemoryNote, api.DeleteMemoryNoteRequest{MemoryNoteRequest: build, Version: second.Version})
	dispatchtest.Refused(t, w.local, api.SaveMemoryNote, api.SaveMemoryNoteRequest{MemoryNoteRequest: build, Version: second.Version, Text: "x"}, api.KindConflict)
	dispatchtest.Refused(t, w.local, api.GetMemoryNote, build, api.KindNotFound)
	if got := list(""); got != "taste user" {
		t.Errorf("listed %s", got)
	}
}

func TestRefusedNotes(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	for name, c := range map[string]struct {
		note api.MemoryNoteRequest
		text string
		kind api.Kind
	}{
		"a name with a path":  {api.MemoryNoteRequest{Scope: api.MemoryUser, Name: "../taste"}, "x", api.KindBadRequest},
		"an unknown scope":    {api.MemoryNoteRequest{Scope: "galaxy", Name: "taste"}, "x", api.KindBadRequest},
		"an unknown project":  {api.MemoryNoteRequest{Scope: api.MemoryProject, ProjectID: "prj_none", Name: "taste"}, "x", api.KindNotFound},
		"a note without text": {api.MemoryNoteRequest{Scope: api.MemoryProject, ProjectID: project.ID, Name: "taste"}, " \n", api.KindBadRequest},
	} {
		t.Run(name, func(t *testing.T) {
			dispatchtest.Refused(t, w.local, api.SaveMemoryNote, api.SaveMemoryNoteRequest{MemoryNoteRequest: c.note, Text: c.text}, c.kind)
		})
	}
	viewer := w.Connect("cli_viewer", api.GrantView)
	dispatchtest.Call(t, viewer, api.ListMemory, api.ListMemoryRequest{})
	note := api.MemoryNoteRequest{Scope: api.MemoryUser, Name: "taste"}
	dispatchtest.Refused(t, viewer, api.SaveMemoryNote, api.SaveMemoryNoteRequest{MemoryNoteRequest: note, Text: "x"}, api.KindNotAllowed)
}
