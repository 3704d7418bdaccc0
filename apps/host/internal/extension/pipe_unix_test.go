//go:build !windows

package extension_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAPipeIsRefused, and a link to one: reading it would wait forever.
func TestAPipeIsRefused(t *testing.T) {
	for name, why := range map[string]string{"pipe": "pipe is neither a file nor a folder", "link": "link is a link that leads out of the folder"} {
		w := newWorld(t)
		folder := t.TempDir()
		write(t, folder, small("tools"))
		at := filepath.Join(folder, "pipe")
		if name == "link" {
			at = filepath.Join(t.TempDir(), "pipe")
			if err := os.Symlink(at, filepath.Join(folder, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(at, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: folder})
		wantKind(t, err, api.KindBadRequest)
		if err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("the error is %v", err)
		}
	}
}
