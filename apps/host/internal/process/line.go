package process

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxLine is the maximum length of a script's line that is parsed as an event, in bytes
// including its line end. Only the beginning of a longer line is shown.
const MaxLine = 256 << 10

// lineType is the "type" of a line that is an event.
const lineType = "process_event"

// ParseLine parses a line that a script wrote to its error output. ok is false for a line
// that is not marked as an event, which is plain output. A marked line is always an event:
// unknown fields and invalid values are in the payload, and a line that is not a JSON
// object is there as text.
//
// The event is cleaned and has no fields that identify an operation, which only the host
// sets.
func ParseLine(line []byte) (e Event, ok bool) {
	if !begins(line) {
		return Event{}, false
	}
	if len(line) > MaxLine {
		line = line[:MaxLine]
	} else if fields, rest, err := object(line); err == nil {
		if !isMark(fields["type"]) {
			return Event{}, false
		}
		return readFields(fields, rest), true
	}
	if !marked(line) {
		return Event{}, false
	}
	return unreadable(line), true
}

// begins reports whether a line may be an event, judging by its beginning.
func begins(line []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{"))
}

// object parses the JSON object at the beginning of a line and returns it with the text
// that follows.
func object(line []byte) (fields map[string]json.RawMessage, rest string, err error) {
	decoder := json.NewDecoder(bytes.NewReader(line))
	if err := decoder.Decode(&fields); err != nil {
		return nil, "", err
	}
	return fields, string(bytes.TrimSpace(line[decoder.InputOffset():])), nil
}

func isMark(value json.RawMessage) bool {
	var text string
	return json.Unmarshal(value, &text) == nil && text == lineType
}

// mark matches the marker in a line that is not JSON, such as a printed Python dict.
var mark = regexp.MustCompile(`["']type["']\s*:\s*["']` + lineType + `["']`)

// marked reports whether a text that is not a single JSON object is marked as an event: by
// its own type, as far as it can be parsed, or because it contains the marker and is not
// JSON.
func marked(text []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(text))
	depth, key, isKey := 0, "", true
	for {
		token, err := decoder.Token()
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			return mark.Match(text)
		case err != nil: // end of the text
			return false
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			if depth--; depth == 0 {
				return false
			}
			isKey = depth == 1
			continue
		}
		switch {
		case depth != 1:
		case isKey:
			key, _ = token.(string)
			isKey = false
		case key == "type" && token == lineType:
			return true
		default:
			isKey = true
		}
	}
}

// unreadable returns the event for a marked line that is not a JSON object.
func unreadable(line []byte) Event {
	payload, err := session.Encode(map[string]string{"line": string(bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("\uFFFD")))})
	if err != nil {
		payload = nil // cannot fail: a string can always be encoded
	}
	return clean(Event{Message: "A progress event could not be read: it is not a JSON object.", Payload: payload})
}

// Splitter is a writer that filters the events out of an error output. Everything else is
// passed on to out immediately; only text that may still become an event is held back. It
// must be used by one goroutine at a time. Close flushes what is held back.
type Splitter struct {
	out    io.Writer
	report func(Event)
	held   []byte // beginning of a line that may be an event
	rest   rest
}

// rest is how the rest of a line is handled.
type rest int

const (
	restHeld    rest = iota // it may be an event
	restPasses              // it is output
	restDropped             // it belongs to an event that is too long
)

// NewSplitter returns a Splitter that passes events to report.
func NewSplitter(out io.Writer, report func(Event)) *Splitter {
	return &Splitter{out: out, report: report}
}

// Write implements io.Writer.
func (s *Splitter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		line, ended := rest, false
		if end := bytes.IndexByte(rest, '\n'); end >= 0 {
			line, ended = rest[:end+1], true
		}
		rest = rest[len(line):]
		if err := s.piece(line, ended); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

func (s *Splitter) piece(piece []byte, ended bool) error {
	if s.rest == restHeld && len(s.held) == 0 && !mayBegin(piece) {
		s.rest = restPasses
	}
	now := s.rest
	if ended {
		s.rest = restHeld
	}
	switch now {
	case restPasses:
		_, err := s.out.Write(piece)
		return err
	case restDropped:
		return nil
	}
	s.held = append(s.held, piece...)
	switch {
	case ended:
		return s.flush()
	case !mayBegin(s.held):
		s.rest = restPasses
		return s.flush()
	case len(s.held) > MaxLine:
		s.rest = restPasses
		if _, ok := ParseLine(s.held); ok {
			s.rest = restDropped
		}
		return s.flush()
	}
	return nil
}

// mayBegin reports whether a line with this beginning may be an event.
func mayBegin(beginning []byte) bool {
	return begins(beginning) || len(bytes.TrimLeft(beginning, " \t")) == 0
}

// flush handles the held line as an event, or passes it on.
func (s *Splitter) flush() error {
	held := s.held
	s.held = nil
	if e, ok := ParseLine(held); ok {
		s.report(e)
		return nil
	}
	_, err := s.out.Write(held)
	return err
}

// Close handles the last line, which may have no line end.
func (s *Splitter) Close() error {
	if len(s.held) == 0 {
		return nil
	}
	return s.flush()
}
