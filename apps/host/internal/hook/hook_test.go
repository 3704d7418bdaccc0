package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWhatAHookMaySay: each event takes only the answers that have an effect there, and no
// answer allows anything.
func TestWhatAHookMaySay(t *testing.T) {
	specific := func(event, fields string) string {
		return fmt.Sprintf(`echo '{"hookSpecificOutput":{"hookEventName":"%s",%s}}'`, event, fields)
	}
	for name, tc := range map[string]struct {
		event   api.HookEvent
		command string
		want    hook.Result
	}{
		"nothing":            {api.HookBeforeTool, `true`, hook.Result{Outcome: api.HookNothing}},
		"plain text":         {api.HookBeforeTool, `echo fine`, hook.Result{Outcome: api.HookNothing}},
		"deny":               {api.HookBeforeTool, `echo '{"decision":"deny","reason":"no"}'`, hook.Result{Outcome: api.HookRefused, Reason: "no"}},
		"ask":                {api.HookBeforeTool, `echo '{"decision":"ask","reason":"look"}'`, hook.Result{Outcome: api.HookAsked, Reason: "look"}},
		"allow":              {api.HookBeforeTool, `echo '{"decision":"allow","reason":"trust me"}'`, hook.Result{Outcome: api.HookNothing, Reason: "trust me"}},
		"approve":            {api.HookBeforeTool, `echo '{"decision":"approve"}'`, hook.Result{Outcome: api.HookNothing}},
		"allow of Claude":    {api.HookBeforeTool, specific("PreToolUse", `"permissionDecision":"allow"`), hook.Result{Outcome: api.HookNothing}},
		"deny of Claude":     {api.HookBeforeTool, specific("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"why"`), hook.Result{Outcome: api.HookRefused, Reason: "why"}},
		"other arguments":    {api.HookBeforeTool, specific("PreToolUse", `"permissionDecision":"allow","updatedInput":{"command":"ls"}`), hook.Result{Outcome: api.HookAsked, Reason: "it wants other arguments for this call, and a hook cannot change them"}},
		"exit code 2":        {api.HookBeforeTool, `echo "not on Fridays" >&2; exit 2`, hook.Result{Outcome: api.HookRefused, Reason: "not on Fridays"}},
		"a crash":            {api.HookBeforeTool, `echo oops >&2; exit 7`, hook.Result{Outcome: api.HookBroken, Reason: "it ended with exit code 7; its last output was: oops"}},
		"killed":             {api.HookBeforeTool, `kill -9 $$`, hook.Result{Outcome: api.HookBroken, Reason: "it was killed"}},
		"unknown":            {api.HookBeforeTool, `echo '{"decision":"maybe"}'`, hook.Result{Outcome: api.HookBroken, Reason: `it answered with the unknown decision "maybe"`}},
		"stop":               {api.HookBeforeTool, `echo '{"continue":false,"stopReason":"enough"}'`, hook.Result{Outcome: api.HookRefused, Reason: "enough"}},
		"context":            {api.HookBeforeTool, `echo '{"context":"mind the gap"}'`, hook.Result{Outcome: api.HookAdded, Context: "mind the gap"}},
		"control characters": {api.HookPrompt, `printf 'a\033[31mb\007'`, hook.Result{Outcome: api.HookAdded, Context: "a[31mb"}},
		"text of a prompt":   {api.HookPrompt, `echo "it rains"`, hook.Result{Outcome: api.HookAdded, Context: "it rains"}},
		"blocked prompt":     {api.HookPrompt, `echo '{"decision":"block","reason":"secret"}'`, hook.Result{Outcome: api.HookRefused, Reason: "secret"}},
		"ask about a prompt": {api.HookPrompt, `echo '{"decision":"ask"}'`, hook.Result{Outcome: api.HookBroken, Reason: "it asked for a decision, which is only possible before a tool call"}},
		"start":              {api.HookSessionStart, specific("SessionStart", `"additionalContext":"hello"`), hook.Result{Outcome: api.HookAdded, Context: "hello"}},
		"deny a start":       {api.HookSessionStart, `exit 2`, hook.Result{Outcome: api.HookBroken, Reason: "it denied or asked, which has no effect when a session starts"}},
		"feedback":           {api.HookAfterTool, `echo '{"decision":"block","reason":"format it"}'`, hook.Result{Outcome: api.HookAdded, Context: "format it"}},
		"deny a waiting one": {api.HookApproval, specific("PermissionRequest", `"decision":{"behavior":"deny","message":"no"}`), hook.Result{Outcome: api.HookRefused, Reason: "no"}},
		"allow one":          {api.HookApproval, specific("PermissionRequest", `"decision":{"behavior":"allow"}`), hook.Result{Outcome: api.HookNothing}},
		"go on":              {api.HookTurnEnd, `echo '{"decision":"block","reason":"more"}'`, hook.Result{Outcome: api.HookBroken, Reason: "it answered with a decision or context, which has no effect at turn_end"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, state.Hook{Name: "h", Event: string(tc.event), Command: tc.command})
			tc.want.Name, tc.want.Source = "h", hook.SourceUser
			if got := w.one(t, tc.event, hook.Input{Tool: "bash"}); got != tc.want {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestInvalidJSONIsAFault(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "before_tool", Command: `echo '{"decision":'`})
	if got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); got.Outcome != api.HookBroken || !strings.Contains(got.Reason, "invalid JSON") {
		t.Errorf("got %+v", got)
	}
}

// TestAHangingHookIsStopped with everything that it started.
func TestAHangingHookIsStopped(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "before_tool", Timeout: 1, Command: `trap "" TERM; sleep 1000 & echo $! > child; echo $$ > self; wait; sleep 1000`})
	got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"})
	if got.Outcome != api.HookBroken || got.Reason != "it did not end within 1 s and was stopped" {
		t.Errorf("got %+v", got)
	}
	for _, name := range []string{"child", "self"} {
		awaitGone(t, strings.TrimSpace(w.read(t, name)))
	}
}

// TestAHookThatIsNotNeededHasNoFault: one that is stopped because the approval was answered is not
// listed as failed.
func TestAHookThatIsNotNeededHasNoFault(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "notification", Command: "sleep 1000"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if results := w.Load(w.folder).Run(ctx, api.HookNotification, hook.Input{Cwd: w.folder}); len(results) != 1 || results[0].Outcome != api.HookBroken {
		t.Fatalf("got %+v", results)
	}
	if last := w.only(t).Last; last != nil {
		t.Errorf("the last run is %+v", last)
	}
}

// awaitGone waits until a process is not running any more.
func awaitGone(t *testing.T, pid string) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for range time.Tick(5 * time.Millisecond) {
		status, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the process %s is still running", pid)
		}
	}
}

