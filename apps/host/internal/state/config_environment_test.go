package state_test

import (
	"slices"
	"strings"
	"testing"
)

// TestWithheldEnvs: variables withheld from commands, for any configured providers.
func TestWithheldEnvs(t *testing.T) {
	const provider = "[providers.p]\ntype = \"anthropic\"\napi_key_env = \"UNUSED_KEY\"\n" // without a model
	for name, c := range map[string]struct {
		text          string
		env           []string
		withheld, not []string
	}{
		"nothing is configured":  {"", nil, []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "SCOREL_SESSIONS_POSTGRES"}, []string{"PATH", "HF_TOKEN"}},
		"one by the environment": {"", []string{"OPENAI_API_KEY", "k"}, []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}, nil},
		"one is configured":      {provider, nil, []string{"UNUSED_KEY", "ANTHROPIC_API_KEY"}, nil},
		"some are passed on":     {provider + "[environment]\npass = [\"OPENAI_API_KEY\", \"OTHER\"]\n", nil, []string{"UNUSED_KEY", "ANTHROPIC_API_KEY"}, []string{"OPENAI_API_KEY", "OTHER"}},
	} {
		config, err := load(t, c.text, c.env...)
		if err != nil {
			t.Fatal(err)
		}
		got := config.WithheldEnvs()
		for _, want := range c.withheld {
			if !slices.Contains(got, want) {
				t.Errorf("%s: a command gets %s", name, want)
			}
		}
		if i := slices.IndexFunc(c.not, func(name string) bool { return slices.Contains(got, name) }); i >= 0 || !slices.IsSorted(got) {
			t.Errorf("%s: withheld are %q", name, got)
		}
	}
}

func TestEnvironmentErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[environment]\npass = [\"sk-ant-123\"]\n":                                                         "environment.pass must contain names",
		"[environment]\npass = [\"SCOREL_SESSIONS_POSTGRES\"]\n":                                           "is used by the host itself",
		"[environment]\nparse = []\n":                                                                      "did you mean \"pass\"?",
		"[environment]\npass = \"OPENAI_API_KEY\"\n":                                                       "environment.pass",
		"[providers.p]\ntype = \"openai\"\napi_key_env = \"MY_KEY\"\n[environment]\npass = [\"MY_KEY\"]\n": "is used by the host itself",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "sk-ant") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := load(t, "[environment]\npass = [\"OPENAI_API_KEY\"]\n", "OPENAI_API_KEY", "k"); err == nil || !strings.Contains(err.Error(), "put the host's value in another variable") {
		t.Errorf("the key that the environment chose is passed on: %v", err)
	}
}
