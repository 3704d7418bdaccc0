package host_test

import (
	"fmt"
	"testing"
)

// TestWeComTextsGrow: a text that is still written grows in an answer to a message of a person, as long
// as WeCom allows that and others have room. What cannot is complete as a message of its own.
func TestWeComTextsGrow(t *testing.T) {
	t.Parallel()
	f := startWeCom(t)
	s := startLineServer(t, "wecom/server.mjs", f.variables()...)
	s.initialize("scorel/channel")
	if _, failure := s.call("scorel_check", nil); failure != "" {
		t.Fatal(failure)
	}
	say := func(tool, id, text string, growing bool) string {
		t.Helper()
		_, failure := s.call(tool, map[string]any{"key": id, "id": id, "chat": "single:ada", "parts": []any{map[string]any{"kind": "text", "text": text}}, "growing": growing})
		return failure
	}
	shows := func(text string, finished bool) {
		t.Helper()
		f.mu.Lock()
		defer f.mu.Unlock()
		if last := f.shown[len(f.shown)-1]; last.Text != text || last.Finished != finished {
			t.Errorf("the chat shows %+v, not %q, finished: %t", last, text, finished)
		}
	}
	if sent, ended := say("scorel_send", "early", "x", true), say("scorel_edit", "early", "xyz", false); sent != "" || ended != "message_gone" {
		t.Errorf("before a message of a person: %q, %q", sent, ended)
	}
	f.say("single:ada", "ada", 1, plainText("hello"))
	s.note("notifications/scorel/channel")
	say("scorel_send", "one", "It", true)
	shows("It", false)
	say("scorel_edit", "one", "It grows", true)
	shows("It grows", false)
	for n := range 20 { // most of which there is no room for
		if failure := say("scorel_edit", "one", fmt.Sprint("It grows ", n), true); failure != "" {
			t.Fatal(failure)
		}
	}
	f.mu.Lock()
	if n := len(f.sent["single:ada"]); n != 15 {
		t.Errorf("a text that grows took %d messages of 30 in a minute", n)
	}
	f.mu.Unlock()
	if failure := say("scorel_edit", "one", "It has grown.", false); failure != "" {
		t.Error(failure)
	}
	shows("It has grown.", true)
	if failure := say("scorel_edit", "one", "More", false); failure != "message_gone" {
		t.Errorf("an edit of a complete text: %q", failure)
	}
}

// TestWeComTextsExpire: a text whose answer WeCom does not take any more is sent again as a whole.
func TestWeComTextsExpire(t *testing.T) {
	t.Parallel()
	f := startWeCom(t)
	s := startLineServer(t, "wecom/server.mjs", f.variables()...)
	s.initialize("scorel/channel")
	if _, failure := s.call("scorel_check", nil); failure != "" {
		t.Fatal(failure)
	}
	f.say("single:ada", "ada", 1, plainText("hello"))
	s.note("notifications/scorel/channel")
	part := func(text string) []any { return []any{map[string]any{"kind": "text", "text": text}} }
	s.call("scorel_send", map[string]any{"key": "one", "chat": "single:ada", "parts": part("It"), "growing": true})
	f.mu.Lock()
	f.expired = true
	f.mu.Unlock()
	if _, failure := s.call("scorel_edit", map[string]any{"id": "one", "chat": "single:ada", "parts": part("It grows"), "growing": true}); failure != "" {
		t.Errorf("more of the text: %q", failure)
	}
	if _, failure := s.call("scorel_edit", map[string]any{"id": "one", "chat": "single:ada", "parts": part("It has grown.")}); failure != "message_gone" {
		t.Errorf("all of the text: %q", failure)
	}
}
