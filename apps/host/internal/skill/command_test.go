package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/definition"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestArgumentsOfACommand(t *testing.T) {
	for _, c := range [][3]string{
		{"Look at $ARGUMENTS.", "a b", "Look at a b."}, {"$2 and $1, $3", "a b", "b and a, "}, {"Look.", " a ", "Look.\n\na"}, {"Look.", "", "Look."},
		{"$ARGUMENTS", "$1 $ARGUMENTS", "$1 $ARGUMENTS"}, {"costs $10", "a", "costs $10\n\na"},
	} {
		if got := skill.WithArguments(c[0], c[1]); got != c[2] {
			t.Errorf("%q with %q is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestExtensionsComeLast: what they have has their name in front.
func TestExtensionsComeLast(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := "---\nname: one\ndescription: Does it.\n---\nDo it."
	put(filepath.Join(home, "skills", "one", "SKILL.md"), text)
	put(filepath.Join(root, "skills", "one", "SKILL.md"), text)
	put(filepath.Join(root, "commands", "sub", "one.md"), "# Go on\n")
	put(filepath.Join(root, "commands", "two.md"), "---\ndescription: Second.\nname: other\n---\nGo.")
	found := skill.Find(definition.Places{Cwd: t.TempDir(), ScorelHome: home, Extensions: []definition.Extension{
		{Name: "ext", Folders: map[string][]string{"skills": {filepath.Join(root, "skills")}, skill.Commands: {filepath.Join(root, "commands")}}},
	}})
	var list []string
	for _, s := range found.Skills {
		list = append(list, s.Name+" "+s.Scope+" "+s.Description)
	}
	if got, want := strings.Join(list, ", "), "ext:one "+session.ScopeExtension+" Does it., ext:two extension Second., one user Does it."; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if notes := strings.Join(found.Notes, "\n"); !strings.Contains(notes, "the same name") {
		t.Errorf("the notes are %q", notes)
	}
}
