package redact

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxSettings bounds what Settings returns.
const maxSettings = 1000

// Settings lists the settings of a configuration file, one a line: numbers and switches with their
// values, the words of a few settings that have no others, and of all other texts only that they are
// set. The names that people chose are counted instead.
func Settings(config map[string]any) []string {
	lines := settings(nil, "", config)
	if len(lines) > maxSettings {
		lines = lines[:maxSettings]
	}
	return lines
}

// keyed are the tables whose keys people choose.
var keyed = []string{"providers", "models", "projects", "session_providers", "mcp.servers", "crew.agents", "agents"}

// words are settings whose values are words of scorel.
var words = []string{"type", "thinking", "mode", "remote_mode", "session_provider", "event", "network"}

func settings(lines []string, prefix string, table map[string]any) []string {
	for i, name := range slices.Sorted(maps.Keys(table)) {
		value := table[name]
		if slices.Contains(keyed, prefix) || !setting(name) {
			name = fmt.Sprintf("(%d)", i+1)
		}
		at := strings.TrimPrefix(prefix+"."+name, ".")
		switch v := value.(type) {
		case map[string]any:
			lines = settings(lines, at, v)
		case []any:
			lines = append(lines, fmt.Sprintf("%s: %d values", at, len(v)))
		case string:
			if slices.Contains(words, name) && setting(v) {
				lines = append(lines, at+": "+v)
			} else {
				lines = append(lines, at+": (set)")
			}
		case bool, int64, float64:
			lines = append(lines, fmt.Sprintf("%s: %v", at, v))
		default:
			lines = append(lines, at+": (set)")
		}
	}
	return lines
}

// setting reports whether a text can be the name of a setting or one of scorel's words.
func setting(text string) bool {
	return len(text) < 32 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_-") == ""
}
