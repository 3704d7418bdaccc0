package process

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// fields are the fields of an event that have not been consumed yet. The rest becomes the
// payload.
type fields map[string]json.RawMessage

// hostFields are set by the host; values from a script are ignored.
func hostFields() []string {
	return []string{"type", "operationId", "parentOperationId", "targetType", "source", "toolName", "timestamp", "sequence"}
}

// readFields builds an event from the fields of a line. rest is the text after the object.
func readFields(f fields, rest string) Event {
	for _, name := range hostFields() {
		delete(f, name)
	}
	var e Event
	e.Message, e.Stage, e.Detail = f.text("message"), f.text("stage"), f.text("detail")
	if e.TaskID = f.text("taskId"); e.TaskID == "" {
		e.TaskID = f.digits("taskId")
	}
	e.Current, e.Total, e.Percent = f.amount("current", "batch"), f.amount("total", "totalBatches"), f.amount("percent")
	if version := f.amount("version"); version != nil && *version != session.ProcessVersion {
		f.set("version", *version)
	}
	e.Level = f.level()
	f.status(&e)
	e.Payload = f.payload(rest)
	return clean(e)
}

func (f fields) set(name string, value any) {
	if raw, err := session.Encode(value); err == nil { // cannot fail: strings and numbers can always be encoded
		f[name] = raw
	}
}

// text consumes a string. Any other value stays.
func (f fields) text(name string) string {
	var text *string
	if json.Unmarshal(f[name], &text) != nil {
		return ""
	}
	delete(f, name)
	if text == nil {
		return ""
	}
	return *text
}

// digits consumes a number as written.
func (f fields) digits(name string) string {
	var number json.Number
	if json.Unmarshal(f[name], &number) != nil {
		return ""
	}
	delete(f, name)
	return number.String()
}

// amount consumes the first of the names that has an amount: a non-negative number, which
// may be quoted and then may end with a percent sign. Anything else stays.
func (f fields) amount(names ...string) *float64 {
	for _, name := range names {
		raw, there := f[name]
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(raw)
		}
		text = strings.TrimSuffix(strings.TrimSpace(text), "%")
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err == nil && n >= 0 && !math.IsInf(n, 0):
			delete(f, name)
			return &n
		case string(raw) == "null":
			delete(f, name)
		case there:
			return nil // the other name is redundant
		}
	}
	return nil
}

// level consumes a known level; the default is info.
func (f fields) level() session.ProcessLevel {
	level := session.ProcessLevel(strings.ToLower(f.word("level")))
	switch level {
	case "warning":
		level = session.ProcessWarn
	case session.ProcessDebug, session.ProcessInfo, session.ProcessWarn, session.ProcessError:
	default:
		return session.ProcessInfo
	}
	delete(f, "level")
	return level
}

// status consumes a known status. A skipped part is recorded in the payload, because the
// operation itself continues; a warning is expressed by the level.
func (f fields) status(e *Event) {
	status := session.ProcessStatus(strings.ToLower(f.word("status")))
	switch status {
	case "started":
		e.Status = session.ProcessRunning
	case "skipped":
		e.Status = session.ProcessRunning
		f.set("status", status)
		return
	case "warning":
		e.Status = session.ProcessRunning
		if e.Level == session.ProcessInfo || e.Level == session.ProcessDebug {
			e.Level = session.ProcessWarn
		}
	case session.ProcessQueued, session.ProcessRunning, session.ProcessCompleted, session.ProcessFailed, session.ProcessCancelled:
		e.Status = status
	default:
		return
	}
	delete(f, "status")
}

// word returns a string without consuming it.
func (f fields) word(name string) string {
	var text string
	if json.Unmarshal(f[name], &text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// payload returns the given payload together with everything that was not consumed.
func (f fields) payload(rest string) json.RawMessage {
	given := f["payload"]
	delete(f, "payload")
	if rest != "" {
		f.set("afterEvent", rest)
	}
	if len(f) == 0 {
		return given
	}
	var whole map[string]json.RawMessage
	switch err := json.Unmarshal(given, &whole); {
	case len(given) == 0 || string(given) == "null":
		whole = f
	case err != nil || collides(whole, f): // it is not an object, or has the same keys
		f["payload"] = given
		whole = f
	default:
		for name, value := range f {
			whole[name] = value
		}
	}
	payload, err := session.Encode(whole)
	if err != nil {
		return given // cannot fail: its parts are JSON
	}
	return payload
}

func collides(a map[string]json.RawMessage, b fields) bool {
	for name := range b {
		if _, there := a[name]; there {
			return true
		}
	}
	return false
}
