package session

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// ErrNotHeader is returned for a line that is not the header of a session.
var ErrNotHeader = errors.New("session: the first line is not a session header")

// ParseHeader parses the first line of a session file. Only the type and the id
// must be valid; other members of the wrong kind count as absent. A missing version
// means 1.
func ParseHeader(line []byte) (Header, error) {
	h, ok := readHeader(line)
	if !ok || h.ID == "" {
		return Header{}, ErrNotHeader
	}
	return h, nil
}

// readHeader is ParseHeader that also accepts an empty id.
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
		ChildOf: memberString(line, "childOf"), Origin: originIn(member(line, "origin")),
	}, true
}

func originIn(value json.RawMessage) Origin {
	if !isObject(value) {
		return Origin{}
	}
	return Origin{
		SessionID: memberString(value, "sessionId"), EntryID: memberString(value, "entryId"), Chain: memberString(value, "chain"),
	}
}

// versionOf parses a version number. A missing or null version is 1, and one of
// another kind counts as the current version.
func versionOf(value json.RawMessage) int {
	if len(value) == 0 || isNull(value) {
		return 1
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return Version
	}
	return int(min(max(math.Floor(n), math.MinInt32), math.MaxInt32))
}
