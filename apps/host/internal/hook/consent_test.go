package hook_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/packages/protocol/api"
)

const own = `[[hooks]]
event = "before_tool"
command = "sh ./guard.sh"
`

// TestAProjectBringsHooksUnasked: nothing of it runs before a person has allowed exactly this.
func TestAProjectBringsHooksUnasked(t *testing.T) {
	w := newWorld(t)
	w.write(t, hook.SourceProject, own)
	w.write(t, "guard.sh", "touch ran; exit 2")
	if h := w.only(t); h.State != api.HookNeedsConsent || !slices.Equal(h.Files, []string{"guard.sh"}) || h.Command != "sh ./guard.sh" {
		t.Errorf("got %+v", h)
	}
	in := hook.Input{Tool: "bash"}
	if got := w.run(t, api.HookBeforeTool, in); len(got) != 0 {
		t.Errorf("it ran: %+v", got)
	}
	if _, _, err := w.Test(t.Context(), w.folder, w.only(t).ID); err == nil {
		t.Error("a test ran it")
	}
	w.trusted = false
	w.allow(t)
	h := w.only(t)
	if h.State != api.HookUntrusted {
		t.Errorf("got %+v", h)
	}
	if _, err := w.Decide(w.folder, h.ID, h.Hash, true, "cli_x"); err != nil {
		t.Fatal(err)
	}
	if got := w.run(t, api.HookBeforeTool, in); len(got) != 0 {
		t.Errorf("it ran in a folder that is not trusted: %+v", got)
	}
	w.trusted = true
	if got := w.one(t, api.HookBeforeTool, in); got.Outcome != api.HookRefused {
		t.Errorf("got %+v", got)
	}
}

// TestAChangedScriptNeedsConsentAgain: until then the hook fails, so that whoever changes the
// script does not switch a guard off.
func TestAChangedScriptNeedsConsentAgain(t *testing.T) {
	w := newWorld(t)
	w.write(t, hook.SourceProject, own)
	w.write(t, "guard.sh", "exit 2")
	old := w.only(t)
	w.allow(t)
	set := w.Load(w.folder)
	in := hook.Input{Tool: "bash", Cwd: w.folder}
	w.write(t, "guard.sh", "touch ran; exit 0")
	for _, got := range [][]hook.Result{set.Run(t.Context(), api.HookBeforeTool, in), w.run(t, api.HookBeforeTool, in)} {
		if len(got) != 1 || got[0].Outcome != api.HookBroken || !strings.Contains(got[0].Reason, "has changed") {
			t.Errorf("got %+v", got)
		}
	}
	if h := w.only(t); h.State != api.HookNeedsConsent || h.Hash == old.Hash || h.ID != old.ID {
		t.Errorf("got %+v", h)
	}
	if _, err := w.Decide(w.folder, old.ID, old.Hash, true, "cli_x"); !errors.Is(err, hook.ErrChanged) {
		t.Errorf("deciding about what was shown before: %v", err)
	}
	now := w.only(t)
	if _, err := w.Decide(w.folder, now.ID, now.Hash, false, "cli_x"); err != nil {
		t.Fatal(err)
	}
	if got := w.run(t, api.HookBeforeTool, in); len(got) != 0 || w.only(t).State != api.HookDenied {
		t.Errorf("a denied hook ran: %+v", got)
	}
}

