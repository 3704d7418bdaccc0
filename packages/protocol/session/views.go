package session

import (
	"bytes"
	"encoding/json"
	"errors"
)

// MarshalJSON returns Raw.
func (e Entry) MarshalJSON() ([]byte, error) {
	if len(e.Raw) == 0 {
		return nil, errors.New("session: entry without its line")
	}
	return e.Raw, nil
}

// UnmarshalJSON is ParseEntry on a copy.
func (e *Entry) UnmarshalJSON(data []byte) error {
	parsed, err := ParseEntry(bytes.Clone(data))
	if err != nil {
		return err
	}
	*e = parsed
	return nil
}

// AsMessage decodes a message entry. ok is false for every other type, and for
// a message that does not decode.
func (e Entry) AsMessage() (entry MessageEntry, ok bool) { return as[MessageEntry](e, TypeMessage) }

// AsModelChange decodes a model_change entry.
func (e Entry) AsModelChange() (ModelChangeEntry, bool) {
	return as[ModelChangeEntry](e, TypeModelChange)
}

// AsSessionInfo decodes a session_info entry.
func (e Entry) AsSessionInfo() (SessionInfoEntry, bool) {
	return as[SessionInfoEntry](e, TypeSessionInfo)
}

// AsCustom decodes a custom entry.
func (e Entry) AsCustom() (CustomEntry, bool) { return as[CustomEntry](e, TypeCustom) }

// AsProcess decodes the record of an operation.
func (e Entry) AsProcess() (ProcessRecord, bool) {
	var record ProcessRecord
	if e.Type != TypeCustom || e.CustomType != CustomProcess {
		return record, false
	}
	custom, ok := e.AsCustom()
	return record, ok && json.Unmarshal(custom.Data, &record) == nil && record.OperationID != ""
}

func as[T any](e Entry, want EntryType) (out T, ok bool) {
	if e.Type != want {
		return out, false
	}
	return out, json.Unmarshal(e.Raw, &out) == nil
}

// Role returns the role of a message entry's message, as it stands in the line;
// "" for every other type, and where there is none.
func (e Entry) Role() Role {
	switch e.messageRole() {
	case roleUser:
		return RoleUser
	case roleAssistant:
		return RoleAssistant
	case roleToolResult:
		return RoleToolResult
	}
	return Role(memberString(e.message(), "role"))
}

// Text returns the member of the line that has the given name, where it is a
// string; "" where it is not, or is not there. It costs one pass over the line.
func (e Entry) Text(name string) string { return memberString(e.Raw, name) }

// ContextMessage returns the message that the entry stands for in a context, before
// any edit; nil where it stands for none.
func (e Entry) ContextMessage() json.RawMessage { return e.contextMessage() }
