//go:build !windows

package extension_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAPipeIsRefused: reading it would wait forever.
func TestAPipeIsRefused(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	write(t, folder, small("tools"))
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: folder})
	wantKind(t, err, api.KindBadRequest)
}
