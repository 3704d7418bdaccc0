package process

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of one event, in bytes unless stated otherwise.
const (
	maxName    = 128 // of source, stage and taskId
	maxMessage = 512
	maxDetail  = 4 << 10
	maxPayload = 8 << 10
	maxText    = 1 << 10 // of one string in a payload
	maxDepth   = 6       // of a payload
	maxItems   = 64      // of one list or object in a payload
)

// clean truncates the fields of an event and removes unprintable characters.
func clean(e Event) Event {
	e.Source, e.Stage, e.TaskID = oneLine(e.Source, maxName), oneLine(e.Stage, maxName), oneLine(e.TaskID, maxName)
	e.Message = oneLine(redactText(e.Message), maxMessage)
	e.Detail = cut(printable(redactText(e.Detail)), maxDetail)
	switch e.Level {
	case session.ProcessDebug, session.ProcessInfo, session.ProcessWarn, session.ProcessError:
	default:
		e.Level = session.ProcessInfo
	}
	e.Current, e.Total, e.Percent = figure(e.Current), figure(e.Total), figure(e.Percent)
	e.Percent = percentOf(e)
	e.Payload = cleanPayload(e.Payload)
	return e
}

// percentOf returns the percentage done, to one decimal, computed from the count if there
// is one. It is rounded down, so that only completed work is 100.
func percentOf(e Event) *float64 {
	percent := e.Percent
	if e.Current != nil && e.Total != nil && *e.Total > 0 {
		share := math.Floor(*e.Current*1000 / *e.Total) / 10
		percent = &share
	}
	if percent == nil || math.IsInf(*percent, 0) || math.IsNaN(*percent) {
		return nil
	}
	most := min(*percent, 100)
	return &most
}

// figure returns nil for an invalid amount.
func figure(n *float64) *float64 {
	if n == nil || *n < 0 || math.IsNaN(*n) || math.IsInf(*n, 0) {
		return nil
	}
	return n
}

func oneLine(s string, most int) string {
	return cut(strings.Join(strings.Fields(printable(s)), " "), most)
}

// printable removes characters that move a cursor, change colors or reverse the direction
// of text, because reports are shown on terminals.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// cut returns at most most bytes of s, in whole characters.
func cut(s string, most int) string {
	const mark = "..."
	if len(s) <= most {
		return s
	}
	return visible.Head(s, most-len(mark)) + mark
}

// cleanPayload returns nil for invalid JSON.
func cleanPayload(payload json.RawMessage) json.RawMessage {
	if len(payload) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(payload))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	out, err := session.Encode(cleanValue(value, maxDepth))
	if err != nil {
		return nil
	}
	if len(out) > maxPayload {
		return json.RawMessage(`"(too long to keep)"`)
	}
	return out
}

func cleanValue(value any, depth int) any {
	switch v := value.(type) {
	case string:
		return cut(printable(redactText(v)), maxText)
	case []any:
		if depth == 0 {
			return "(too deep to keep)"
		}
		out := make([]any, 0, min(len(v), maxItems))
		for _, item := range v[:min(len(v), maxItems)] {
			out = append(out, cleanValue(item, depth-1))
		}
		return out
	case map[string]any:
		if depth == 0 {
			return "(too deep to keep)"
		}
		return cleanObject(v, depth)
	}
	return value
}
