package session

import (
	"bytes"
	"slices"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// MaxLineDepth is how deep arrays and objects may nest in a line. Lines that scorel
// writes nest much less: exactjson.MaxDepth and a few levels around it. A deeper
// line is damaged: other decoders have their own limits, so a session with such a
// line could not be sent, searched or shown.
const MaxLineDepth = 512

// tooDeepText replaces values that nest deeper.
const tooDeepText = `"[nested too deeply to be read]"`

// flattened returns a line in which tooDeepText replaces values that nest too deep,
// so that the rest can be read. ok is false if there are none.
func flattened(line []byte) (flat []byte, ok bool) {
	// Counting is fast, and nearly every line has fewer brackets than the limit.
	// Every opened bracket must also be closed.
	if len(line) <= 2*MaxLineDepth || bytes.Count(line, []byte{'{'})+bytes.Count(line, []byte{'['}) <= MaxLineDepth || !exactjson.DeeperThan(line, MaxLineDepth) {
		return nil, false
	}
	depth, copied := 0, 0 // line[:copied] is in flat or was left out
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			end, whole := skipString(line, i)
			if !whole {
				return nil, false
			}
			i = end - 1
		case '{', '[':
			if depth++; depth == MaxLineDepth+1 {
				flat = append(append(flat, line[copied:i]...), tooDeepText...)
			}
		case '}', ']':
			if depth == MaxLineDepth+1 {
				copied = i + 1
			}
			depth--
		}
	}
	if depth > MaxLineDepth {
		return nil, false
	}
	return slices.Clip(append(flat, line[copied:]...)), true
}
