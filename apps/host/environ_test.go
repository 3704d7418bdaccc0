package host

import (
	"slices"
	"testing"
)

// TestShellsGetNoKeys: the environment of terminals and of MCP servers has no key of a
// provider, and everything else.
func TestShellsGetNoKeys(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	t.Setenv("SCOREL_TEST_OTHER", "kept")
	environ := (&wiring{Host: &Host{}}).environ()
	if slices.Contains(environ, "OPENAI_API_KEY=key") || !slices.Contains(environ, "SCOREL_TEST_OTHER=kept") {
		t.Errorf("the environment is %q", environ)
	}
}
