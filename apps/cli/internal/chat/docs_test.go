package chat

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
)

// TestTheDocumentListsEveryKey: the tables of docs/terminal.md are those of the code.
func TestTheDocumentListsEveryKey(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/terminal.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(data)
	for _, list := range [][]binding{bindings(), cardBindings()} {
		for _, b := range list {
			var names []string
			for _, key := range b.keys {
				names = append(names, "`"+KeyName(key)+"`")
			}
			if line := "| " + strings.Join(names, ", ") + " | " + b.what + " |"; !strings.Contains(document, line) {
				t.Errorf("docs/terminal.md has no line %s", line)
			}
		}
	}
	for _, s := range slashes() {
		if line := "| `" + strings.TrimSpace("/"+s.name+" "+s.args) + "` | " + s.what + " |"; !strings.Contains(document, line) {
			t.Errorf("docs/terminal.md has no line %s", line)
		}
	}
	for _, key := range composer.Keys() {
		if !strings.Contains(document, "`"+KeyName(key)+"`") {
			t.Errorf("docs/terminal.md does not name %s", KeyName(key))
		}
	}
}

// TestNoKeyHasTwoMeanings: a key of the screen would hide the same one of the field.
func TestNoKeyHasTwoMeanings(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range bindings() {
		for _, key := range b.keys {
			if seen[key] || slices.Contains(composer.Keys(), key) && key != "ctrl+d" {
				t.Errorf("%s has two meanings", key)
			}
			seen[key] = true
		}
	}
}
