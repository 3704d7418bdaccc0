package session

import "fmt"

// CustomHook is the custom type of an entry that says what a hook did.
const CustomHook = "scorel.hook" // data: HookRecord

// Outcomes of HookRecord.
const (
	HookDenied  = "denied"  // the call was denied
	HookAsked   = "asked"   // a person was asked about the call
	HookBlocked = "blocked" // the prompt was not given to the model
	HookFailed  = "failed"  // the hook hung, crashed, or its answer was not valid
	HookStarted = "started" // the hooks of the event are about to run, for the only time
)

// HookRecord is the data of CustomHook. What a hook adds for the model is a note.
type HookRecord struct {
	Hook       string `json:"hook,omitempty"`   // its name, or its command
	Source     string `json:"source,omitempty"` // the file that configures it
	Event      string `json:"event"`
	Outcome    string `json:"outcome"`
	Text       string `json:"text,omitempty"` // the reason or the fault, for people
	ToolCallID string `json:"toolCallId,omitempty"`
	TurnID     string `json:"turnId,omitempty"`
}

// Describe says in English what the hook did; "" for what the transcript says elsewhere.
func (r HookRecord) Describe() string {
	switch r.Outcome {
	case HookDenied:
		return fmt.Sprintf("Hook %s (%s) denied the call: %s", r.Hook, r.Event, r.Text)
	case HookAsked:
		return fmt.Sprintf("A hook requires approval: %s", r.Text)
	case HookFailed:
		return fmt.Sprintf("Hook %s (%s, from %s) failed: %s", r.Hook, r.Event, r.Source, r.Text)
	}
	return ""
}
