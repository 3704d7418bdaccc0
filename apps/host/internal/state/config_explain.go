package state

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/scorel/scorel/apps/host/internal/levenshtein"
)

// explainTOML converts an error of the decoder to ":LINE: description".
func explainTOML(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := unknown.Errors[0]
		line, _ := first.Position()
		return fmt.Errorf(":%d: %s", line, unknownKey(first.Key()))
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		text := plainTypeError(strings.TrimPrefix(wrong.Error(), "toml: "))
		if key := strings.Join(wrong.Key(), "."); key != "" {
			text = key + ": " + text
		}
		return fmt.Errorf(":%d: %s", line, text)
	}
	return fmt.Errorf(": %w", err)
}

// plainTypeError says which kind of value is expected, without Go types.
func plainTypeError(text string) string {
	found := regexp.MustCompile(`^cannot decode TOML (\w+) into .* of type (int|float64|string)`).FindStringSubmatch(text)
	if found == nil {
		return text
	}
	return fmt.Sprintf("must be a %s, not %s", map[string]string{"int": "whole number", "float64": "number", "string": "string"}[found[2]], withArticle(found[1]))
}

func withArticle(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "an " + noun
	}
	return "a " + noun
}

// unknownKey names the key and the nearest known one.
func unknownKey(key []string) string {
	name, full := key[len(key)-1], strings.Join(key, ".")
	if strings.Contains(strings.ReplaceAll(strings.ToLower(name), "_", ""), "apikey") {
		return fmt.Sprintf("%s: API keys do not belong in this file; put the key in an environment variable and name that as api_key_env", full)
	}
	known := knownKeys(key)
	if nearest := levenshtein.Nearest(name, known); nearest != "" {
		return fmt.Sprintf("unknown key %q; did you mean %q?", full, nearest)
	}
	return fmt.Sprintf("unknown key %q; the keys here are %s", full, strings.Join(known, ", "))
}

// knownKeys lists the keys that are valid at the position of key.
func knownKeys(key []string) []string {
	switch {
	case len(key) == 3 && key[0] == "providers":
		return []string{"type", "base_url", "api_key_env"}
	case len(key) == 2 && key[0] == "mcp":
		return []string{"servers", "client_metadata_url"}
	case len(key) == 4 && key[0] == "mcp":
		return mcpKeys()
	case len(key) == 5 && key[0] == "mcp":
		return []string{"client_id", "client_secret", "issuer", "callback_port", "scopes"}
	case len(key) == 2 && key[0] == "hooks":
		return hookKeys()
	case len(key) == 2 && key[0] == "budgets":
		return budgetKeys()
	case len(key) == 2 && key[0] == "compaction":
		return []string{"share", "keep_tokens"}
	case len(key) == 3 && key[0] == "models":
		return []string{"provider", "id", "context_window", "max_tokens", "thinking", "price_input", "price_output", "price_cache_read", "price_cache_write"}
	case len(key) == 3 && key[0] == "session_providers":
		return []string{"url", "url_env"}
	case len(key) == 2 && key[0] == "permissions":
		return permissionKeys()
	case len(key) == 2 && key[0] == "sandbox":
		return sandboxKeys()
	case len(key) == 2 && key[0] == "questions":
		return []string{"timeout"}
	case len(key) == 2 && key[0] == "environment":
		return []string{"pass"}
	case len(key) == 2 && key[0] == "worktrees":
		return []string{"folder"}
	case key[0] == "crew" && (len(key) == 2 || len(key) == 4):
		return subagentKeys(len(key) == 4)
	case len(key) == 3 && key[0] == "projects":
		return []string{"session_provider"}
	}
	return []string{"default_model", "auxiliary_model", "relay_url", "relay_urls", "relay_invite", "label", "max_steps", "keep_awake", "metrics_listen", "trace_url", "compaction", "session_provider", "providers", "models", "session_providers", "projects", "permissions", "sandbox", "questions", "environment", "crew", "worktrees", "mcp", "hooks", "budgets"}
}
