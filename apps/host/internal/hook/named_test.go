package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWhatACommandNames: whatever way a command spells the name of a file of the project, the
// consent covers its content.
func TestWhatACommandNames(t *testing.T) {
	dir := t.TempDir()
	var many []string
	for i := range maxNamed {
		many = append(many, fmt.Sprintf("t/a%d.sh", i))
	}
	for _, name := range append([]string{".scorel/check", "evil.sh", "my check", "d/x.sh", "lib.mts", "data.txt", "e[1].sh", "f/f1/a.sh"}, many...) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("exit 0\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string][]string{
		"bash .scorel/check":                         {".scorel/check"},
		". ./.scorel/check":                          {".scorel/check"},
		"make -f .scorel/check":                      {".scorel/check"},
		"make --file=.scorel/check":                  {".scorel/check"},
		"bash $PWD/evil.sh":                          {"evil.sh"},
		`bash "${PWD}/evil.sh"`:                      {"evil.sh"},
		`bash "$CLAUDE_PROJECT_DIR"/evil.sh`:         {"evil.sh"},
		"bash " + dir + "/evil.sh":                   {"evil.sh"},
		`bash ./ev\il.sh`:                            {"evil.sh"},
		`bash ./ev"il".sh`:                           {"evil.sh"},
		`bash ./ev'il'.sh`:                           {"evil.sh"},
		"bash ./ev\\\nil.sh":                         {"evil.sh"},
		`bash 'my check'`:                            {"my check"},
		`bash my\ check`:                             {"my check"},
		`bash -c 'bash "my check"'`:                  {"my check"},
		`bash -c "bash ./ev\\il.sh"`:                 {"evil.sh"},
		`x=$(bash ./ev\il.sh)`:                       {"evil.sh"},
		"if true; then . d/../evil.sh; fi":           {"evil.sh"},
		"bash ./evil.s[h]":                           {"evil.sh"},
		"bash ./ev*":                                 {"evil.sh"},
		"bash $PWD/e?il.sh":                          {"evil.sh"},
		"bash ./[!a]vil.sh":                          {"evil.sh"},
		`bash "e[1]"*`:                               {"e[1].sh"},
		"bash f/*/a.sh":                              {"f/f1/a.sh"},
		"grep -q x *.txt":                            nil, // it works on them
		"cat >> data.txt":                            nil, // it changes with each run
		"cat > evil.sh":                              {"evil.sh"},
		"bash < data.txt":                            {"data.txt"},
		"bash <<E\nbash ./ev\\il.sh\nE":              {"evil.sh"},
		"node lib.mts":                               {"lib.mts"},
		"grep -q x data.txt":                         {"data.txt"},
		"bash ../evil.sh":                            nil,
		"echo {1..1000000000}":                       nil,
		"bash evil.sh; 'not closed":                  {"evil.sh"},
		"cat " + strings.Join(many, " "):             many,
		"cat t/*; bash ./evil.sh; bash t/../evil.sh": nil,
	} {
		s := spec{definition: definition{Command: command}}
		files, all := s.files(dir)
		var names []string
		for _, file := range files {
			names = append(names, file.Path)
		}
		if !strings.Contains(command, "t/*") && (!slices.Equal(names, want) || !all) {
			t.Errorf("%s: %q, %v, want %q", command, names, all, want)
		}
		if strings.Contains(command, "t/*") && all {
			t.Errorf("%s: all files are pinned, %q", command, names)
		}
	}
	for _, command := range []string{"cat " + strings.Join(many, " ") + "; bash evil.sh", strings.Repeat("echo */a; ", maxListed)} {
		if files, all := (spec{definition: definition{Command: command}}).files(dir); all {
			t.Errorf("%.40s: all files are pinned, %v", command, files)
		}
	}
}

func FuzzNamed(f *testing.F) {
	f.Add(`bash -c "bash ./ev\\il.sh" $PWD/x* [!a] {1..9} $'\x41' <<E`)
	f.Fuzz(func(t *testing.T, command string) {
		names, patterns := named(command, "/project", maxCommand)
		if len(names) > 0 && command == "" || len(patterns) > len(names) {
			t.Errorf("%q names %q and %q", command, names, patterns)
		}
	})
}
