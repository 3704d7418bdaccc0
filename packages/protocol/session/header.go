package session

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// ErrNotHeader says that a line is not the header of a session.
var ErrNotHeader = errors.New("session: the first line is not a session header")

// ParseHeader reads the first line of a session file. Only the type and the id
// must be right; what else is of the wrong kind counts as absent. A version that
// is absent is 1.
func ParseHeader(line []byte) (Header, error) {
	h, ok := readHeader(line)
	if !ok || h.ID == "" {
		return Header{}, ErrNotHeader
	}
	return h, nil
}

// readHeader is ParseHeader that also takes an empty id.
func readHeader(line []byte) (Header, bool) {
	start := skipSpace(line, 0)
	end, ok := skipValue(line, start)
	if !ok || skipSpace(line, end) != len(line) || line[start] != '{' {
		return Header{}, false
	}
	id := member(line, "id")
	if memberString(line, "type") != string(TypeSession) || len(id) == 0 || id[0] != '"' {
		return Header{}, false
	}
	return Header{
		Type: TypeSession, Version: versionOf(member(line, "version")), ID: unquote(id),
		Timestamp: memberString(line, "timestamp"), Cwd: memberString(line, "cwd"),
		ParentSession: memberString(line, "parentSession"),
		ProjectID:     memberString(line, "projectId"), ClientKey: memberString(line, "clientKey"),
		ChildOf: memberString(line, "childOf"),
	}, true
}

// versionOf reads a version as JavaScript compares it: a text counts as the number
// it spells, and what is no number is as good as the newest.
func versionOf(value json.RawMessage) int {
	if len(value) == 0 || value[0] == 'n' {
		return 1
	}
	n := numberOf(value)
	if math.IsNaN(n) {
		return Version
	}
	return int(min(max(math.Floor(n), math.MinInt32), math.MaxInt32))
}

// numberOf returns what JavaScript's Number gives for the text of a JSON value.
func numberOf(value json.RawMessage) float64 {
	switch value[0] {
	case '"':
		return numberIn(trim(unquote(value)))
	case 't':
		return 1
	case 'f', 'n':
		return 0
	case '{':
		return math.NaN()
	case '[': // the number in its text: that of its only element
		start := skipSpace(value, 1)
		if value[start] == ']' {
			return 0
		}
		if end, _ := skipValue(value, start); value[skipSpace(value, end)] == ']' && value[start] != 't' && value[start] != 'f' {
			return numberOf(value[start:end])
		}
		return math.NaN()
	}
	return numberIn(string(value))
}

func numberIn(text string) float64 {
	switch text {
	case "":
		return 0
	case "Infinity", "+Infinity":
		return math.Inf(1)
	case "-Infinity":
		return math.Inf(-1)
	}
	if strings.Trim(text, "0123456789+-.eE") != "" {
		if n, err := strconv.ParseUint(text, 0, 64); err == nil && !strings.Contains(text, "_") {
			return float64(n) // 0x, 0o and 0b
		}
		return math.NaN()
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return math.NaN()
	}
	return n
}
