package process

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Secrets in running text: after their name, after "Bearer", and in a URL.
var (
	// namedValue matches a name that may belong to a secret, up to where its value begins:
	// after an assignment, after a colon, or as the next word after a flag.
	namedValue = regexp.MustCompile(`(?i)(--?)?([a-z0-9_.-]*(?:passw|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|authorization|credential|cookie|jwt|session[_-]?id|connection[_-]?string)[a-z0-9_.-]*)(\\*["'])?([ \t]*(?::=|=>|[:=])[ \t]*(?:\r?\n[ \t]*(?:\\*["']))?|[ \t]+)`)
	bearer     = regexp.MustCompile(`(?i)\b(bearer[ \t]+)[a-z0-9._~+/=-]{8,}`)
	// userInfo matches a user name and password, or a long user name, before the @ of a
	// URL.
	userInfo = regexp.MustCompile(`(://)(?:[^\s/?#"'<>:]*:[^\s/?#"'<>]*|[^\s/?#"'<>:@]{20,})(@)`)
)

// hints are substrings of every text that one of the patterns matches. Most texts contain
// none, and searching for them is cheap.
func hints() []string {
	return []string{
		"passw", "passphrase", "pwd", "secret", "token", "key", "authorization", "credential", "cookie", "jwt", "session", "connection", "bearer", "://",
	}
}

// maxRedacted bounds the searched text, in bytes; no field keeps more than that.
const maxRedacted = 32 << 10

// redactText redacts the values of secrets in the beginning of a text.
func redactText(text string) string {
	if len(text) > maxRedacted {
		text = strings.ToValidUTF8(text[:maxRedacted], "")
		text = text[:max(0, strings.LastIndexAny(text, " \t\n"))] + "..." // the last word may be half a secret
	}
	if !containsAny(strings.ToLower(text), hints()) {
		return text
	}
	text = redactNamed(text)
	text = bearer.ReplaceAllString(text, "${1}"+redacted)
	return userInfo.ReplaceAllString(text, "${1}"+redacted+"${2}")
}

// redactNamed redacts what follows the names of secrets.
func redactNamed(text string) string {
	var out strings.Builder
	for at := 0; ; {
		found := namedValue.FindStringSubmatchIndex(text[at:])
		if found == nil {
			return out.String() + text[at:]
		}
		for i := range found {
			if found[i] >= 0 {
				found[i] += at
			}
		}
		v := valueOf(text, found)
		out.WriteString(text[at:v.start])
		if v.end > v.start {
			out.WriteString(redacted)
		}
		at = v.end
	}
}

// span is a range of a text; an empty one is left unchanged.
type span struct{ start, end int }

// place describes the context of a value's name in its text.
type place struct {
	name      string // as returned by plainName
	quoted    bool   // the name itself is quoted
	separator string // between the name and the value
	enclosing string // the quote just before the name that ends after the value, as in -H 'Cookie: a=b'
	column    int    // indentation of the line if the name begins it, else -1
}

// valueOf finds the value of a name that namedValue found. Without a value it returns an
// empty span at the end of the skipped text.
func valueOf(text string, found []int) span {
	const dashes, name, quote, separator = 2, 4, 6, 8 // indexes in found
	p := place{
		name: plainName(text[found[name]:found[name+1]]), quoted: found[quote] >= 0, separator: text[found[separator]:found[separator+1]],
		column: indent(text[:found[name]]),
	}
	if !p.quoted {
		p.enclosing = quoteBefore(text[:found[name]])
	}
	word := strings.TrimSpace(p.separator) == "" && (found[dashes] < 0 || p.quoted) // a word of a sentence
	if word || !secretName(p.name) {
		return span{found[name+1], found[name+1]}
	}
	start := found[separator+1]
	if i := strings.IndexAny(p.separator, "\\\"'"); i >= 0 { // it is on the next line, quoted
		start = found[separator] + i
	}
	end := start + valueLength(text[start:], p)
	if countName(p.name) && startsWithCount(text[start:end]) {
		return span{end, end}
	}
	return span{start, end}
}

// startsWithCount reports whether a value is a number, possibly followed by words, or JSON
// that contains only numbers.
func startsWithCount(value string) bool {
	decoder := json.NewDecoder(strings.NewReader(value))
	decoder.UseNumber()
	var decoded any
	if strings.HasPrefix(value, "{") || strings.HasPrefix(value, "[") {
		return decoder.Decode(&decoded) == nil && isCount(decoded)
	}
	value = strings.TrimLeft(value, `\"'`)
	return number.MatchString(strings.TrimRight(value[:wordLength(value)], `.\"')]}`))
}

