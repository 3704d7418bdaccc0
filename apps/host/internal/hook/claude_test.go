package hook_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/packages/protocol/api"
)

// settings are the settings of a project with one hook.
func settings(event, matcher, hook string) string {
	return fmt.Sprintf(`{"model":"x","hooks":{%q:[{"matcher":%q,"hooks":[%s]}]}}`, event, matcher, hook)
}

const quiet = `{"type":"command","command":"true"}`

func TestEventsAndMatchersOfClaude(t *testing.T) {
	for _, tc := range []struct {
		declared, matcher string
		event             api.HookEvent
		in                hook.Input
		want              bool
	}{
		{"PreToolUse", "", api.HookBeforeTool, hook.Input{Tool: "bash"}, true},
		{"PreToolUse", "*", api.HookBeforeTool, hook.Input{Tool: "bash"}, true},
		{"PreToolUse", "Bash", api.HookBeforeTool, hook.Input{Tool: "bash"}, true},
		{"PreToolUse", "bash", api.HookBeforeTool, hook.Input{Tool: "bash"}, true},
		{"PreToolUse", "Bas", api.HookBeforeTool, hook.Input{Tool: "bash"}, false},
		{"PreToolUse", "Edit|Write", api.HookBeforeTool, hook.Input{Tool: "write_file"}, true},
		{"PreToolUse", "MultiEdit", api.HookBeforeTool, hook.Input{Tool: "patch"}, true},
		{"PreToolUse", "mcp__.*__write", api.HookBeforeTool, hook.Input{Tool: "mcp__x__write_it"}, true},
		{"PreToolUse", "^Ba", api.HookBeforeTool, hook.Input{Tool: "bash"}, true},
		{"PreToolUse", "Bash", api.HookAfterTool, hook.Input{Tool: "bash"}, false},
		{"PostToolUse", "Bash", api.HookAfterTool, hook.Input{Tool: "bash"}, true},
		{"PostToolUse", "Bash", api.HookAfterTool, hook.Input{Tool: "bash", Failed: true}, false},
		{"PostToolUseFailure", "", api.HookAfterTool, hook.Input{Tool: "bash", Failed: true}, true},
		{"PermissionRequest", "Bash", api.HookApproval, hook.Input{Tool: "bash"}, true},
		{"UserPromptSubmit", "ignored", api.HookPrompt, hook.Input{}, true},
		{"SessionStart", "startup", api.HookSessionStart, hook.Input{Cause: hook.CauseStartup}, true},
		{"SessionStart", "resume", api.HookSessionStart, hook.Input{Cause: hook.CauseStartup}, false},
		{"PreCompact", "manual", api.HookCompaction, hook.Input{Cause: hook.CauseManual}, true},
		{"Notification", "permission_prompt", api.HookNotification, hook.Input{Cause: hook.CauseApproval}, true},
		{"Notification", "idle_prompt", api.HookNotification, hook.Input{Cause: hook.CauseQuestion}, false},
		{"Stop", "", api.HookTurnEnd, hook.Input{}, true},
		{"Stop", "", api.HookTurnEnd, hook.Input{Subagent: true}, false},
		{"SubagentStop", "", api.HookTurnEnd, hook.Input{Subagent: true}, true},
	} {
		w := newWorld(t)
		w.write(t, hook.SourceClaude, settings(tc.declared, tc.matcher, quiet))
		w.allow(t)
		if got := w.Load(w.folder).Has(tc.event, tc.in); got != tc.want {
			t.Errorf("%s %q about %+v: %v", tc.declared, tc.matcher, tc.in, got)
		}
	}
}

