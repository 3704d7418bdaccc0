package state

import (
	"regexp"
	"strings"
)

// Models that accept images if config.toml does not say so, and those of OpenAI and
// Anthropic that do not. An unknown model counts as text-only: a refusal that says what to
// do is better than an error of the provider in the middle of a session.
var (
	imageModel = regexp.MustCompile(`(?i)(^|[/:._-])(gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-[5-9]|chatgpt|o1|o3|o4-mini|claude|gemini|llava|pixtral|gemma-?3|llama-?4|qwen[0-9.]*-?vl|[a-z0-9.]*-?vision|vl)($|[/:._-])`)
	textModel  = regexp.MustCompile(`(?i)(o1-mini|o1-preview|o3-mini|claude-(1|2|instant)|gpt-oss)`)
)

// takesImages reports whether a model is known to accept images.
func takesImages(kind, id string) bool {
	switch kind {
	case ProviderDemo:
		return true
	case ProviderGoogle:
		return strings.Contains(id, "gemini")
	}
	return imageModel.MatchString(id) && !textModel.MatchString(id)
}
