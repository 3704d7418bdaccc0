package doctor

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the vocabulary for the web UI")

// TestWordsOfTheWeb checks that the web UI's copy of the vocabulary is equal to this one.
func TestWordsOfTheWeb(t *testing.T) {
	path := filepath.Join("..", "..", "..", "web", "src", "api", "doctor-words.json")
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(words()); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s is stale: run go test . -run TestWordsOfTheWeb -update", path)
	}
}

func TestEveryFindingBelongsToAStepAndHasAHint(t *testing.T) {
	for f, hint := range hints {
		step, _, _ := strings.Cut(string(f), "_")
		if titles[Name(step)] == "" {
			t.Errorf("%s belongs to no step", f)
		}
		if !strings.HasSuffix(hint, ".") {
			t.Errorf("the hint of %s is not a sentence: %q", f, hint)
		}
	}
}
