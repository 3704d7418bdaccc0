package editors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// TestAnEditorShowsAllOfAChange: what an approval allows is in what the editor is shown of it.
func TestAnEditorShowsAllOfAChange(t *testing.T) {
	w := newWorld(t)
	script := filepath.Join(w.folder, "main.lua")
	if err := os.WriteFile(script, []byte("print(1)\n-- old\nprint(2)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := w.open()
	e.prompt(e.begin(w.folder), sdk.TextBlock(`use patch {"path": "main.lua", "old_string": "-- old\nprint(2)\n", "new_string": "++ notes.txt\nos.execute('one')\nprint(2)\nos.execute('two\u202e')\n"}`))
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 || len(e.asked[0].ToolCall.Content) == 0 || e.asked[0].ToolCall.Content[0].Diff == nil {
		t.Fatalf("%+v", e.asked)
	}
	diff := e.asked[0].ToolCall.Content[0].Diff
	if diff.Path != script || diff.OldText == nil || *diff.OldText != "print(1)\n-- old\nprint(2)\n" {
		t.Errorf("%+v", diff)
	}
	if want := "print(1)\n++ notes.txt\nos.execute('one')\nprint(2)\nos.execute('two<U+202E>')\n"; diff.NewText != want {
		t.Errorf("the editor shows %q", diff.NewText)
	}
}

// TestAnEditorShowsACommandAsItIs: a comment of Markdown hides nothing of it.
func TestAnEditorShowsACommandAsItIs(t *testing.T) {
	w := newWorld(t)
	e := w.open()
	e.prompt(e.begin(w.folder), sdk.TextBlock(`use bash {"command": "touch a.txt # <!--\ntouch b.txt # -->"}`))
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 || len(e.asked[0].ToolCall.Content) != 2 || e.asked[0].ToolCall.Content[0].Content == nil {
		t.Fatalf("%+v", e.asked)
	}
	circumstances := e.asked[0].ToolCall.Content[1].Content.Content.Text
	if !strings.Contains(circumstances.Text, "Folder: "+w.folder+"\n") {
		t.Errorf("%+v", circumstances)
	}
	if got := e.asked[0].ToolCall.Content[0].Content.Content.Text; got == nil || !strings.HasPrefix(got.Text, "```\ntouch a.txt # <!--\ntouch b.txt # -->\n```") {
		t.Errorf("%+v", got)
	}
}