// TestWhatIsNotTaken does not run, and says so.
func TestWhatIsNotTaken(t *testing.T) {
	for text, want := range map[string]string{
		settings("PreToolUse", "", `{"type":"prompt","prompt":"x"}`):                        `hooks of the type "prompt" are not supported`,
		settings("PreToolUse", "", `{"type":"http","url":"https://x.example"}`):             `hooks of the type "http" are not supported`,
		settings("PreToolUse", "", `{"type":"command","command":"x","async":true}`):         `its setting "async" is not supported`,
		settings("PreToolUse", "", `{"type":"command","command":"x","if":"Bash(rm *)"}`):    `its setting "if" is not supported`,
		settings("PreToolUse", "", `{"type":"command","command":"x","shell":"powershell"}`): `its shell "powershell" is not supported`,
		settings("PreToolUse", "", `{"type":"command","command":" "}`):                      `its command is empty`,
		settings("PreToolUse", "(?!Bash)", quiet):                                           `its matcher is not a regular expression that can be used here`,
		settings("PreToolUse", "", `{"type":"command","command":1}`):                        `it cannot be read`,
	} {
		w := newWorld(t)
		w.write(t, hook.SourceClaude, text)
		h := w.only(t)
		if h.State != api.HookFailed || !strings.Contains(h.Reason, want) {
			t.Errorf("%s: %s %q", text, h.State, h.Reason)
		}
		if w.Load(w.folder).Has(api.HookBeforeTool, hook.Input{Tool: "bash"}) {
			t.Errorf("%s: it runs", text)
		}
	}
	for text, want := range map[string]string{
		settings("WorktreeCreate", "", quiet): "the event WorktreeCreate has no counterpart",
		`{"disableAllHooks":true,"hooks":{}}`: "disables its hooks",
		`{"hooks":{"PreToolUse":{}}}`:         "the hooks of PreToolUse do not run",
		`{`:                                   "is not valid JSON",
		settings("Stop", "", strings.TrimSuffix(strings.Repeat(quiet+",", 65), ",")): "has 65 hooks, the limit is 64",
	} {
		w := newWorld(t)
		w.write(t, hook.SourceLocal, text)
		list, problems := w.List(w.folder)
		if len(list) != 0 || len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%.80s: %v %v", text, list, problems)
		}
	}
}

// TestWhatAHookOfClaudeReads: names of events, tools, modes and paths are those that its
// script expects.
func TestWhatAHookOfClaudeReads(t *testing.T) {
	w := newWorld(t)
	w.write(t, hook.SourceClaude, settings("PreToolUse", "Write|Edit", `{"type":"command","command":"cat >> inputs; echo $CLAUDE_PROJECT_DIR > dir","timeout":5}`))
	w.allow(t)
	w.one(t, api.HookBeforeTool, hook.Input{Tool: "write_file", Mode: api.ModeAcceptEdits, Args: json.RawMessage(`{"path":"a/b.txt","content":"x","n":12345678901234567890}`)})
	w.one(t, api.HookBeforeTool, hook.Input{Tool: "patch", Mode: api.ModeAsk, Args: json.RawMessage(`{"patch":"*** Begin Patch"}`), Paths: []string{"one", "/two"}})
	want := fmt.Sprintf(`{"hook_event_name":"PreToolUse","session_id":"","cwd":%[1]q,"permission_mode":"acceptEdits","tool_name":"Write","tool_input":{"content":"x","file_path":"%[1]s/a/b.txt","n":12345678901234567890,"path":"a/b.txt"}}
{"hook_event_name":"PreToolUse","session_id":"","cwd":%[1]q,"permission_mode":"default","tool_name":"Edit","tool_input":{"file_path":"%[1]s/one","patch":"*** Begin Patch"}}
{"hook_event_name":"PreToolUse","session_id":"","cwd":%[1]q,"permission_mode":"default","tool_name":"Edit","tool_input":{"file_path":"/two","patch":"*** Begin Patch"}}
`, w.folder)
	if got := w.read(t, "inputs"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := w.read(t, "dir"); got != w.folder+"\n" {
		t.Errorf("CLAUDE_PROJECT_DIR is %q", got)
	}
}

// TestAPatchIsJudgedFileByFile: one denied file denies the call, and too many fail.
func TestAPatchIsJudgedFileByFile(t *testing.T) {
	w := newWorld(t)
	w.write(t, hook.SourceClaude, settings("PreToolUse", "Edit", `{"type":"command","command":"if grep -q 'secret'; then exit 2; fi"}`))
	w.allow(t)
	in := hook.Input{Tool: "patch", Args: json.RawMessage(`{}`), Paths: []string{"a", "secret", "b"}}
	if got := w.one(t, api.HookBeforeTool, in); got.Outcome != api.HookRefused {
		t.Errorf("got %+v", got)
	}
	in.Paths = slices.Repeat([]string{"a"}, 17)
	if got := w.one(t, api.HookBeforeTool, in); got.Outcome != api.HookBroken {
		t.Errorf("got %+v", got)
	}
}
