package state_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

var tomlBlock = regexp.MustCompile("(?s)```toml\n(.*?)```")

// TestConfigOfTheDocumentsIsTaken: the examples of config.toml in the documentation can be
// copied as they are.
func TestConfigOfTheDocumentsIsTaken(t *testing.T) {
	names, err := filepath.Glob("../../../../docs/*.md")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d documents, %v", len(names), err)
	}
	set := func(string) string { return "postgres://ada:secret@db/sessions" }
	count := 0
	for _, name := range append(names, "../../../../README.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range tomlBlock.FindAllSubmatch(text, -1) {
			if strings.Contains(string(block[1]), "public_urls") { // that is the relay's configuration
				continue
			}
			count++
			path := filepath.Join(t.TempDir(), "config.toml")
			if err := os.WriteFile(path, block[1], 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := state.LoadConfig(path, set); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if count < 7 {
		t.Errorf("only %d examples were found", count)
	}
}
