package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// builtFeishu fails unless the extension was built from what is there now.
func builtFeishu(t *testing.T) {
	t.Helper()
	const folder = "../../docs/examples/extensions"
	built, err := os.Stat(folder + "/feishu/dist/server.cjs")
	if err != nil {
		t.Fatal("the extension was not built: run `make feishu`")
	}
	sources := []string{folder + "/wecom/channel.mjs"}
	for _, pattern := range []string{"*.mjs", "*.json"} {
		names, err := filepath.Glob(folder + "/feishu/" + pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("the sources of the extension: %q, %v", names, err)
		}
		sources = append(sources, names...)
	}
	for _, name := range sources {
		if source, err := os.Stat(name); err != nil || source.ModTime().After(built.ModTime()) {
			t.Fatalf("the extension was built before %s changed: run `make feishu` (%v)", name, err)
		}
	}
}

func startFeishuServer(t *testing.T, f *feishu, more ...string) *lineServer {
	t.Helper()
	builtFeishu(t)
	return startLineServer(t, "feishu/dist/server.cjs", append(variables(f.env, "FEISHU_APP_ID", "FEISHU_APP_SECRET", "FEISHU_DOMAIN"), more...)...)
}

// TestFeishuInOtherPrograms serves a program that knows claude/channel only.
func TestFeishuInOtherPrograms(t *testing.T) {
	t.Parallel()
	f := startFeishu(t, "oc_ada", "oc_group")
	s := startFeishuServer(t, f, "FEISHU_ALLOW=ou_ada")
	s.initialize()
	f.until("the connection", func() bool { return f.conn != nil })
	f.say("oc_ada", "ou_ada", "text", 2, feishuText("hello"))
	if note := s.note("notifications/claude/channel"); !strings.Contains(note, `"content":"hello"`) {
		t.Errorf("heard %s", note)
	}
	f.say("oc_group", "ou_ada", "text", 1, feishuText("@_user_1 ask @_user_10 or @_user_2"))
	if note := s.note("notifications/claude/channel"); !strings.Contains(note, `"content":"ask @Bob $$ or @_user_2"`) {
		t.Errorf("heard %s", note)
	}

	s.write(map[string]any{"method": "notifications/claude/channel/permission_request", "params": map[string]any{"request_id": "abcde", "tool_name": "Bash", "description": "Lists files", "input_preview": "ls"}})
	asked := f.shows("oc_ada", "Permission needed: Bash", "Allow") // those in the group must not read it
	f.press("ou_ada", asked, "Allow")
	if note := s.note("notifications/claude/channel/permission"); !strings.Contains(note, `"behavior":"allow"`) {
		t.Errorf("answered %s", note)
	}
	f.until("the first notice", func() bool { return slices.Equal(f.toasts, []string{"Allowed"}) })
	f.press("ou_ada", asked, "Deny")
	f.until("the second notice", func() bool { return slices.Equal(f.toasts, []string{"Allowed", "This was answered already."}) })
}

// TestFeishuAcknowledges: an event is answered when the program has acknowledged its message, also
// one that was delivered again before that.
func TestFeishuAcknowledges(t *testing.T) {
	t.Parallel()
	f := startFeishu(t, "oc_ada")
	s := startFeishuServer(t, f)
	s.initialize("scorel/channel")
	if _, failure := s.call("scorel_check", nil); failure != "" {
		t.Fatal(failure)
	}
	acknowledge := func(id string) {
		s.write(map[string]any{"method": "notifications/scorel/channel/ack", "params": map[string]any{"id": id}})
		f.until("the answer to "+id, func() bool { return f.waits(id) == 0 })
	}
	first := f.say("oc_ada", "ou_ada", "text", 2, feishuText("hello"))
	s.note("notifications/scorel/channel")
	second := f.say("oc_ada", "ou_ada", "text", 1, feishuText("and again"))
	s.note("notifications/scorel/channel")
	acknowledge(second)
	f.mu.Lock()
	n := f.waits(first)
	f.mu.Unlock()
	if n != 2 {
		t.Errorf("%d events of 2 wait for the program", n)
	}
	acknowledge(first)
}

// TestFeishuRefusals: a wrong secret is told apart from what may go away.
func TestFeishuRefusals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, secret string
		refusal      int
		failure      string
	}{
		{"a wrong secret", "wrong", 0, "unauthorized"},
		{"a connection that is refused", feishuSecret, 514, "unauthorized"},
		{"too many connections", feishuSecret, 1000040350, "failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := startFeishu(t)
			f.refusal = test.refusal
			s := startFeishuServer(t, f, "FEISHU_APP_SECRET="+test.secret)
			s.initialize("scorel/channel")
			if _, failure := s.call("scorel_check", nil); failure != test.failure {
				t.Errorf("%q instead of %q", failure, test.failure)
			}
		})
	}
}

// TestFeishuTriesAgain: a connection that is refused after it was lost is tried again, and shown as
// refused until then.
func TestFeishuTriesAgain(t *testing.T) {
	t.Parallel()
	f := startFeishu(t, "oc_ada")
	s := startFeishuServer(t, f, "FEISHU_RETRY=0.2")
	s.initialize("scorel/channel")
	f.until("the connection", func() bool { return f.conn != nil })
	f.mu.Lock()
	f.refusal = 514
	f.mu.Unlock()
	f.drop()
	f.until("two refusals", func() bool { return f.refused >= 2 }) // the second is of another attempt
	if _, failure := s.call("scorel_check", nil); failure != "unauthorized" {
		t.Errorf("while the connection is refused: %q", failure)
	}
	f.until("the next connection", func() bool { f.refusal = 0; return f.conn != nil })
	f.say("oc_ada", "ou_ada", "text", 1, feishuText("hello"))
	if note := s.note("notifications/scorel/channel"); !strings.Contains(note, "hello") {
		t.Errorf("heard %s", note)
	}
	if _, failure := s.call("scorel_check", nil); failure != "" {
		t.Errorf("with the next connection: %q", failure)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dials != 2 {
		t.Errorf("the bot has connected %d times", f.dials)
	}
}

// TestFeishuWithoutABot: the failure says what to do, and the message is tried again.
func TestFeishuWithoutABot(t *testing.T) {
	t.Parallel()
	f := startFeishu(t, "oc_ada")
	f.botless = true
	s := startFeishuServer(t, f)
	s.initialize("scorel/channel")
	result := s.request("tools/call", map[string]any{"name": "scorel_send", "arguments": map[string]any{"key": "k", "chat": "oc_ada", "parts": []any{map[string]any{"kind": "text", "text": "hello"}}}})
	if text := fmt.Sprint(result); !strings.Contains(text, "enable the bot in the developer console") || !strings.Contains(text, "error:failed") {
		t.Errorf("sending: %s", text)
	}
}
