package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/redact"
)

// TestABundleHasTheLogOfASystemRelay: if there is one, without what its messages quote.
func TestABundleHasTheLogOfASystemRelay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.log")
	b := &bundle{home: t.TempDir(), hide: redact.New("/planted", nil)}
	b.systemLog(path)
	if b.text.Len() > 0 {
		t.Errorf("without a relay: %s", b.text.String())
	}
	if err := os.WriteFile(path, []byte(`{"time":"2026-01-02T03:04:05Z","level":"WARN","msg":"the store does not answer","url":"planted"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.systemLog(path)
	if text := b.text.String(); !strings.Contains(text, "== relay.log of the system service\n") || !strings.Contains(text, "the store does not answer") || strings.Contains(text, "planted") {
		t.Errorf("got %s", text)
	}
}
