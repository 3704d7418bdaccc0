package platforms_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
)

func TestOpen(t *testing.T) {
	kind, err := platforms.Find("telegram")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kind.Open(map[string]string{"token": "1:abc"}, nil); err != nil {
		t.Error(err)
	}
	for _, settings := range []map[string]string{
		{}, {"token": ""}, {"token": "1:a", "other": "x"}, {"token": "1:a\n"}, {"token": "1:" + strings.Repeat("a", platforms.MaxSetting)},
	} {
		if _, err := kind.Open(settings, nil); err == nil {
			t.Errorf("%v was accepted", settings)
		}
	}
	if _, err := platforms.Find("icq"); err == nil || !strings.Contains(err.Error(), "telegram") {
		t.Error(err)
	}
}

// TestKinds checks that every platform can be described to people.
func TestKinds(t *testing.T) {
	for _, k := range platforms.Kinds() {
		if k.Name == "" || k.Title == "" || k.New == nil || len(k.Settings) == 0 {
			t.Errorf("incomplete: %+v", k)
		}
		for _, s := range k.Settings {
			if s.Name == "" || s.Usage == "" || strings.Contains(s.Name, " ") {
				t.Errorf("%s: %+v", k.Name, s)
			}
		}
	}
}
