package process

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxLine is the longest line of a script that can be an event, in bytes with its end.
const MaxLine = 32 << 10

// lineType is the "type" of a line that is an event.
const lineType = "process_event"

// ParseLine reads a line that a script wrote on its error output. ok is false for
// all that is not an event of a version that is known: it is plain output then. Who
// reports decides what the event may say; what is set here is what the line holds,
// cleaned, and nothing that identifies an operation.
func ParseLine(line []byte) (e Event, ok bool) {
	if len(line) > MaxLine || !utf8.Valid(line) || !bytes.HasPrefix(line, []byte("{")) {
		return Event{}, false
	}
	var read struct {
		Type string `json:"type"`
		Event
	}
	if json.Unmarshal(line, &read) != nil || read.Type != lineType || !known(read.Event) {
		return Event{}, false
	}
	e = clean(read.Event)
	return Event{
		TaskID: e.TaskID, Stage: e.Stage, Status: e.Status, Level: e.Level, Message: e.Message, Detail: e.Detail,
		Current: e.Current, Total: e.Total, Percent: e.Percent, Payload: e.Payload,
	}, true
}

// known tells whether an event has values that this version knows.
func known(e Event) bool {
	switch e.Level {
	case "", session.ProcessDebug, session.ProcessInfo, session.ProcessWarn, session.ProcessError:
	default:
		return false
	}
	switch e.Status {
	case "", session.ProcessQueued, session.ProcessRunning, session.ProcessCompleted, session.ProcessFailed, session.ProcessCancelled:
	default:
		return false
	}
	return e.Version == 0 || e.Version == session.ProcessVersion
}

// Splitter is a writer that takes the events out of an error output. All else goes
// on to out as it comes; only what may still become an event is held back. It is
// used by one goroutine at a time; Close lets go of what is held back.
type Splitter struct {
	out     io.Writer
	report  func(Event)
	held    []byte // the beginning of a line that may be an event
	through bool   // the line began with something else, or is too long
}

// NewSplitter returns a splitter that gives events to report.
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
	if !s.through && len(s.held) == 0 && piece[0] != '{' {
		s.through = true
	}
	if s.through {
		s.through = !ended
		_, err := s.out.Write(piece)
		return err
	}
	s.held = append(s.held, piece...)
	switch {
	case len(s.held) > MaxLine:
		s.through = !ended
		return s.release()
	case ended:
		return s.flush()
	}
	return nil
}

// flush takes the held line as an event, or lets it go on.
func (s *Splitter) flush() error {
	if e, ok := ParseLine(bytes.TrimRight(s.held, "\r\n")); ok {
		s.held = s.held[:0]
		s.report(e)
		return nil
	}
	return s.release()
}

func (s *Splitter) release() error {
	held := s.held
	s.held = nil
	_, err := s.out.Write(held)
	return err
}

// Close takes the last line, which may have no end.
func (s *Splitter) Close() error {
	if len(s.held) == 0 {
		return nil
	}
	return s.flush()
}
