package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// maxNesting is how deep Stringify goes. It looks ahead at each level, so that
// time grows with the depth.
const maxNesting = 1000

// Stringify writes a JSON text as JSON.stringify(JSON.parse(text)) does: without
// white space, numbers as doubles, of a key that occurs twice the last value, and
// keys that are array indices first. It loses what a double cannot hold, and what is
// no UTF-8; it is for files that must equal Pi's to the byte. The error is ErrNotJSON.
func Stringify(text []byte) (json.RawMessage, error) {
	text = validText(text) // halves of surrogate pairs are escapes here, never bytes
	start := skipSpace(text, 0)
	end, ok := skipValue(text, start)
	if !ok || skipSpace(text, end) != len(text) {
		return nil, ErrNotJSON
	}
	out, err := appendValue(make([]byte, 0, len(text)), text[start:end], 0)
	if err != nil {
		return nil, err
	}
	return out, nil
}

func appendValue(dst, value []byte, depth int) ([]byte, error) {
	if depth > maxNesting {
		return nil, fmt.Errorf("%w that can be written: it is nested more than %d deep", ErrNotJSON, maxNesting)
	}
	switch value[0] {
	case '{':
		return appendObject(dst, value, depth)
	case '[':
		return appendArray(dst, value, depth)
	case '"':
		return appendQuoted(dst, unquote(value)), nil
	case 't', 'f', 'n':
		return append(dst, value...), nil
	}
	return appendNumber(dst, value), nil
}

func appendArray(dst, value []byte, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for i := skipSpace(value, 1); value[i] != ']'; {
		end, _ := skipValue(value, i)
		var err error
		if dst, err = appendValue(dst, value[i:end], depth+1); err != nil {
			return nil, err
		}
		if i = skipSpace(value, end); value[i] == ',' {
			dst = append(dst, ',')
			i = skipSpace(value, i+1)
		}
	}
	return append(dst, ']'), nil
}

func appendObject(dst, value []byte, depth int) ([]byte, error) {
	list := fields(value)
	slices.SortStableFunc(list, func(a, b field) int { return compareIndex(arrayIndex(a.name), arrayIndex(b.name)) })
	dst = append(dst, '{')
	for i, f := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendQuoted(dst, f.name), ':')
		var err error
		if dst, err = appendValue(dst, f.value, depth+1); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// arrayIndex returns the array index that a key is, or -1.
func arrayIndex(name string) int64 {
	if name == "" || len(name) > 10 || name[0] == '0' && name != "0" || skipDigits([]byte(name), 0) != len(name) {
		return -1
	}
	n, err := strconv.ParseInt(name, 10, 64)
	if err != nil || n > math.MaxUint32-1 {
		return -1
	}
	return n
}

// compareIndex puts array indices first, in order, and leaves the rest alone.
func compareIndex(a, b int64) int {
	switch {
	case a == b:
		return 0
	case b < 0 || a >= 0 && a < b:
		return -1
	}
	return 1
}

func appendNumber(dst, value []byte) []byte {
	n, _ := strconv.ParseFloat(string(value), 64) // out of range is infinite, which is written as null
	if math.IsInf(n, 0) {
		return append(dst, "null"...)
	}
	if n == 0 {
		return append(dst, '0')
	}
	if size := math.Abs(n); size >= 1e-6 && size < 1e21 {
		return strconv.AppendFloat(dst, n, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, n, 'e', -1, 64)
	if at := bytes.IndexByte(dst[start:], 'e') + start; dst[at+2] == '0' { // e-07 is e-7
		dst = append(dst[:at+2], dst[at+3:]...)
	}
	return dst
}
