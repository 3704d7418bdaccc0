package hook

import (
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/api"
)

// example returns an example of the event of a hook, for a test of it.
func example(s spec, folder string) Input {
	in := Input{SessionID: "ses_example", TurnID: "turn_example", Cwd: folder, Mode: api.ModeAsk}
	switch s.Event {
	case api.HookBeforeTool, api.HookAfterTool, api.HookApproval:
		in.Tool, in.Args, in.Call = "bash", json.RawMessage(`{"command":"echo hello"}`), "call_example"
		in.Title, in.Output = "Run echo hello", "hello\n"
		if s.Declared == "PostToolUseFailure" {
			in.Output, in.Failed = "exit code 1\n", true
		}
	case api.HookPrompt:
		in.Prompt = "This is a test of a hook."
	case api.HookSessionStart:
		in.Cause = CauseStartup
	case api.HookCompaction:
		in.Cause = CauseManual
	case api.HookNotification:
		in.Cause, in.Title = CauseApproval, "Run echo hello"
	case api.HookTurnEnd:
		in.Outcome = "stop"
	}
	return in
}

// Causes of events.
const (
	CauseStartup  = "startup"            // session_start
	CauseManual   = "manual"             // compaction: a person asked for it
	CauseAuto     = "auto"               // compaction: the context was too large
	CauseApproval = "permission_prompt"  // notification
	CauseQuestion = "elicitation_dialog" // notification
)
