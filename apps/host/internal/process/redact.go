package process

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// redacted replaces a secret.
const redacted = "[redacted]"

// maxKey is the maximum length of a key of a payload, in bytes.
const maxKey = 128

// secretWords occur in names of secrets, in lowercase and without punctuation.
func secretWords() []string {
	return []string{
		"password", "passwd", "passphrase", "pwd", "secret", "token", "apikey", "accesskey", "privatekey", "signingkey",
		"encryptionkey", "authorization", "credential", "cookie", "bearer", "jwt", "sessionid", "connectionstring",
	}
}

// countWords occur next to "token" in names of counts, as in maxTokens and token_count.
func countWords() []string {
	return []string{
		"tokens", "tokencount", "tokenlimit", "tokenusage", "tokenbudget", "tokenrate", "tokenprice", "tokencost", "tokenlength",
		"numtoken", "maxtoken", "mintoken", "totaltoken", "inputtoken", "outputtoken", "prompttoken", "completiontoken",
		"cachedtoken",
	}
}

// plainName returns a name in lowercase, without punctuation.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		case 'a' <= r && r <= 'z':
			return r
		}
		return -1
	}, name)
}

// secretName reports whether a name, as returned by plainName, belongs to a secret. PWD and
// OLDPWD are folders of the shell, and a tokenizer holds no token.
func secretName(plain string) bool {
	plain = strings.ReplaceAll(plain, "tokeniz", "")
	return plain != "pwd" && plain != "oldpwd" && containsAny(plain, secretWords())
}

// countName reports whether such a name may belong to a count.
func countName(plain string) bool {
	return strings.HasSuffix(plain, "count") || strings.HasSuffix(plain, "counts") || containsAny(plain, countWords())
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// secretKey reports whether a key of a payload names a secret. Keys of counts and Booleans
// do not.
func secretKey(key string, value any) bool {
	plain := plainName(key)
	switch plain {
	case "auth", "key", "pin", "otp", "pwd":
	default:
		if !secretName(plain) {
			return false
		}
	}
	if _, yesNo := value.(bool); yesNo || value == nil {
		return false
	}
	return !countName(plain) || !isCount(value)
}

var number = regexp.MustCompile(`^[0-9][0-9.,_]{0,15}[kKM]?%?$`)

// isCount reports whether a value is a number or contains only numbers.
func isCount(value any) bool {
	switch v := value.(type) {
	case json.Number:
		return true
	case string:
		return number.MatchString(v)
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !isCount(item) })
	case map[string]any:
		for _, item := range v {
			if !isCount(item) {
				return false
			}
		}
		return true
	}
	return false
}

// cleanObject keeps the first keys in alphabetical order.
func cleanObject(object map[string]any, depth int) map[string]any {
	out := make(map[string]any, min(len(object), maxItems))
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if len(out) == maxItems {
			break
		}
		value := object[key]
		name := cut(printable(redactText(key)), maxKey)
		if secretKey(key, value) {
			out[name] = redacted
			continue
		}
		out[name] = cleanValue(value, depth-1)
	}
	return out
}
