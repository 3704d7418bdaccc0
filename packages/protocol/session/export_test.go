package session

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Messages returns the messages on the path to leaf, in order, without regard to
// compactions and edits.
func (t *Tree) Messages(leaf string) ([]Message, error) {
	path, err := t.Path(leaf)
	if err != nil {
		return nil, err
	}
	var messages []Message
	for _, e := range path {
		if m, ok := e.AsMessage(); ok {
			messages = append(messages, m.Message)
		}
	}
	return messages, nil
}

// AsModelChange decodes a model_change entry.
func (e Entry) AsModelChange() (ModelChangeEntry, bool) {
	return as[ModelChangeEntry](e, TypeModelChange)
}

// AsSessionInfo decodes a session_info entry.
func (e Entry) AsSessionInfo() (SessionInfoEntry, bool) {
	return as[SessionInfoEntry](e, TypeSessionInfo)
}

// ErrNotEditable is the error of ContextEdit.
var ErrNotEditable = errors.New("session: only a user, assistant or custom message or a tool result on the active branch can be edited")

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

// JSON returns the whole of it.
func (in Inspection) JSON() json.RawMessage {
	var b bytes.Buffer
	_ = in.Write(&b) // a buffer takes all
	return b.Bytes()
}