// quoteBefore returns the quote, with preceding backslashes, at the end of a text.
func quoteBefore(text string) string {
	if text == "" || !isQuote(text[len(text)-1]) {
		return ""
	}
	start := len(text) - 1
	for start > 0 && text[start-1] == '\\' {
		start--
	}
	return text[start:]
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// indent returns the indentation of a line that is otherwise empty; the dash of a list item
// counts as indentation.
func indent(text string) int {
	line := text[strings.LastIndexByte(text, '\n')+1:]
	if strings.Trim(line, " \t-") != "" && strings.TrimSpace(line) != "export" {
		return -1
	}
	return len(line)
}

// valueLength returns the length of the value at the beginning of a text.
func valueLength(text string, p place) int {
	line := firstLine(text)
	if p.enclosing != "" {
		if end := closing(text, p.enclosing); end == 0 || end > 0 && openingQuote(text) == "" {
			return end
		}
	}
	if quoted := quotedLength(text); quoted > 0 {
		return quoted
	}
	colon := strings.Contains(p.separator, ":")
	switch {
	case strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{"):
		return bracketLength(text)
	case colon && p.column >= 0 && blockStart.MatchString(line):
		return len(line) + blockLength(text[len(line):], p.column)
	case colon && (strings.Contains(p.name, "authorization") || strings.Contains(p.name, "cookie")):
		return len(line)
	case p.column >= 0 && !p.quoted && (colon || strings.Trim(p.separator, "=") != ""): // YAML or a settings file
		return endOfPlain(line)
	case p.quoted: // JSON
		line, _, _ = strings.Cut(line, "}")
		line, _, _ = strings.Cut(line, "]")
	}
	return wordLength(line)
}

// bracketLength returns the length of a list or an object; an unclosed one ends with the
// text.
func bracketLength(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			if end := closing(text[i+1:], text[i:i+1]); end >= 0 {
				i += end + 1
			}
		}
	}
	return len(text)
}

// quotedLength returns the length of the quoted strings at the beginning of a text,
// directly adjacent as the shell and SQL concatenate them, or 0 if there are none. An
// unclosed string ends with its line.
func quotedLength(text string) int {
	length := 0
	for {
		opening := openingQuote(text[length:])
		if opening == "" {
			if length > 0 {
				length += strings.IndexFunc(text[length:]+" ", func(r rune) bool { return strings.ContainsRune(" \t\r\n,;&)]}:", r) })
			}
			return length
		}
		rest := text[length+len(opening):]
		end := closing(rest, opening)
		if end < 0 {
			return length + len(opening) + len(firstLine(rest))
		}
		length += len(opening) + end + len(opening)
	}
}

func firstLine(text string) string {
	if i := strings.IndexAny(text, "\r\n"); i >= 0 {
		return text[:i]
	}
	return text
}

// openingQuote returns the quote at the beginning of a text, with preceding backslashes.
func openingQuote(text string) string {
	i := 0
	for i < len(text) && text[i] == '\\' {
		i++
	}
	if i == len(text) || !isQuote(text[i]) {
		return ""
	}
	return text[:i+1]
}

// closing returns the index of the quote that closes opening, or -1. In JSON nested in a
// JSON string, quotes have a backslash before them, and quotes within nested strings have
// three.
func closing(text, opening string) int {
	backslashes, quote := len(opening)-1, opening[len(opening)-1]
	run := 0 // length of a run of backslashes
	for i := range len(text) {
		if text[i] == quote && run >= backslashes && (run-backslashes)%(2*(backslashes+1)) == 0 {
			return i - backslashes
		}
		if run++; text[i] != '\\' {
			run = 0
		}
	}
	return -1
}

// wordLength returns the length of an unquoted value. The name of a scheme, as in "Bearer
// abc", belongs to it.
func wordLength(line string) int {
	end := strings.IndexAny(line, " \t\r\n\"'`,;&")
	if end < 0 {
		return len(line)
	}
	switch strings.ToLower(line[:end]) {
	case "bearer", "basic", "token", "digest", "negotiate", "apikey":
		rest := strings.TrimLeft(line[end:], " \t")
		return len(line) - len(rest) + wordLength(rest)
	}
	return end
}

// endOfPlain returns the length of an unquoted value that ends with its line, without a
// trailing comment.
func endOfPlain(line string) int {
	if i := strings.Index(line, " #"); i >= 0 {
		line = line[:i]
	}
	return len(strings.TrimRight(line, " \t"))
}

// blockStart matches the beginning of a YAML value on the following lines.
var blockStart = regexp.MustCompile(`^[|>][+-]?[0-9]?[+-]?[ \t]*(#.*)?$`)

// blockLength returns the length of the lines of a block: those indented more than its key,
// and empty ones.
func blockLength(text string, column int) int {
	length := 0
	for length < len(text) {
		start := length + strings.IndexByte(text[length:], '\n') + 1
		if start == length {
			return length
		}
		line := firstLine(text[start:])
		if strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " \t")) <= column {
			return length
		}
		length = start + len(line)
	}
	return length
}
