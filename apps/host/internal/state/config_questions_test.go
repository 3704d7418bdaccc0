package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestQuestionTimeout(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	load := func(text string) (time.Duration, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		config, err := LoadConfig(path, func(string) string { return "" })
		return config.QuestionTimeout, err
	}
	for text, want := range map[string]time.Duration{
		"":                              30 * time.Minute,
		"[questions]\n":                 30 * time.Minute,
		"[questions]\ntimeout = \"2h\"": 2 * time.Hour,
		"[questions]\ntimeout = \"5s\"": 5 * time.Second,
		"[questions]\ntimeout = \"0\"":  0,
	} {
		if got, err := load(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"[questions]\ntimeout = \"soon\"": "questions.timeout \"soon\" must be",
		"[questions]\ntimeout = \"-1m\"":  "must be a duration of at least 5s",
		"[questions]\ntimeout = \"1s\"":   "must be a duration of at least 5s",
		"[questions]\ntimeout = 30":       "must be a string",
		"[questions]\ntime_out = \"1m\"":  "did you mean \"timeout\"?",
	} {
		if _, err := load(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
