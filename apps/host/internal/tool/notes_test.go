package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/memory"
)

func TestTodo(t *testing.T) {
	scratch := t.TempDir()
	set := open(t, Options{}, Scope{Scratch: scratch})
	steps := []struct{ args, want string }{
		{`{}`, "The list is empty."},
		{`{"todos":[{"id":"a","content":"first","status":"in_progress"},{"id":"b","content":"second","status":"pending"}]}`,
			"2 items: 1 pending, 1 in progress, 0 completed, 0 cancelled.\n- [>] a. first\n- [ ] b. second\n"},
		{`{"merge":true,"todos":[{"id":"a","content":"","status":"completed"},{"id":"c","content":"third","status":"pending"}]}`,
			"3 items: 2 pending, 0 in progress, 1 completed, 0 cancelled.\n- [x] a. first\n- [ ] b. second\n- [ ] c. third\n"},
		{`{"todos":"[{\"id\":\"z\",\"content\":\"as text\",\"status\":\"cancelled\"}]"}`, "1 items: 0 pending, 0 in progress, 0 completed, 1 cancelled.\n- [-] z. as text\n"},
		{`{"todos":[{"id":"z","content":"old","status":"pending"},{"id":"z","content":"new","status":"pending"}]}`,
			"1 items: 1 pending, 0 in progress, 0 completed, 0 cancelled.\n- [ ] z. new\n"},
	}
	for _, step := range steps {
		if result := set.call(t, "", "todo", step.args); result.IsError || result.Content.Plain() != step.want {
			t.Errorf("%s: %q", step.args, result.Content.Plain())
		}
	}
	// A new process has the session's list; another session has its own.
	if text := open(t, Options{}, Scope{Scratch: scratch}).call(t, "", "todo", `{}`).Content.Plain(); !strings.Contains(text, "z. new") {
		t.Errorf("%q", text)
	}
	if text := open(t, Options{}, Scope{Scratch: t.TempDir()}).call(t, "", "todo", `{}`).Content.Plain(); text != "The list is empty." {
		t.Errorf("%q", text)
	}
	many := `{"todos":[` + strings.TrimSuffix(strings.Repeat(`{"id":"x","content":"y","status":"pending"},`, 3), ",") + `,{"id":"","content":"y","status":"pending"}]}`
	if result := set.call(t, "", "todo", many); !result.IsError || !strings.Contains(set.call(t, "", "todo", `{}`).Content.Plain(), "z. new") {
		t.Errorf("a wrong list was taken in part: %q", result.Content.Plain())
	}
}

func TestMemory(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "memory")
	options := Options{Memory: memory.New(folder, nil)}
	one, other := project(t, nil), project(t, nil)
	set := open(t, options, Scope{})
	if text := set.call(t, one, "memory_recall", `{}`).Content.Plain(); text != "No notes have been saved yet." {
		t.Errorf("%q", text)
	}
	for _, args := range []string{
		`{"name":"build","content":"Build with make all.\nTests need Go."}`,
		`{"name":"taste","content":"Likes tabs.","scope":"user"}`,
	} {
		if result := set.call(t, one, "memory_save", args); result.IsError {
			t.Fatal(result.Content.Plain())
		}
	}
	later := open(t, options, Scope{}) // another session
	tests := []struct{ cwd, args, want string }{
		{one, `{}`, "- build (project): Build with make all.\n- taste (user): Likes tabs.\n"},
		{other, `{}`, "- taste (user): Likes tabs.\n"},
		{one, `{"name":"build"}`, "# build (project)\nBuild with make all.\nTests need Go.\n"},
		{one, `{"query":"TABS likes"}`, "# taste (user)\nLikes tabs.\n"},
		{one, `{"query":"nowhere"}`, "None of the 2 notes contains all of these words; without arguments all are listed."},
	}
	for _, test := range tests {
		if text := later.call(t, test.cwd, "memory_recall", test.args).Content.Plain(); text != test.want {
			t.Errorf("%s: %q", test.args, text)
		}
	}
	for args, want := range map[string]string{
		`{"name":"../x","content":"y"}`:            "name must have 1 to 64 characters",
		`{"name":"x","content":"y","scope":"all"}`: "scope must be project or user",
		`{"name":"gone","content":""}`:             "there is no note gone",
	} {
		if result := later.call(t, one, "memory_save", args); !result.IsError || !strings.Contains(result.Content.Plain(), want) {
			t.Errorf("%s: %q", args, result.Content.Plain())
		}
	}
	if result := later.call(t, one, "memory_save", `{"name":"taste","content":" ","scope":"user"}`); result.IsError {
		t.Error(result.Content.Plain())
	}
	if _, err := os.Stat(filepath.Join(folder, "user", "taste.md")); !os.IsNotExist(err) {
		t.Errorf("the note is still there: %v", err)
	}
}
