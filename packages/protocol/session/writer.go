package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Errors of Writer. A target that is not there is a *PathError of ErrNoEntry.
var (
	ErrTaken       = errors.New("session: the id is taken")
	ErrNotObject   = errors.New("session: a message must be a JSON object")
	ErrNotEditable = errors.New("session: only a user, assistant or custom message or a tool result on the active branch can be edited")
)

// Writer makes the lines of new entries as Pi 1.5 writes them, and keeps a tree
// in step. Every entry hangs on the leaf and becomes the leaf. The caller brings
// ids and times, and puts each line on disk. JSON that is passed in keeps its
// text but for white space.
type Writer struct{ tree *Tree }

// NewWriter begins at the tree's leaf.
func NewWriter(tree *Tree) *Writer { return &Writer{tree} }

// Tree returns the tree that the writer adds to.
func (w *Writer) Tree() *Tree { return w.tree }

// Stamp is what every new entry needs.
type Stamp struct {
	ID        string          // not yet in the session
	Timestamp string          // as FormatTime writes it
	Extra     json.RawMessage // an object whose members follow Pi's; nil: none
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

// finish adds the members of s.Extra, and the entry to the tree.
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

// ThinkingLevelChange says how much the model thinks from here on.
func (w *Writer) ThinkingLevelChange(s Stamp, level string) (json.RawMessage, error) {
	return w.finish(w.begin(s, TypeThinkingLevelChange).text("thinkingLevel", level), s)
}

// ModelChange says which model answers from here on.
func (w *Writer) ModelChange(s Stamp, provider, modelID string) (json.RawMessage, error) {
	return w.finish(w.begin(s, TypeModelChange).text("provider", provider).text("modelId", modelID), s)
}

// Custom adds state of a program, which no model sees; data may be nil.
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

// SessionInfo names the session. White space around the name is taken off, and a
// run of line ends becomes a blank.
func (w *Writer) SessionInfo(s Stamp, name string) (json.RawMessage, error) {
	return w.finish(w.begin(s, TypeSessionInfo).text("name", CleanName(name)), s)
}

// Other adds an entry of any type whose members are all in s.Extra.
func (w *Writer) Other(s Stamp, t EntryType) (json.RawMessage, error) {
	return w.finish(w.begin(s, t), s)
}

// CleanName returns a name as SessionInfo stores it.
func CleanName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '\r' || r == '\n' })
	return trim(strings.Join(parts, " "))
}

// Label labels an entry, anywhere in the session; nil and "" take the label off.
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

// Usage notes tokens that were spent outside of a message; note may be "".
func (w *Writer) Usage(s Stamp, kind, provider, model string, usage json.RawMessage, note string) (json.RawMessage, error) {
	o := w.begin(s, TypeUsage).text("kind", kind).text("provider", provider).text("model", model).raw("usage", usage)
	if note != "" {
		o.text("note", note)
	}
	return w.finish(o, s)
}

// ContextEdit changes what the model sees of an entry on the active branch:
// content is a JSON string or a list of blocks, and nil leaves the entry out.
func (w *Writer) ContextEdit(s Stamp, targetID string, content json.RawMessage) (json.RawMessage, error) {
	target, ok := w.tree.Get(targetID)
	if !ok {
		return nil, &PathError{ErrNoEntry, targetID}
	}
	role := target.messageRole()
	if target.Type == TypeCustomMessage {
		role = roleCustom
	}
	editable := target.Type == TypeCustomMessage || role == roleUser || role == roleAssistant || role == roleToolResult
	if !editable || !w.onBranch(targetID) {
		return nil, ErrNotEditable
	}
	replacement := json.RawMessage("null")
	if content != nil {
		replacement = newObject().raw("content", blocksFor(role, content)).end()
	}
	return w.finish(w.begin(s, TypeContextEdit).text("targetId", targetID).raw("replacement", replacement), s)
}

func (w *Writer) onBranch(id string) bool {
	path, _ := w.tree.walk(w.tree.leaf) // what lies above a hole cannot be edited
	for _, place := range path {
		if w.tree.entries[place].ID == id {
			return true
		}
	}
	return false
}

// blocksFor makes one text block of a plain text where the role needs blocks.
func blocksFor(role role, content json.RawMessage) json.RawMessage {
	if len(content) == 0 || content[0] != '"' || role != roleAssistant && role != roleToolResult {
		return content
	}
	text := newObject().text("type", "text").raw("text", content).end()
	return append(append(json.RawMessage{'['}, text...), ']')
}
