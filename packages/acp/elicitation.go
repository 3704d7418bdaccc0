package acp

import "encoding/json"

// The modes of elicitations.
const (
	ElicitForm = "form"
	ElicitURL  = "url"
)

// The actions that end an elicitation.
const (
	ElicitAccept  = "accept"
	ElicitDecline = "decline"
	ElicitCancel  = "cancel"
)

// Elicitation asks people for values, or to open an address. It is about a session, or about the
// request of the client that RequestID names.
type Elicitation struct {
	SessionID       string          `json:"sessionId,omitempty"`
	ToolCallID      string          `json:"toolCallId,omitempty"`
	RequestID       json.RawMessage `json:"requestId,omitempty"`
	Mode            string          `json:"mode"`
	Message         string          `json:"message"`
	RequestedSchema *FormSchema     `json:"requestedSchema,omitempty"` // with ElicitForm
	ElicitationID   string          `json:"elicitationId,omitempty"`   // with ElicitURL
	URL             string          `json:"url,omitempty"`
	Meta            Meta            `json:"_meta,omitempty"`
}

// FormSchema describes the values of a form: an object without objects in it.
type FormSchema struct {
	Type        string                     `json:"type"`
	Title       string                     `json:"title,omitempty"`
	Description string                     `json:"description,omitempty"`
	Properties  map[string]json.RawMessage `json:"properties,omitempty"` // see FormField
	Required    []string                   `json:"required,omitempty"`
}

// FormField is one value of a form: a string, number, integer, boolean, or an array of strings.
type FormField struct {
	Type        string          `json:"type"`
	Title       string          `json:"title,omitempty"`
	Description string          `json:"description,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	OneOf       []EnumOption    `json:"oneOf,omitempty"`
	Items       *FormItems      `json:"items,omitempty"`
	Format      string          `json:"format,omitempty"`
	Pattern     string          `json:"pattern,omitempty"`
	MinLength   *int            `json:"minLength,omitempty"`
	MaxLength   *int            `json:"maxLength,omitempty"`
	Minimum     *float64        `json:"minimum,omitempty"`
	Maximum     *float64        `json:"maximum,omitempty"`
	MinItems    *int            `json:"minItems,omitempty"`
	MaxItems    *int            `json:"maxItems,omitempty"`
}

// FormItems are the choices of an array.
type FormItems struct {
	Type  string       `json:"type,omitempty"`
	Enum  []string     `json:"enum,omitempty"`
	AnyOf []EnumOption `json:"anyOf,omitempty"`
}

// EnumOption is a choice with a name.
type EnumOption struct {
	Const       string `json:"const"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

// ElicitationResponse ends an elicitation; Content has the values of an accepted form.
type ElicitationResponse struct {
	Action  string                     `json:"action"`
	Content map[string]json.RawMessage `json:"content,omitempty"`
	Meta    Meta                       `json:"_meta,omitempty"`
}

// ElicitationCompleted says that what was opened with ElicitURL is done.
type ElicitationCompleted struct {
	ElicitationID string `json:"elicitationId"`
	Meta          Meta   `json:"_meta,omitempty"`
}
