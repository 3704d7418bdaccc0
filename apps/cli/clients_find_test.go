package cli

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestFindClient: the beginning of an id names a client if no other id begins with it.
func TestFindClient(t *testing.T) {
	var list []api.Client
	for _, text := range []string{"cli_k7m2", "cli_k7aa", "cli_bbbb"} {
		id, err := ident.ParseClientID(text + strings.Repeat("a", 28))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, api.Client{ID: id})
	}
	for text, want := range map[string]string{"cli_k7m2": "cli_k7m2", "cli_bbbba": "cli_bbbb", "cli_bbb": "", "cli_k7a": "", "cli_cccc": ""} {
		found, err := findClient(list, text)
		if got := found.String(); (err == nil) != (want != "") || want != "" && !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
}
