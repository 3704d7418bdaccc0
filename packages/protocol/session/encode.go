package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotJSON is returned for text that is not one JSON value.
var ErrNotJSON = errors.New("session: the text is not JSON")

// Encode encodes v as one line without LF, as JavaScript's JSON.stringify does: <,
// >, & and the line separators U+2028 and U+2029 are not escaped.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("session: encoding an entry: %w", err)
	}
	return plainSeparators(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// plainSeparators undoes the three escapes that encoding/json writes and
// JSON.stringify does not.
func plainSeparators(line []byte) []byte {
	if !bytes.Contains(line, []byte(`\u`)) {
		return line
	}
	out := make([]byte, 0, len(line))
	for i := 0; i < len(line); i++ {
		if line[i] != '\\' || i+1 >= len(line) {
			out = append(out, line[i])
			continue
		}
		if r, ok := hex4(line, i+2); ok && line[i+1] == 'u' && (r == 0x2028 || r == 0x2029 || r == 0xfffd) {
			out = appendWide(out, r)
			i += 5
			continue
		}
		out = append(out, line[i], line[i+1])
		i++
	}
	return out
}
