package cli

import (
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/service"
)

// TestProgramsInHomesAreFound: a service without a home cannot read them.
func TestProgramsInHomesAreFound(t *testing.T) {
	homes := []string{filepath.FromSlash("/home"), filepath.FromSlash("/root")}
	for path, want := range map[string]bool{
		"/home/anna/.local/bin/scorel": true, "/root/scorel": true, "/usr/local/bin/scorel": false, "/homes/scorel": false, "/rooted": false,
	} {
		if got := below(filepath.FromSlash(path), homes); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if private, shared := service.ProgramFolders(); len(private) == 0 || below(shared, private) {
		t.Errorf("%s is in one of %v", shared, private)
	}
}
