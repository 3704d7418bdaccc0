package logfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Line is a line of a log. Fields has every attribute of a line that slog wrote, as text or as
// JSON; any other line, such as one of a crash, is a message alone.
type Line struct {
	Time, Level, Message string
	Fields               map[string]string
}

// Session is the id of the session that a line is about, or "".
func (l Line) Session() string { return l.Fields["session"] }

// Parse reads a line.
func Parse(text string) Line {
	fields, ok := parseJSON(text)
	if !ok {
		fields, ok = parseText(text)
	}
	if !ok || fields["msg"] == "" {
		return Line{Message: text}
	}
	line := Line{Time: fields["time"], Level: fields["level"], Message: fields["msg"], Fields: fields}
	for _, key := range []string{"time", "level", "msg"} {
		delete(fields, key)
	}
	return line
}

func parseJSON(text string) (map[string]string, bool) {
	var values map[string]any
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &values) != nil {
		return nil, false
	}
	fields := make(map[string]string, len(values))
	for key, value := range values {
		if s, ok := value.(string); ok {
			fields[key] = s
			continue
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			return nil, false
		}
		fields[key] = string(encoded)
	}
	return fields, true
}

// parseText reads key=value pairs, whose values and keys may be quoted as in Go.
func parseText(text string) (map[string]string, bool) {
	fields := map[string]string{}
	for rest := text; rest != ""; {
		key, after, ok := word(rest, "=")
		if !ok || !strings.HasPrefix(after, "=") {
			return nil, false
		}
		value, after, ok := word(after[1:], " ")
		if !ok || after != "" && after[0] != ' ' {
			return nil, false
		}
		fields[key], rest = value, strings.TrimPrefix(after, " ")
	}
	return fields, true
}

// word reads a quoted word, or one that ends at a separator or with the text.
func word(text, end string) (value, rest string, ok bool) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		value, err = strconv.Unquote(quoted)
		return value, text[len(quoted):], err == nil
	}
	if strings.HasPrefix(text, `"`) {
		return "", text, false
	}
	i := strings.Index(text, end)
	if i < 0 {
		i = len(text)
	}
	return text[:i], text[i:], i > 0 || end == " "
}

// String formats a line for people.
func (l Line) String() string {
	if l.Time == "" {
		return l.Message
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-5s %s", l.Time, l.Level, l.Message)
	for _, key := range slices.Sorted(maps.Keys(l.Fields)) {
		value := l.Fields[key]
		if value == "" || strings.ContainsAny(value, " \"=\n") {
			value = strconv.Quote(value)
		}
		fmt.Fprintf(&b, " %s=%s", key, value)
	}
	return b.String()
}
