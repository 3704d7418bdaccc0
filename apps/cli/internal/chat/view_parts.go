package chat

import (
	"strings"
)

// KeyName returns the name of a key for people.
func KeyName(key string) string {
	parts := strings.Split(key, "+")
	names := map[string]string{"pgup": "PgUp", "pgdown": "PgDn", "esc": "Esc", "alt": "Alt", "ctrl": "Ctrl", "shift": "Shift", "enter": "Enter",
		"tab": "Tab", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End", "f1": "F1", "space": "Space",
		"backspace": "Backspace", "delete": "Delete"}
	for i, part := range parts {
		if name, ok := names[part]; ok {
			parts[i] = name
		} else if len(parts) > 1 {
			parts[i] = strings.ToUpper(part)
		}
	}
	return strings.Join(parts, "+")
}
