//go:build !windows

package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/instructions"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestCancelledTurnAndItsJobs: a cancel stops what became a job on its own in this turn.
// Jobs started in the background continue, and no longer begin a turn.
func TestCancelledTurnAndItsJobs(t *testing.T) {
	s := newShell(t)
	set := s.tool.Set
	s.tool.yield = 10 * time.Millisecond
	start := func(name string, background bool) string {
		t.Helper()
		command := "echo $$ > " + name + "; sleep 1000"
		var id string
		if background {
			id = jobOf(t, set.call(t, s.dir, "bash", map[string]any{"command": command, "background": true, "notify_on_complete": true}))
		} else {
			result, info := s.run(t.Context(), command, 0)
			if id = info.Job; id == "" {
				t.Fatalf("no job: %q", result.Content.Plain())
			}
		}
		await(t, filepath.Join(s.dir, name))
		return id
	}
	set.Began(nil)
	earlier := start("earlier", false)
	set.Began(nil)
	yielded, meant := start("yielded", false), start("meant", true)
	set.Canceled()
	mustDie(t, s.dir, "yielded")
	list := set.call(t, s.dir, "bash_job", `{"action":"list"}`).Content.Plain()
	for id, state := range map[string]string{earlier: "running", yielded: "stopped", meant: "running"} {
		if !strings.Contains(list, id+": "+state) {
			t.Errorf("%s should be %s:\n%s", id, state, list)
		}
	}
	set.jobs.mu.Lock()
	j := set.jobs.list[2]
	set.jobs.mu.Unlock()
	j.cancel(errKilled)
	<-j.done
	if set.Waking() {
		t.Error("a job of a canceled turn wakes the session")
	}
	set.Close()
	mustDie(t, s.dir, "earlier", "meant")
}

// TestNotesAreOne: several ended jobs are reported in one note, once.
func TestNotesAreOne(t *testing.T) {
	set := open(t, Options{}, Scope{})
	woken := 0
	set.Listen(func() { woken++ })
	set.notices.ended("job1", "Background job job1 ended", false)
	set.notices.ended("job2", "Background job job2 ended", true)
	if !set.Waking() || woken != 1 {
		t.Errorf("waking %v, woken %d times", set.Waking(), woken)
	}
	notes := set.Notes()
	if len(notes) != 1 || notes[0].Kind != session.NoteJobs || !strings.HasPrefix(notes[0].Text, "Background job job1 ended\nBackground job job2 ended\n") {
		t.Errorf("%+v", notes)
	}
	if len(set.Notes()) != 0 || set.Waking() {
		t.Error("notified twice")
	}
}

// TestOpenTasksComeBack: open tasks are repeated after a compaction, also in a later
// process.
func TestOpenTasksComeBack(t *testing.T) {
	scratch := t.TempDir()
	set := open(t, Options{}, Scope{Scratch: scratch})
	if notes := set.Compacted(nil); len(notes) != 0 {
		t.Errorf("without a list: %+v", notes)
	}
	set.call(t, "", "todo", `{"todos":[{"id":"a","content":"first","status":"completed"},{"id":"b","content":"second","status":"in_progress"},
		{"id":"c","content":"third","status":"pending"},{"id":"d","content":"fourth","status":"cancelled"}]}`)
	for _, s := range []*Set{set, open(t, Options{}, Scope{Scratch: scratch})} {
		notes := s.Compacted(nil)
		if len(notes) != 1 || notes[0].Kind != session.NoteTodos || !strings.HasSuffix(notes[0].Text, ":\n- [>] b. second (in_progress)\n- [ ] c. third (pending)\n") {
			t.Errorf("%+v", notes)
		}
	}
	set.call(t, "", "todo", `{"todos":[{"id":"b","content":"","status":"completed"},{"id":"c","content":"","status":"cancelled"}],"merge":true}`)
	if notes := set.Compacted(nil); len(notes) != 0 {
		t.Errorf("with nothing open: %+v", notes)
	}
}

func TestOpenTasksAreBounded(t *testing.T) {
	set := open(t, Options{}, Scope{})
	var items []map[string]string
	for i := range 9 {
		items = append(items, map[string]string{"id": string(rune('a' + i)), "content": strings.Repeat("x", 2000), "status": "pending"})
	}
	set.call(t, "", "todo", map[string]any{"todos": items})
	text := set.Compacted(nil)[0].Text
	if len(text) > maxReminder+200 || !strings.HasSuffix(text, "(5 more: todo shows them)\n") {
		t.Errorf("%d bytes, the end is %q", len(text), text[len(text)-40:])
	}
}

