package cli

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestPromptsFromStandardInput: the command rejects text that would reach the host changed,
// or not at all.
func TestPromptsFromStandardInput(t *testing.T) {
	for name, c := range map[string]struct{ in, wrong string }{
		"text":     {"naïve\n", ""},
		"limit":    {strings.Repeat("a", api.MaxPrompt), ""},
		"empty":    {" \n", "is empty"},
		"too long": {strings.Repeat("a", api.MaxPrompt+1), "over the limit"},
		"bytes":    {"a\xff\xfeb", "not UTF-8 text"},
		"cut":      {"na\xc3", "not UTF-8 text"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := promptText(t.Context(), console{stdin: strings.NewReader(c.in)}, "-")
			switch {
			case c.wrong == "" && (err != nil || got != c.in):
				t.Errorf("read %d of %d bytes: %v", len(got), len(c.in), err)
			case c.wrong != "" && (exitCode(err) != ExitUsage || !strings.Contains(err.Error(), c.wrong)):
				t.Errorf("the error is %v, want one that says %q", err, c.wrong)
			}
		})
	}
}
