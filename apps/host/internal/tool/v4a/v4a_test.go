package v4a

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path"
	"strings"
	"testing"
)

// folder is a file system in memory.
type folder map[string]string

func (f folder) Key(name string) (string, error) { return path.Clean(name), nil }

func (f folder) Read(key string) (string, bool, error) {
	content, exists := f[key]
	for name := range f {
		if strings.HasPrefix(name, key+"/") {
			return "", false, errors.New("it is a folder")
		}
	}
	return content, exists, nil
}

func (f folder) apply(patch string) error {
	ops, err := Parse(patch)
	if err != nil {
		return err
	}
	plan, err := Make(ops, f)
	if err != nil {
		return err
	}
	for _, c := range plan.Changes {
		if c.After == nil {
			delete(f, c.Key)
		} else {
			f[c.Key] = *c.After
		}
	}
	return nil
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// These are differences from the program that a table comes from, and why.
var (
	caseDifferences = map[string]string{
		"add_file":                    "an added file ends with a line end, as text files do and as the other table wants it",
		"add_existing":                "the same",
		"update_fuzzy_trailing_ws":    "a line that the hunk does not change keeps the bytes of the file, blanks at its end included",
		"codex_move_to_inside_update": "the move is made, as the other table wants it, and not taken for a line of context",
	}
	scenarioDifferences = map[string]string{
		"015_failure_after_partial_success_leaves_changes": "a patch is applied as a whole or not at all",
		"024_preserves_mixed_line_endings":                 "a CR without LF is text, not the end of a line",
	}
)

func TestCases(t *testing.T) {
	var cases []struct {
		Name   string
		Input  folder
		Patch  string
		Expect struct {
			OK    *bool
			Files folder
		}
	}
	readJSON(t, "testdata/v4a_cases.json", &cases)
	if len(cases) < 25 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		err := c.Input.apply(c.Patch)
		ok := c.Expect.OK != nil && *c.Expect.OK
		agrees := (err == nil) == ok && maps.Equal(c.Input, c.Expect.Files)
		if _, different := caseDifferences[c.Name]; agrees == different {
			t.Errorf("%s: error %v, files %q, want ok %v, %q", c.Name, err, c.Input, ok, c.Expect.Files)
		}
	}
}

func TestScenarios(t *testing.T) {
	var table struct {
		Cases []struct {
			Name            string
			Patch           string
			Input, Expected folder
		}
	}
	readJSON(t, "testdata/codex_apply_patch_scenarios.json", &table)
	if len(table.Cases) < 25 {
		t.Fatalf("only %d cases", len(table.Cases))
	}
	for _, c := range table.Cases {
		err := c.Input.apply(c.Patch)
		if _, different := scenarioDifferences[c.Name]; maps.Equal(c.Input, c.Expected) == different {
			t.Errorf("%s: error %v, files %q, want %q", c.Name, err, c.Input, c.Expected)
		}
	}
}

func TestFaults(t *testing.T) {
	tests := []struct{ name, patch, want string }{
		{"every fault is named", "*** Delete File: no\n*** Update File: a\n@@\n-zzzzzzzz\n+y\n", "- no: the file does not exist\n- a: hunk 1: the file contains neither old_string"},
		{"a line without a mark", "*** Update File: a\n@@\nfoo\n", `line 3 of the patch: "foo" does not begin with a space, - or +`},
		{"text before the first operation", "*** Begin Patch\nhello\n", `line 2 of the patch: "hello" is not an operation`},
		{"a move without a goal", "*** Move File: a\n", "line 1 of the patch: a move is written"},
		{"a move onto itself", "*** Move File: a -> ./a\n", "a: the source and the target of the move are the same file"},
		{"no path", "*** Add File:\n+x\n", "the path is missing"},
		{"two lines hold the hint", "*** Update File: b\n@@ same\n+x\n", "2 lines match its hint"},
	}
	for _, test := range tests {
		files := folder{"a": "one\n", "b": "same\nsame\n"}
		err := files.apply(test.patch)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if !maps.Equal(files, folder{"a": "one\n", "b": "same\nsame\n"}) {
			t.Errorf("%s: files were changed: %q", test.name, files)
		}
	}
}

func TestWholeLinesGo(t *testing.T) {
	files := folder{"a": "one\r\ntwo\r\nthree\r\n", "end": "one\ntwo"}
	if err := files.apply("*** Update File: a\n@@\n-two\n*** Update File: end\n@@\n one\n-two\n"); err != nil {
		t.Fatal(err)
	}
	if files["a"] != "one\r\nthree\r\n" || files["end"] != "one" {
		t.Errorf("%q", files)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n@@ x\n a\n-b\n+c\n\n*** Move File: a -> b\n*** End Patch\n")
	f.Add("*** Update File: a\n*** Move to: c\n@@ -1,2 +3 @@\n\\ No newline\n*** End of File\n+\n")
	f.Add("*** Add File: a\n+x\n*** Delete File: b")
	f.Fuzz(func(t *testing.T, patch string) {
		before := folder{"a": "a\nb\n", "b": ""}
		files := maps.Clone(before)
		if err := files.apply(patch); err != nil && !maps.Equal(files, before) {
			t.Errorf("%v, and yet files were changed: %q", err, files)
		}
	})
}
