package editors

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/acp"
)

// file is a change as the examples have it.
type file struct{ Path, Before, After string }

func filesIn(diff string) (files []file, whole bool) {
	changes, whole := changesIn(diff)
	for _, c := range changes {
		files = append(files, file{c.path, string(c.before), string(c.after)})
	}
	return files, whole
}

// TestDiffs reads the examples that the web UI reads too.
func TestDiffs(t *testing.T) {
	data, err := os.ReadFile("testdata/diffs.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Diff string
		Files      []file
	}
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		if files, whole := filesIn(c.Diff); !whole || !slices.Equal(files, c.Files) {
			t.Errorf("%s: whole %t\n%+v, want\n%+v", c.Name, whole, files, c.Files)
		}
	}
}

// TestDiffsWithoutNewlines: a change of the last line break alone is one.
func TestDiffsWithoutNewlines(t *testing.T) {
	files, whole := filesIn("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n--- a/y\n+++ b/y\n@@ -1,2 +1 @@\n-a\n b\n\\ No newline at end of file\n")
	if want := []file{{"x", "a\nb", "a\nb\n"}, {"y", "a\nb", "b"}}; !whole || !slices.Equal(files, want) {
		t.Errorf("whole %t, %+v", whole, files)
	}
}

// TestWhatADiffDoesNotSay: the text is shown besides the changes if these are not all of it.
func TestWhatADiffDoesNotSay(t *testing.T) {
	head := "--- a/x\n+++ b/x\n"
	for name, diff := range map[string]string{
		"an empty file that is deleted": "--- a/x\n+++ /dev/null\n",
		"a file that is renamed":        "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
		"lines after a hunk":            head + "@@ -1 +1 @@\n-a\n+b\n+c\n",
		"too few lines in a hunk":       head + "@@ -1,9 +1 @@\n-a\n+b\n",
		"lines of no hunk":              head + "-a\n+b\n",
		"a count that is no number":     head + "@@ -1,x +1 @@\n-a\n+b\n",
		"a count that is too large":     head + "@@ -1,99999999999999999999 +1 @@\n-a\n+b\n",
		"a line of no kind":             head + "@@ -1 +1 @@\n-a\n?\n+b\n",
		"a name with more behind it":    "--- a/x\n+++ b/x\tor y\n@@ -1 +1 @@\n-a\n+b\n",
		"half a heading":                "--- a/x\n",
		"text":                          "x.bin: 1000000 bytes became 2 bytes",
		"a mark without a line":         head + "\\ No newline at end of file\n@@ -1 +1 @@\n-a\n+b\n",
	} {
		if files, whole := filesIn(diff); whole {
			t.Errorf("%s is shown as %+v only", name, files)
		}
		v := view{o: &open{cwd: "/work"}}
		content := v.diff(diff)
		if last := content[len(content)-1]; last.Type != acp.ToolContentBlock || !strings.Contains(last.Content.Text, strings.TrimSuffix(diff, "\n")) {
			t.Errorf("%s: the text is not shown: %+v", name, content)
		}
	}
}

// FuzzDiffs: each line of a hunk is in the changes, or the whole text is shown.
func FuzzDiffs(f *testing.F) {
	f.Add("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n--- b\n+++ c\n d\n")
	f.Add("--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n\\ No newline\n--- /dev/null\n+++ b/y\n@@ -0,0 +1 @@\n+b\n")
	f.Fuzz(func(t *testing.T, diff string) {
		files, whole := filesIn(diff)
		if !whole {
			return
		}
		var before, after strings.Builder
		for _, file := range files {
			before.WriteString(file.Before + "\n")
			after.WriteString(file.After + "\n")
		}
		for line := range strings.Lines(diff) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "): // may be a heading
			case strings.HasPrefix(line, "-") && !strings.Contains(before.String(), line[1:]+"\n"),
				strings.HasPrefix(line, "+") && !strings.Contains(after.String(), line[1:]+"\n"):
				t.Errorf("%q is hidden in %q", line, diff)
			}
		}
	})
}

func TestFences(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":             "```\na\nb\n```",
		"```\n<!-- a -->":    "````\n```\n<!-- a -->\n````",
		"a `````` b ``` c\n": "```````\na `````` b ``` c\n```````",
	} {
		if got := fenced("", text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