// TestWhatConsentCovers: also a compiled program, which is large, and a script without extension
// that an interpreter reads.
func TestWhatConsentCovers(t *testing.T) {
	for command, name := range map[string]string{"./bin/guard": "bin/guard", "bash hooks/guard": "hooks/guard", "exec hooks/guard.bin --deny": "hooks/guard.bin"} {
		w := newWorld(t)
		w.write(t, hook.SourceProject, "[[hooks]]\nevent = \"before_tool\"\ncommand = \""+command+"\"\n")
		padding := "\n#"
		if !strings.HasPrefix(command, "bash") {
			padding += strings.Repeat("x", 3<<20)
		}
		w.write(t, name, "#!/bin/sh\nexit 2"+padding)
		if !strings.HasPrefix(command, "bash") {
			if err := os.Chmod(filepath.Join(w.folder, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		w.allow(t)
		if got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); got.Outcome != api.HookRefused || !slices.Equal(w.only(t).Files, []string{name}) {
			t.Errorf("%s: %+v, consent to %q", command, got, w.only(t).Files)
		}
		w.write(t, name, "#!/bin/sh\nexit 0"+padding)
		if got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); got.Outcome != api.HookBroken || !strings.Contains(got.Reason, "has changed") {
			t.Errorf("%s, changed: %+v", command, got)
		}
	}
}

// TestAHookThatNamesTooManyFiles cannot be allowed. One that was allowed before fails instead of
// being switched off.
func TestAHookThatNamesTooManyFiles(t *testing.T) {
	w := newWorld(t)
	w.write(t, hook.SourceProject, "[[hooks]]\nevent = \"before_tool\"\ncommand = \"cat lib/*.sh > /dev/null; exit 2\"\n")
	w.write(t, "lib/a.sh", "")
	w.allow(t)
	if got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); got.Outcome != api.HookRefused {
		t.Errorf("got %+v", got)
	}
	for i := range 16 {
		w.write(t, fmt.Sprintf("lib/b%d.sh", i), "")
	}
	if got := w.one(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); got.Outcome != api.HookBroken || !strings.Contains(got.Reason, "more than 16 files") {
		t.Errorf("got %+v", got)
	}
	now := w.only(t)
	if _, err := w.Decide(w.folder, now.ID, now.Hash, true, "cli_x"); err == nil || !strings.Contains(err.Error(), "more than 16 files") {
		t.Errorf("allowing it: %v", err)
	}
	if _, err := w.Decide(w.folder, now.ID, now.Hash, false, "cli_x"); err != nil {
		t.Errorf("denying it: %v", err)
	}
}

// TestAHookThatIsRemovedDuringATurn still runs in this turn.
func TestAHookThatIsRemovedDuringATurn(t *testing.T) {
	w := newWorld(t)
	w.write(t, hook.SourceProject, "[[hooks]]\nevent = \"before_tool\"\ncommand = \"exit 2\"\n")
	w.allow(t)
	set := w.Load(w.folder)
	w.write(t, hook.SourceProject, "")
	if got := set.Run(t.Context(), api.HookBeforeTool, hook.Input{Tool: "bash", Cwd: w.folder}); !slices.Equal(outcomes(got), []api.HookOutcome{api.HookRefused}) {
		t.Errorf("got %+v", got)
	}
	if got := w.run(t, api.HookBeforeTool, hook.Input{Tool: "bash"}); len(got) != 0 {
		t.Errorf("it runs in the next turn: %+v", got)
	}
}

func TestProblemsOfAFile(t *testing.T) {
	for text, want := range map[string]string{
		"[[hooks]]\nevent = \"before_tool\"\ncomand = \"x\"":                        `.scorel/hooks.toml:3: unknown key "hooks.comand"; did you mean "command"?`,
		"[[hooks]]\nevent = \"before\"\ncommand = \"x\"":                            `.scorel/hooks.toml: hooks[1]: unknown event "before"`,
		"[[hooks]]\nevent = \"prompt\"\ncommand = \"x\"\ntools = [\"a\"]":           "tools belong to before_tool, after_tool and approval",
		"[[hooks]]\nevent = \"prompt\"\ncommand = \"x\"\nsandbox = false":           "only config.toml can set sandbox and enabled",
		"[[hooks]]\nevent = \"prompt\"\n":                                           "command is missing",
		"[[hooks]]\nevent = \"prompt\"\ncommand = \"x\"\ntimeout = 601":             "timeout is in seconds, at most 600",
		strings.Repeat("[[hooks]]\nevent = \"prompt\"\ncommand = \"x\"\n", 65) + "": "there are 65, the limit is 64",
		strings.Repeat("#", 1<<20) + "#":                                            ".scorel/hooks.toml cannot be read, so its hooks do not run: it is larger than the limit of 1024 KiB",
	} {
		w := newWorld(t)
		w.write(t, hook.SourceProject, text)
		list, problems := w.List(w.folder)
		if len(list) != 0 || len(problems) != 1 || !strings.Contains(problems[0], want) {
			t.Errorf("%.60q: %v", text, problems)
		}
	}
}