// TestAFloodingHookIsStopped on either output.
func TestAFloodingHookIsStopped(t *testing.T) {
	for _, to := range []string{"", ">&2"} {
		w := newWorld(t, state.Hook{Event: "before_tool", Timeout: 600, Command: "yes " + to})
		got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"})
		if got.Outcome != api.HookBroken || got.Reason != "it printed more than 64 KiB and was stopped" {
			t.Errorf("%q: got %+v", to, got)
		}
	}
}

// TestAChildThatKeepsTheOutputOpen does not hold the hook up, and does not survive it.
func TestAChildThatKeepsTheOutputOpen(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "before_tool", Timeout: 600, Command: `sleep 1000 & echo $! > child; echo '{"decision":"deny","reason":"no"}'`})
	if got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); got.Outcome != api.HookRefused {
		t.Errorf("got %+v", got)
	}
	awaitGone(t, strings.TrimSpace(w.read(t, "child")))
}

// TestOneHookHarmsOnlyItself: others are heard, in the order of the configuration.
func TestOneHookHarmsOnlyItself(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "before_tool", Command: "yes"}, state.Hook{Event: "before_tool", Command: `exit 2`},
		state.Hook{Event: "before_tool", Command: `echo '{"context":"x"}'`})
	results := w.run(t, api.HookBeforeTool, hook.Input{Tool: "bash"})
	if len(results) != 3 || results[0].Outcome != api.HookBroken || results[1].Outcome != api.HookRefused || results[2].Outcome != api.HookAdded {
		t.Errorf("got %+v", results)
	}
}

