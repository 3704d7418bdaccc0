// Package hook runs the commands that people attached to events of sessions.
//
// Hooks are configured in config.toml, in the .scorel/hooks.toml of a project, and in the
// settings of Claude Code in a project. One of a project runs only if its folder is trusted
// and a person allowed exactly this hook, with the files of the project that its command
// names. A hook can deny a call, have a person asked about it, and add context. It can
// never allow a call.
//
// A hook runs in its own process group, in the sandbox of commands, without the keys of
// providers. Its time and its output are bounded. One that hangs, crashes, floods or prints
// something invalid has the outcome api.HookBroken and no other effect; callers decide what
// that means for the event.
package hook

import (
	"encoding/json"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// DefaultTimeout is how long a hook may run without a timeout of its own.
const DefaultTimeout = 30 * time.Second

// Input is what happened. Fields that do not apply to the event are zero.
type Input struct {
	SessionID string
	TurnID    string
	Cwd       string // absolute
	Mode      api.Mode
	Subagent  bool // the session is that of a subagent

	// Of tool calls.
	Tool   string
	Call   string // its id
	Args   json.RawMessage
	Paths  []string // files that the call would change, if its arguments do not name just one
	Output string   // of after_tool
	Failed bool     // of after_tool

	Prompt  string // of prompt
	Cause   string // of session_start, compaction and notification: what Claude Code matches
	Title   string // of approval and notification, for people
	Outcome string // of turn_end: how the turn ended
	Error   string // of turn_end
}

// Result is what one hook led to.
type Result struct {
	Name    string // for people: its name, or its command
	Source  string // the file that configures it
	Outcome api.HookOutcome
	// Reason is why the call is denied or asked about, or what is wrong with the hook.
	Reason string
	// Context is what the hook adds for the model.
	Context string
}
