package state_test

import (
	"fmt"
	"testing"
)

func TestModelsThatTakeImages(t *testing.T) {
	for _, c := range []struct {
		kind, id string
		want     bool
	}{
		{"anthropic", "claude-sonnet-4-5", true},
		{"anthropic", "claude-2.1", false},
		{"anthropic", "deepseek-chat", false},
		{"openai", "gpt-5", true},
		{"openai", "gpt-4o-mini", true},
		{"openai", "o3-mini", false},
		{"openai", "gpt-oss-120b", false},
		{"openai", "qwen3-coder", false},
		{"openai", "qwen2.5-vl:7b", true},
		{"openai", "openai/gpt-4.1", true},
		{"openai", "llama3.2-vision", true},
		{"openai", "something", false},
		{"openai-responses", "o3", true},
		{"google", "gemini-2.5-pro", true},
		{"google", "gemma-3n", false},
	} {
		for said, want := range map[string]bool{"": c.want, "images = true": true, "images = false": false} {
			config, err := load(t, fmt.Sprintf("default_model = \"m\"\n[providers.p]\ntype = %q\n[models.m]\nprovider = \"p\"\nid = %q\n%s\n", c.kind, c.id, said))
			if err != nil {
				t.Fatal(err)
			}
			if got := config.Models()[0].Images; got != want {
				t.Errorf("%s %s with %q: images %v", c.kind, c.id, said, got)
			}
		}
	}
}
