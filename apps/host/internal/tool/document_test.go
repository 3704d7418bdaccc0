package tool

import (
	"flag"
	"os"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/memory"
)

var update = flag.Bool("update", false, "rewrite docs/tools.md")

func TestDocumentIsFresh(t *testing.T) {
	const file = "../../../../docs/tools.md"
	want, err := Document(NewCatalog(Options{Memory: memory.New("/memory", nil)}).Definitions())
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != want {
		t.Errorf("docs/tools.md is stale (%v): go test ./internal/tool -run Document -update", err)
	}
}
