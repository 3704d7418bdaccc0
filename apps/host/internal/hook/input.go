package hook

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxShown bounds the output of a tool and the text of a prompt in the input, in bytes.
const maxShown = 64 << 10

// maxRuns is how often a hook runs for one call that changes several files.
const maxRuns = 16

// message is what a hook reads. The names are those of Claude Code where it has one.
type message struct {
	Event     string          `json:"hook_event_name"`
	SessionID string          `json:"session_id"`
	TurnID    string          `json:"turn_id,omitempty"`
	Cwd       string          `json:"cwd"`
	Mode      string          `json:"permission_mode,omitempty"`
	Subagent  bool            `json:"subagent,omitempty"`
	Tool      string          `json:"tool_name,omitempty"`
	Args      json.RawMessage `json:"tool_input,omitempty"`
	Call      string          `json:"tool_use_id,omitempty"`
	Response  *response       `json:"tool_response,omitempty"`
	Prompt    string          `json:"prompt,omitempty"`
	Source    string          `json:"source,omitempty"`
	Trigger   string          `json:"trigger,omitempty"`
	Kind      string          `json:"notification_type,omitempty"`
	Message   string          `json:"message,omitempty"`
	Outcome   string          `json:"outcome,omitempty"`
	Error     string          `json:"error,omitempty"`
}

type response struct {
	Text    string `json:"text"`
	IsError bool   `json:"is_error"`
}

// messages returns what a hook reads, once for each run. A hook of Claude Code knows one file
// per call, so it runs for each file that a call changes.
func (s spec) messages(in Input) ([][]byte, error) {
	files := []string{""}
	if s.claude && in.Tool == "patch" && len(in.Paths) > 0 {
		files = in.Paths
	}
	if len(files) > maxRuns {
		return nil, fmt.Errorf("the call changes %d files, and a hook runs for at most %d", len(files), maxRuns)
	}
	list := make([][]byte, 0, len(files))
	for _, file := range files {
		encoded, err := session.Encode(s.message(in, file))
		if err != nil {
			return nil, errors.New("the call cannot be encoded")
		}
		list = append(list, append(encoded, '\n'))
	}
	return list, nil
}

func (s spec) message(in Input, file string) message {
	m := message{
		Event: s.Declared, SessionID: in.SessionID, TurnID: in.TurnID, Cwd: in.Cwd, Mode: string(in.Mode), Subagent: in.Subagent,
		Tool: in.Tool, Args: in.Args, Call: in.Call, Prompt: clip(in.Prompt, maxShown), Message: in.Title, Outcome: in.Outcome, Error: in.Error,
	}
	if !json.Valid(m.Args) {
		m.Args = nil
	}
	switch s.Event {
	case api.HookSessionStart:
		m.Source = in.Cause
	case api.HookCompaction:
		m.Trigger = in.Cause
	case api.HookNotification:
		m.Kind = in.Cause
	case api.HookAfterTool:
		m.Response = &response{clip(in.Output, maxShown), in.Failed}
	}
	if s.claude {
		m.Mode, m.Args = claudeMode(in.Mode), claudeArgs(in, file)
		if names := claudeTools(in.Tool); len(names) > 0 {
			m.Tool = names[0]
		}
	}
	return m
}

// clip shortens a text to a number of bytes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return visible.Head(text, most) + "\n(shortened)"
}