// TestNestedInstructions: instructions of nested folders are sent when a file in them is
// read, once until the model no longer has them.
func TestNestedInstructions(t *testing.T) {
	dir := project(t, map[string]string{"AGENTS.md": "root", "a/AGENTS.md": "of a", "a/x": "1", "a/b/CLAUDE.md": "of b", "a/b/y": "2"})
	trusted := true
	set := open(t, Options{}, Scope{Nested: func(cwd, file string, has func(string) bool) []session.InstructionFile {
		if !trusted {
			return nil
		}
		return instructions.Nested(cwd, file, has)
	}})
	told := func() string {
		var texts []string
		for _, note := range set.Notes() {
			relative, err := filepath.Rel(dir, note.Paths[0])
			if err != nil || note.Kind != session.NoteInstructions || !strings.Contains(note.Text, "<instructions path=") {
				t.Errorf("%+v %v", note, err)
			}
			texts = append(texts, relative)
		}
		return strings.Join(texts, " ")
	}
	read := func(name string) string {
		set.call(t, dir, "read_file", map[string]any{"path": name})
		return told()
	}
	set.Began(nil)
	for _, step := range []struct{ file, want string }{
		{"AGENTS.md", ""}, {"a/missing", ""}, {"a/x", "a/AGENTS.md"}, {"a/x", ""}, {"a/b/y", "a/b/CLAUDE.md"}, {"a/b/y", ""},
	} {
		if got := read(step.file); got != step.want {
			t.Errorf("after %s: %q, want %q", step.file, got, step.want)
		}
	}
	set.Compacted([]string{filepath.Join(dir, "a", "AGENTS.md")}) // the other one is no longer in the context
	if got := read("a/b/y"); got != "a/b/CLAUDE.md" {
		t.Errorf("after a compaction: %q", got)
	}
	trusted = false
	set.Began(nil)
	if got := read("a/b/y"); got != "" {
		t.Errorf("in a folder that is not trusted: %q", got)
	}
}

func TestNestedInstructionsAreBounded(t *testing.T) {
	files := map[string]string{}
	for i := range maxNested + 3 {
		name := string(rune('a' + i))
		files[name+"/AGENTS.md"], files[name+"/x"] = name, name
	}
	dir := project(t, files)
	set := open(t, Options{}, Scope{Nested: instructions.Nested})
	for i := range maxNested + 3 {
		set.call(t, dir, "read_file", map[string]any{"path": string(rune('a'+i)) + "/x"})
	}
	if notes := set.Notes(); len(notes) != maxNested {
		t.Errorf("%d files", len(notes))
	}
}

// TestActivate: a person invokes a skill by its name, including one that the model is not
// offered.
func TestActivate(t *testing.T) {
	dir := project(t, map[string]string{"deploy/SKILL.md": "---\nname: deploy\ndescription: d\n---\nDo it.\n"})
	set := open(t, Options{}, Scope{})
	path := filepath.Join(dir, "deploy", "SKILL.md")
	set.UseSkills(session.Skills{Skills: []session.SkillInfo{{Name: "deploy", Path: path, Manual: true}}})
	note, ok := set.Activate("deploy", "to prod")
	if !ok || note.Kind != session.NoteSkill || !strings.Contains(note.Text, "<skill_content name=\"deploy\">\nDo it.") || !strings.HasSuffix(note.Text, "arguments: to prod") {
		t.Errorf("%v %+v", ok, note)
	}
	if _, ok := set.Activate("etc", ""); ok {
		t.Error("a skill that is not there was activated")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if note, ok := set.Activate("deploy", ""); !ok || !strings.Contains(note.Text, "can no longer be read") {
		t.Errorf("%v %+v", ok, note)
	}
}

// TestNestedInstructionsByTool: every tool given a path below a folder with instructions
// causes them to be sent, once.
func TestNestedInstructionsByTool(t *testing.T) {
	calls := []struct {
		name, tool string
		args       map[string]any
		want       bool
	}{
		{"read_file", "read_file", map[string]any{"path": "a/b/x"}, true},
		{"write_file", "write_file", map[string]any{"path": "a/b/new/y", "content": "y"}, true},
		{"patch", "patch", map[string]any{"path": "a/b/x", "old_string": "1", "new_string": "2"}, true},
		{"list_dir", "list_dir", map[string]any{"path": "a/b"}, true},
		{"glob", "glob", map[string]any{"pattern": "*", "path": "a/b"}, true},
		{"grep in a folder", "grep", map[string]any{"pattern": "1", "path": "a/b"}, true},
		{"grep in a file", "grep", map[string]any{"pattern": "1", "path": "a/b/x"}, true},
		{"list_dir of the working folder", "list_dir", map[string]any{}, false},
		{"glob without a path", "glob", map[string]any{"pattern": "**/x"}, false},
		{"a folder that is not there", "list_dir", map[string]any{"path": "a/b/none"}, false},
		{"a patch that does not fit", "patch", map[string]any{"path": "a/b/x", "old_string": "no such text", "new_string": "2"}, false},
		{"its own instructions", "write_file", map[string]any{"path": "a/b/AGENTS.md", "content": "mine"}, false},
	}
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"AGENTS.md": "root", "a/b/x": "1\n"}
			if c.name != "its own instructions" {
				files["a/b/AGENTS.md"] = "of b"
			}
			dir := project(t, files)
			set := open(t, Options{}, Scope{Nested: instructions.Nested})
			set.Began(nil)
			for i, want := range []bool{c.want, false} {
				set.call(t, dir, c.tool, c.args)
				if notes := set.Notes(); (len(notes) == 1) != want || len(notes) > 1 {
					t.Errorf("call %d: received %+v", i, notes)
				}
			}
		})
	}
}
