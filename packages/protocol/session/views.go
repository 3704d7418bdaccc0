package session

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/scorel/scorel/packages/protocol/exactjson"
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

// AsMessage decodes a message entry. ok is false for every other type and for a
// message that does not decode.
func (e Entry) AsMessage() (entry MessageEntry, ok bool) {
	if e.Type != TypeMessage {
		return entry, false
	}
	line := struct {
		*MessageEntry
		Message decodedMessage `json:"message"` // hides that of MessageEntry
	}{MessageEntry: &entry}
	if exactjson.Unmarshal(e.Raw, &line) != nil {
		return entry, false
	}
	entry.Message = Message(line.Message)
	return entry, true
}

// decodedMessage is a Message that is decoded by DecodeMessage.
type decodedMessage Message

func (m *decodedMessage) UnmarshalJSON(data []byte) error {
	decoded, err := DecodeMessage(data)
	*m = decodedMessage(decoded)
	return err
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
	return record, ok && exactjson.Unmarshal(custom.Data, &record) == nil && record.OperationID != ""
}

func as[T any](e Entry, want EntryType) (out T, ok bool) {
	if e.Type != want {
		return out, false
	}
	return out, exactjson.Unmarshal(e.Raw, &out) == nil
}

// Role returns the role of a message entry's message as stored in the line; "" for
// every other type, and if there is none.
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

// ToolCallID returns the call that a message entry's message answers; "" if it answers none.
// It costs one pass over the line.
func (e Entry) ToolCallID() string { return memberString(e.message(), "toolCallId") }

// Text returns the member of the line with the given name if it is a string,
// otherwise "". It costs one pass over the line.
func (e Entry) Text(name string) string { return memberString(e.Raw, name) }

// ContextMessage returns the message that the entry contributes to a context,
// before any edit; nil if it contributes none.
func (e Entry) ContextMessage() json.RawMessage { return e.contextMessage() }
