package memory_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/memory"
)

func mustSave(t *testing.T, f memory.Folder, name, text string) memory.Note {
	t.Helper()
	note, err := f.Save(name, text, memory.Anything())
	if err != nil {
		t.Fatal(err)
	}
	return note
}

// TestAChangedNoteIsNotReplaced: a change needs the version that was read.
func TestAChangedNoteIsNotReplaced(t *testing.T) {
	changes := 0
	f := memory.New(filepath.Join(t.TempDir(), "memory"), func() { changes++ }).User()
	first, err := f.Save("build", "# Build\n\nmake", memory.Version(""))
	if err != nil || first.Title() != "Build" || first.Text != "# Build\n\nmake\n" || !first.Whole {
		t.Fatalf("%+v, %v", first, err)
	}
	mustSave(t, f, "build", "make all") // the agent, meanwhile
	for name, test := range map[string]struct {
		do   func() error
		want error
	}{
		"a save of the version before":   {func() error { _, err := f.Save("build", "mine", memory.Version(first.Version)); return err }, memory.ErrChanged},
		"a new note of the same name":    {func() error { _, err := f.Save("build", "mine", memory.Version("")); return err }, memory.ErrExists},
		"a delete of the version before": {func() error { return f.Delete("build", memory.Version(first.Version)) }, memory.ErrChanged},
		"a save of a deleted note":       {func() error { _, err := f.Save("gone", "mine", memory.Version(first.Version)); return err }, memory.ErrMissing},
	} {
		if err := test.do(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	now, err := f.Get("build")
	if err != nil || now.Text != "make all\n" || now.Version == first.Version {
		t.Errorf("%+v, %v", now, err)
	}
	if err := f.Delete("build", memory.Version(now.Version)); err != nil {
		t.Error(err)
	}
	if _, err := f.Get("build"); !errors.Is(err, memory.ErrMissing) {
		t.Error(err)
	}
	if changes != 3 {
		t.Errorf("%d changes were reported, want 3", changes)
	}
}

// TestOnlyFilesOfTheFolderAreNotes: no name and no symbolic link leads out of the folder. A
// file that a person named differently is a note all the same.
func TestOnlyFilesOfTheFolderAreNotes(t *testing.T) {
	top := t.TempDir()
	f := memory.New(top, nil).User()
	mustSave(t, f, "one", "text")
	secret := filepath.Join(top, "secret.md")
	for path, content := range map[string]string{
		secret: "secret", f.Path("My Note"): "by hand", f.Path("bytes"): "\xff", f.Path("large"): strings.Repeat("x", 100<<10),
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, f.Path("link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret", "link", "", ".", "a/../../secret", `..\secret`, "a\x00"} {
		if note, err := f.Get(name); err == nil {
			t.Errorf("%q leads to %+v", name, note)
		}
		if err := f.Delete(name, memory.Anything()); err == nil {
			t.Errorf("%q was deleted", name)
		}
	}
	if _, err := f.Save("New Note", "x", memory.Anything()); !errors.Is(err, memory.ErrName) {
		t.Error(err)
	}
	mustSave(t, f, "My Note", "changed")
	list, err := f.List()
	var found []string
	for _, note := range list {
		found = append(found, fmt.Sprintf("%s %v", note.Name, note.Whole))
	}
	if got, want := strings.Join(found, ", "), "My Note true, bytes false, large false, one true"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

func TestNotesAreBounded(t *testing.T) {
	f := memory.New(t.TempDir(), nil).Project("/work/site")
	if _, err := f.Save("long", strings.Repeat("x", memory.MaxNote+1), memory.Anything()); !errors.Is(err, memory.ErrTooLong) {
		t.Error(err)
	}
	if _, err := f.Save("bytes", "\xff", memory.Anything()); !errors.Is(err, memory.ErrText) {
		t.Error(err)
	}
	mustSave(t, f, "note-0", "x")
	for i := 1; i < memory.MaxNotes; i++ {
		if err := os.WriteFile(f.Path(fmt.Sprint("note-", i)), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.Save("one-more", "x", memory.Anything()); !errors.Is(err, memory.ErrFull) {
		t.Error(err)
	}
	mustSave(t, f, "note-7", "a change still fits")
}

// TestAHugeFileIsReadInPart: people can put any file into the folder. What is not read still
// counts for the version.
func TestAHugeFileIsReadInPart(t *testing.T) {
	f := memory.New(t.TempDir(), nil).User()
	mustSave(t, f, "huge", "x")
	if err := os.Truncate(f.Path("huge"), 1<<40); err != nil { // takes no space
		t.Fatal(err)
	}
	note, err := f.Get("huge")
	if err != nil || note.Whole || len(note.Text) > 2*memory.MaxNote {
		t.Fatalf("it has %d bytes, whole %v, %v", len(note.Text), note.Whole, err)
	}
	if err := os.Truncate(f.Path("huge"), 1<<39); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Save("huge", "small", memory.Version(note.Version)); err == nil {
		t.Error("a changed file was replaced")
	}
}

// TestProjectsHaveTheirOwnNotes: folders of the same name are different projects.
func TestProjectsHaveTheirOwnNotes(t *testing.T) {
	notes := memory.New(t.TempDir(), nil)
	mustSave(t, notes.Project("/one/site"), "build", "one")
	if list, err := notes.Project("/two/site").List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if list, err := notes.User().List(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}
