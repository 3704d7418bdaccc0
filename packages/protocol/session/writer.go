package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Errors of Writer. A missing target is a *PathError of ErrNoEntry.
var (
	ErrTaken     = errors.New("session: the id is already used")
	ErrNotObject = errors.New("session: a message must be a JSON object")
)

// Writer builds the lines of new entries as Pi 1.5 writes them, and keeps a tree up
// to date. Every entry becomes a child of the leaf and then the leaf. The caller
// supplies ids and times, and writes each line to disk. JSON arguments keep their
// text except for white space.
type Writer struct{ tree *Tree }

// NewWriter returns a writer that begins at the tree's leaf.
func NewWriter(tree *Tree) *Writer { return &Writer{tree} }

// Tree returns the tree that the writer adds to.
func (w *Writer) Tree() *Tree { return w.tree }

// Stamp holds the members of every new entry.
type Stamp struct {
	ID        string          // not yet in the session
	Timestamp string          // as FormatTime writes it
	Extra     json.RawMessage // an object whose members follow Pi's; nil: none
	// Link adds the last members, which depend on the line itself (Link, AddHead).
	// It takes ownership of the line; nil adds none.
	Link func(line []byte) (json.RawMessage, error)
}

// EncodeHeader writes the header line of a new session.
func EncodeHeader(h Header) (json.RawMessage, error) {
	h.Type = TypeSession
	return Encode(h)
}

// begin writes the members that most types begin with.
func (w *Writer) begin(s Stamp, t EntryType) *objectBuilder {
	return w.stamp(newObject().text("type", string(t)), s)
}

func (w *Writer) stamp(o *objectBuilder, s Stamp) *objectBuilder {
	return o.text("id", s.ID).id("parentId", w.tree.Leaf()).text("timestamp", s.Timestamp)
}

// finish adds the members of s.Extra, and adds the entry to the tree.
func (w *Writer) finish(o *objectBuilder, s Stamp) (json.RawMessage, error) {
	if _, taken := w.tree.place(s.ID); taken || s.ID == "" {
		return nil, fmt.Errorf("%w: %q", ErrTaken, s.ID)
	}
	for _, f := range fields(s.Extra) {
		o.raw(f.name, f.value)
	}
	line, ok := compact(o.end())
	if !ok {
		return nil, ErrNotJSON
	}
	if s.Link != nil {
		var err error
		if line, err = s.Link(line); err != nil {
			return nil, err
		}
	}
	e, err := ParseEntry(line)
	if err != nil {
		return nil, err
	}
	w.tree.Add(e)
	return e.Raw, nil
}

// Message adds a message.
func (w *Writer) Message(s Stamp, message json.RawMessage) (json.RawMessage, error) {
	if !isObject(message) {
		return nil, ErrNotObject
	}
	return w.finish(w.begin(s, TypeMessage).raw("message", message), s)
}

// ThinkingLevelChange sets the thinking level from here on.
func (w *Writer) ThinkingLevelChange(s Stamp, level string) (json.RawMessage, error) {
	return w.finish(w.begin(s, TypeThinkingLevelChange).text("thinkingLevel", level), s)
}

// ModelChange sets the model from here on.
func (w *Writer) ModelChange(s Stamp, provider, modelID string) (json.RawMessage, error) {
	return w.finish(w.begin(s, TypeModelChange).text("provider", provider).text("modelId", modelID), s)
}

// Custom adds a program's own state, which no model sees; data may be nil.
func (w *Writer) Custom(s Stamp, customType string, data json.RawMessage) (json.RawMessage, error) {
	o := newObject().text("type", string(TypeCustom)).text("customType", customType).raw("data", data)
	return w.finish(w.stamp(o, s), s)
}

// CustomMessage adds a message of a program, which the model sees. content is a
// JSON string or a list of blocks; details may be nil.
func (w *Writer) CustomMessage(s Stamp, customType string, content json.RawMessage, display bool, details json.RawMessage) (json.RawMessage, error) {
	o := newObject().text("type", string(TypeCustomMessage)).text("customType", customType).raw("content", content).
		flag("display", &display).raw("details", details)
	return w.finish(w.stamp(o, s), s)
}

// SessionInfo names the session. White space around the name is removed, and a run
// of line ends becomes a blank.
func (w *Writer) SessionInfo(s Stamp, name string) (json.RawMessage, error) {
	return w.finish(w.begin(s, TypeSessionInfo).text("name", cleanName(name)), s)
}

// Other adds an entry of any type whose members are all in s.Extra.
func (w *Writer) Other(s Stamp, t EntryType) (json.RawMessage, error) {
	return w.finish(w.begin(s, t), s)
}

// cleanName returns a name in the form that SessionInfo stores.
func cleanName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '\r' || r == '\n' })
	return trim(strings.Join(parts, " "))
}

// Label labels an entry anywhere in the session; nil and "" remove the label.
func (w *Writer) Label(s Stamp, targetID string, label *string) (json.RawMessage, error) {
	if _, ok := w.tree.place(targetID); !ok {
		return nil, &PathError{ErrNoEntry, targetID}
	}
	o := w.begin(s, TypeLabel).text("targetId", targetID)
	if label != nil {
		o.text("label", *label)
	}
	return w.finish(o, s)
}

// Usage records tokens used outside a message; note may be "".
func (w *Writer) Usage(s Stamp, kind, provider, model string, usage json.RawMessage, note string) (json.RawMessage, error) {
	o := w.begin(s, TypeUsage).text("kind", kind).text("provider", provider).text("model", model).raw("usage", usage)
	if note != "" {
		o.text("note", note)
	}
	return w.finish(o, s)
}
