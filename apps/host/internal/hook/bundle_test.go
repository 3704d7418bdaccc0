package hook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/packages/protocol/api"
)

// extended is a world in which extensions are used.
func extended(t *testing.T, bundles *[]hook.Bundle) *world {
	t.Helper()
	w := newWorld(t)
	w.options.Bundles = func(string) []hook.Bundle { return *bundles }
	w.Manager = hook.New(w.options)
	return w
}

func bundleOf(t *testing.T, extension, name, text string) hook.Bundle {
	t.Helper()
	return hook.Bundle{Extension: extension, Hash: extension + "1", Root: t.TempDir(), Files: []hook.BundleFile{{Name: name, Data: []byte(text)}}}
}

// TestHooksOfAnExtension: they need no consent of their own, run beside others, know their
// folder, and one that fails harms only itself.
func TestHooksOfAnExtension(t *testing.T) {
	bundles := []hook.Bundle{
		bundleOf(t, "good", "hooks/hooks.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"bash \"${CLAUDE_PLUGIN_ROOT}\"/run.sh"}]}]}}`),
		bundleOf(t, "bad", "hooks/hooks.toml", "[[hooks]]\nevent = \"prompt\"\ncommand = \"yes\"\n[[hooks]]\nevent = \"prompt\"\ncommand = \"kill -9 $$\"\n"+
			"[[hooks]]\nevent = \"prompt\"\ncommand = \"sleep 600\"\ntimeout = 1\n[[hooks]]\nevent = \"prompt\"\ncommand = \"echo '{\\\"decision\\\": 7}'\"\n"),
		bundleOf(t, "unread", "hooks/hooks.json", `{`),
	}
	if err := os.WriteFile(filepath.Join(bundles[0].Root, "run.sh"), []byte("echo from $SCOREL_EXTENSION_ROOT"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := extended(t, &bundles)
	w.trusted = false // the folder has nothing to do with them
	var outcomes []string
	for _, r := range w.run(t, api.HookPrompt, hook.Input{Prompt: "hello"}) {
		outcomes = append(outcomes, r.Source+" "+string(r.Outcome))
		if r.Outcome == api.HookAdded && r.Context != "from "+bundles[0].Root {
			t.Errorf("it added %q", r.Context)
		}
	}
	if got, want := strings.Join(outcomes, ", "), "extension good added, extension bad failed, extension bad failed, extension bad failed, extension bad failed"; got != want {
		t.Errorf("they led to %s, want %s", got, want)
	}
	list, problems := w.List(w.folder)
	if len(list) != 5 || list[0].State != api.HookReady || list[0].Hash != "" || len(problems) != 1 || !strings.Contains(problems[0], "the extension unread") {
		t.Errorf("listed: %+v %v", list, problems)
	}
	if _, err := w.Decide(w.folder, list[0].ID, "", true, "host"); err == nil {
		t.Error("a hook of an extension was allowed alone")
	}
}

// TestHooksStopWithTheirExtension: also during a turn, and if its files are others.
func TestHooksStopWithTheirExtension(t *testing.T) {
	before := bundleOf(t, "good", "hooks/hooks.toml", "[[hooks]]\nevent = \"prompt\"\ncommand = \"echo more\"\n")
	bundles := []hook.Bundle{before}
	w := extended(t, &bundles)
	set := w.Load(w.folder)
	run := func() int { return len(set.Run(t.Context(), api.HookPrompt, hook.Input{Cwd: w.folder, Prompt: "x"})) }
	if run() != 1 {
		t.Fatal("it does not run")
	}
	bundles[0].Hash = "good2"
	if run() != 0 {
		t.Error("it runs after its extension was changed")
	}
	bundles = nil
	if run() != 0 {
		t.Error("it runs after its extension was disabled")
	}
}

// TestAHookThatHidesItsCommand: what cannot be shown does not run.
func TestAHookThatHidesItsCommand(t *testing.T) {
	bundles := []hook.Bundle{bundleOf(t, "bad", "hooks/hooks.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"true \u202e # eurt"}]}]}}`)}
	w := extended(t, &bundles)
	if h := w.only(t); h.State != api.HookFailed || !strings.Contains(h.Reason, "cannot be shown") {
		t.Errorf("it is %+v", h)
	}
}
