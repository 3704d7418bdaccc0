package process

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// redacted stands for what is not repeated.
const redacted = "[redacted]"

// maxKey is the longest key of a payload, in bytes.
const maxKey = 128

// secretWords are what the name of a secret holds, in small letters without signs.
func secretWords() []string {
	return []string{
		"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey", "privatekey", "signingkey",
		"encryptionkey", "authorization", "credential", "cookie", "bearer", "jwt", "sessionid", "connectionstring",
	}
}

// secretKey tells whether a key names a secret. Those that count tokens do not.
func secretKey(key string, value any) bool {
	plain := strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, key)
	if plain == "auth" || plain == "key" || plain == "pin" || plain == "otp" {
		return true
	}
	_, number := value.(json.Number)
	if strings.HasSuffix(plain, "tokens") && number {
		return false
	}
	return slices.ContainsFunc(secretWords(), func(word string) bool { return strings.Contains(plain, word) })
}

// cleanObject keeps the first keys by name.
func cleanObject(object map[string]any, depth int) map[string]any {
	out := make(map[string]any, min(len(object), maxItems))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if len(out) == maxItems {
			break
		}
		value := object[key]
		name := cut(printable(key), maxKey)
		if secretKey(key, value) {
			out[name] = redacted
			continue
		}
		out[name] = cleanValue(value, depth-1)
	}
	return out
}

// Secrets in running text: after their name, in an address, behind "Bearer".
var (
	namedSecret = regexp.MustCompile(`(?i)([a-z0-9_.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|credential|cookie)[a-z0-9_.-]*["']?\s*[:=]\s*["']?)((?:bearer|basic|token)\s+)?([^\s"',;&]+)`)
	bearer      = regexp.MustCompile(`(?i)\b(bearer\s+)[a-z0-9._~+/=-]{8,}`)
	userInfo    = regexp.MustCompile(`(://)[^/\s:@]*:[^/\s@]+(@)`)
	counted     = regexp.MustCompile(`(?i)tokens["']?\s*[:=]\s*["']?$`)
	digits      = regexp.MustCompile(`^[0-9.]+$`)
)

// hints are what stands in every text that one of them matches: most texts hold none, and
// looking for these costs little.
func hints() []string {
	return []string{
		"passw", "passphrase", "secret", "token", "api", "access", "private", "authorization", "credential", "cookie", "bearer", "://",
	}
}

func redactText(text string) string {
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(hints(), func(hint string) bool { return strings.Contains(lower, hint) }) {
		return text
	}
	text = namedSecret.ReplaceAllStringFunc(text, func(found string) string {
		parts := namedSecret.FindStringSubmatch(found)
		if counted.MatchString(parts[1]) && digits.MatchString(parts[3]) {
			return found
		}
		return parts[1] + redacted
	})
	text = bearer.ReplaceAllString(text, "${1}"+redacted)
	return userInfo.ReplaceAllString(text, "${1}"+redacted+"${2}")
}
