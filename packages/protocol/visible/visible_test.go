package visible_test

import (
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/visible"
)

// TestTexts reads the examples that the web UI reads too.
func TestTexts(t *testing.T) {
	data, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct{ Text, Shown string }
	if err := json.Unmarshal(data, &cases); err != nil || len(cases) == 0 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		if got := visible.Text(c.Text); got != c.Shown {
			t.Errorf("%+q is shown as %+q, not %+q", c.Text, got, c.Shown)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\u202eb\x80")
	f.Fuzz(func(t *testing.T, text string) {
		shown := visible.Text(text)
		if !utf8.ValidString(shown) || visible.Text(shown) != shown {
			t.Errorf("%q is shown as %q", text, shown)
		}
	})
}
