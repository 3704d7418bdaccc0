package acp

import "encoding/json"

// The kinds of tools.
const (
	ToolRead       = "read"
	ToolEdit       = "edit"
	ToolDelete     = "delete"
	ToolMove       = "move"
	ToolSearch     = "search"
	ToolExecute    = "execute"
	ToolThink      = "think"
	ToolFetch      = "fetch"
	ToolSwitchMode = "switch_mode"
	ToolOther      = "other"
)

// The states of tool calls.
const (
	ToolPending    = "pending"
	ToolInProgress = "in_progress"
	ToolCompleted  = "completed"
	ToolFailed     = "failed"
)

// ToolCall is a tool call, or what changes in one: an empty field says nothing, and a list that
// is not nil replaces the one before.
type ToolCall struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title,omitempty"`
	Name      string          `json:"name,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Status    string          `json:"status,omitempty"`
	Content   []ToolContent   `json:"content,omitzero"`
	Locations []Location      `json:"locations,omitzero"`
	RawInput  json.RawMessage `json:"rawInput,omitempty"`
	RawOutput json.RawMessage `json:"rawOutput,omitempty"`
	Meta      Meta            `json:"_meta,omitempty"`
}

// Apply changes the call as an update says.
func (t *ToolCall) Apply(change ToolCall) {
	set(&t.Title, change.Title)
	set(&t.Name, change.Name)
	set(&t.Kind, change.Kind)
	set(&t.Status, change.Status)
	if change.Content != nil {
		t.Content = change.Content
	}
	if change.Locations != nil {
		t.Locations = change.Locations
	}
	if len(change.RawInput) > 0 {
		t.RawInput = change.RawInput
	}
	if len(change.RawOutput) > 0 {
		t.RawOutput = change.RawOutput
	}
	if len(change.Meta) > 0 {
		t.Meta = change.Meta
	}
}

func set(field *string, value string) {
	if value != "" {
		*field = value
	}
}

// Ended reports whether the call has ended.
func (t *ToolCall) Ended() bool { return t.Status == ToolCompleted || t.Status == ToolFailed }

// Location is a place in a file. Lines count from 1; 0 is none.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitempty"`
	Meta Meta   `json:"_meta,omitempty"`
}

// The types of what a tool call shows.
const (
	ToolContentBlock    = "content"
	ToolContentDiff     = "diff"
	ToolContentTerminal = "terminal"
)

// ToolContent is something that a tool call shows.
type ToolContent struct {
	Type       string        `json:"type"`
	Content    *ContentBlock `json:"content,omitempty"`
	Path       string        `json:"path,omitempty"`
	OldText    *string       `json:"oldText,omitempty"` // nil: the file is new
	NewText    string        `json:"newText,omitempty"`
	TerminalID string        `json:"terminalId,omitempty"`
	Meta       Meta          `json:"_meta,omitempty"`

	// Raw is what it was decoded from, which it is encoded as.
	Raw json.RawMessage `json:"-"`
}

// Shown returns content that shows a block.
func Shown(block ContentBlock) ToolContent {
	return ToolContent{Type: ToolContentBlock, Content: &block}
}

// Diff returns content that shows a change of a file; old is nil if it is new.
func Diff(path string, old *string, now string) ToolContent {
	return ToolContent{Type: ToolContentDiff, Path: path, OldText: old, NewText: now}
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *ToolContent) UnmarshalJSON(data []byte) error {
	type plain ToolContent
	return keep(data, (*plain)(c), &c.Raw)
}

// MarshalJSON implements json.Marshaler.
func (c ToolContent) MarshalJSON() ([]byte, error) {
	type plain ToolContent
	switch {
	case c.Raw != nil:
		return c.Raw, nil
	case c.Type == ToolContentDiff: // an empty text is one
		return raw(struct {
			plain
			NewText string `json:"newText"`
		}{plain(c), c.NewText})
	}
	return raw(plain(c))
}

// The kinds of options of a permission request.
const (
	AllowOnce    = "allow_once"
	AllowAlways  = "allow_always"
	RejectOnce   = "reject_once"
	RejectAlways = "reject_always"
)

// PermissionRequest asks people about a tool call.
type PermissionRequest struct {
	SessionID string             `json:"sessionId"`
	ToolCall  ToolCall           `json:"toolCall"`
	Options   []PermissionOption `json:"options"`
	Meta      Meta               `json:"_meta,omitempty"`
}

// PermissionOption is one answer. Its Name is shown as it is; Kind may be used for colors.
type PermissionOption struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
	Meta Meta   `json:"_meta,omitempty"`
}

// The outcomes of a permission request.
const (
	OutcomeSelected  = "selected"
	OutcomeCancelled = "cancelled"
)

// PermissionOutcome is the answer: an option, or that the turn was canceled.
type PermissionOutcome struct {
	Outcome  string `json:"outcome"`
	OptionID string `json:"optionId,omitempty"`
	Meta     Meta   `json:"_meta,omitempty"`
}

// PermissionResponse carries the answer.
type PermissionResponse struct {
	Outcome PermissionOutcome `json:"outcome"`
	Meta    Meta              `json:"_meta,omitempty"`
}

// Selected returns the answer with an option.
func Selected(optionID string) PermissionResponse {
	return PermissionResponse{Outcome: PermissionOutcome{Outcome: OutcomeSelected, OptionID: optionID}}
}

// Cancelled returns the answer of a turn that was canceled.
func Cancelled() PermissionResponse {
	return PermissionResponse{Outcome: PermissionOutcome{Outcome: OutcomeCancelled}}
}
