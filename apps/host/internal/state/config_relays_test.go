package state

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRelays: relay_url and relay_urls can be used alone and together; what cannot work is
// an error that names the place.
func TestRelays(t *testing.T) {
	many := make([]string, maxRelays+1)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprintf("https://r%d.example", i))
	}
	for text, want := range map[string][]string{
		``:                                   nil,
		`relay_url = "https://a.example"`:    {"https://a.example"},
		`relay_urls = ["https://b.example"]`: {"https://b.example"},
		"relay_url = \"https://a.example\"\nrelay_urls = [\"wss://b.example\", \"http://127.0.0.1:7410\"]": {
			"https://a.example", "wss://b.example", "http://127.0.0.1:7410"},
	} {
		config, err := loadText(t, text)
		if err != nil || !slices.Equal(config.RelayURLs, want) {
			t.Errorf("%s: %q, %v", text, config.RelayURLs, err)
		}
	}
	for text, want := range map[string]string{
		`relay_urls = ["relay.example"]`:                                          `relay_urls[0]`,
		`relay_urls = ["https://a.example", "ftp://b"]`:                           `relay_urls[1]`,
		`relay_urls = "https://a.example"`:                                        `relay_urls`,
		`relay_urls = [""]`:                                                       `relay_urls[0]`,
		`relay_urls = ["https://a.example","https://a.example"]`:                  `"https://a.example" is listed twice`,
		"relay_url = \"https://a.example\"\nrelay_urls = [\"https://a.example\"]": `listed twice`,
		`relay_urls = [` + strings.Join(many, ",") + `]`:                          `at most 8`,
		`relay_uris = []`:                                                         `relay_urls`,
	} {
		if _, err := loadText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func loadText(t *testing.T, text string) (Config, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return LoadConfig(path, func(string) string { return "" })
}