func TestWhichCallsAHookIsAbout(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "before_tool", Tools: []string{"bash", "mcp__mail__*", "*_file"}, Command: "true"})
	for tool, want := range map[string]bool{
		"bash": true, "bash_job": false, "mcp__mail__send": true, "mcp__mails__send": false, "read_file": true, "_file": true, "file": false,
	} {
		if got := w.Load(w.folder).Has(api.HookBeforeTool, hook.Input{Tool: tool}); got != want {
			t.Errorf("%s: %v", tool, got)
		}
	}
}

func TestWhatAHookReads(t *testing.T) {
	w := newWorld(t, state.Hook{Event: "after_tool", Command: `cat > input; echo "$SCOREL_PROJECT_DIR" > dir; pwd -P > where`})
	w.one(t, api.HookAfterTool, hook.Input{
		SessionID: "ses_1", TurnID: "turn_1", Mode: api.ModeAcceptEdits, Tool: "bash", Call: "c1", Args: json.RawMessage(`{"command":"ls"}`), Output: "a\n", Failed: true,
	})
	want := fmt.Sprintf(`{"hook_event_name":"after_tool","session_id":"ses_1","turn_id":"turn_1","cwd":%q,"permission_mode":"accept-edits",`+
		`"tool_name":"bash","tool_input":{"command":"ls"},"tool_use_id":"c1","tool_response":{"text":"a\n","is_error":true}}`+"\n", w.folder)
	if got := w.read(t, "input"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := w.read(t, "dir"); got != w.folder+"\n" {
		t.Errorf("SCOREL_PROJECT_DIR is %q", got)
	}
}

// TestAHookRunsInTheSandbox and without what its environment must not have; only config.toml
// excludes it.
func TestAHookRunsInTheSandbox(t *testing.T) {
	off := false
	w := newWorld(t, state.Hook{Event: "prompt", Command: "echo $HELD $KEY"}, state.Hook{Event: "prompt", Command: "echo out $HELD", Sandbox: &off})
	w.options.Environ = func() []string { return []string{"PATH=" + os.Getenv("PATH")} }
	w.options.Sandbox, w.options.Kind = func(argv []string, folder string) []string { return append([]string{"env", "HELD=" + folder}, argv...) }, "strong"
	t.Setenv("KEY", "secret")
	m := hook.New(w.options)
	results := m.Load(w.folder).Run(t.Context(), api.HookPrompt, hook.Input{})
	if results[0].Context != w.folder || results[1].Context != "out" {
		t.Errorf("got %+v", results)
	}
	list, _ := m.List(w.folder)
	if list[0].Sandbox != "strong" || list[1].Sandbox != "none" || list[0].Last.Outcome != api.HookAdded || list[0].Hash != "" {
		t.Errorf("got %+v", list)
	}
}

func TestATestOfAHook(t *testing.T) {
	for _, event := range api.HookEvents() {
		w := newWorld(t, state.Hook{Event: string(event), Command: `grep -q '"hook_event_name":"` + string(event) + `"'`})
		run, input, err := w.Test(t.Context(), w.folder, w.only(t).ID)
		if err != nil || run.Outcome != api.HookNothing || !json.Valid([]byte(input)) {
			t.Errorf("%s: %+v %q %v", event, run, input, err)
		}
	}
}
