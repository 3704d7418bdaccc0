package host_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// longWait is how long the tests of extensions wait for an event: programs start slowly on a busy
// machine.
const longWait = 5 * time.Minute

// lineServer is an MCP server on pipes, spoken to line by line as any program can.
type lineServer struct {
	t     *testing.T
	in    *os.File
	lines chan map[string]any
	ids   int
	notes []map[string]any // notifications that nobody has waited for yet
}

// startLineServer starts the server of an extension of docs/examples.
func startLineServer(t *testing.T, program string, env ...string) *lineServer {
	t.Helper()
	program, err := filepath.Abs("../../docs/examples/extensions/" + program)
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", program)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir, cmd.Env, cmd.Stderr = t.TempDir(), append(os.Environ(), env...), os.Stderr
	theirs, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = theirs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	s := &lineServer{t: t, in: in, lines: make(chan map[string]any, 256)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var line map[string]any
			if json.Unmarshal(lines.Bytes(), &line) != nil {
				continue
			}
			select {
			case s.lines <- line:
			case <-t.Context().Done():
			}
		}
	}()
	t.Cleanup(func() {
		defer end()
		_ = in.Close() // ends it
		defer time.AfterFunc(longWait, end).Stop()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

func (s *lineServer) write(message map[string]any) {
	s.t.Helper()
	message["jsonrpc"] = "2.0"
	if err := json.NewEncoder(s.in).Encode(message); err != nil {
		s.t.Fatal(err)
	}
}

func (s *lineServer) next() map[string]any {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(longWait):
		s.t.Fatal("waiting for the server")
		return nil
	}
}

// request returns the result of a request.
func (s *lineServer) request(method string, params any) map[string]any {
	s.t.Helper()
	s.ids++
	s.write(map[string]any{"id": s.ids, "method": method, "params": params})
	for {
		line := s.next()
		if line["id"] == nil {
			s.notes = append(s.notes, line)
			continue
		}
		result, _ := line["result"].(map[string]any)
		return result
	}
}

func (s *lineServer) initialize(experimental ...string) {
	s.t.Helper()
	all := map[string]any{}
	for _, name := range experimental {
		all[name] = map[string]any{}
	}
	s.request("initialize", map[string]any{"capabilities": map[string]any{"experimental": all}})
}

// call returns what a tool returned, and the kind of its failure.
func (s *lineServer) call(tool string, arguments map[string]any) (result map[string]any, failure string) {
	s.t.Helper()
	r := s.request("tools/call", map[string]any{"name": tool, "arguments": arguments})
	result, _ = r["structuredContent"].(map[string]any)
	failure, _ = result["error"].(string)
	if (r["isError"] == true) != (failure != "") {
		s.t.Errorf("%s returned %v", tool, r)
	}
	return result, failure
}

// note returns the parameters of the next notification, as text.
func (s *lineServer) note(method string) string {
	s.t.Helper()
	if len(s.notes) == 0 {
		s.notes = append(s.notes, s.next())
	}
	note := s.notes[0]
	s.notes = s.notes[1:]
	if note["method"] != method {
		s.t.Fatalf("waiting for %s, the server sent %v", method, note)
	}
	text, err := json.Marshal(note["params"])
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// variables returns variables of an environment with their values.
func variables(env func(string) string, names ...string) (all []string) {
	for _, name := range names {
		all = append(all, name+"="+env(name))
	}
	return all
}

func (f *weCom) variables(more ...string) []string {
	return append(variables(f.env, "WECOM_BOT_ID", "WECOM_BOT_SECRET", "WECOM_URL", "WECOM_ANSWER_TIME"), more...)
}

// TestWeComInOtherPrograms serves a program that knows claude/channel only.
func TestWeComInOtherPrograms(t *testing.T) {
	t.Parallel()
	f := startWeCom(t)
	s := startLineServer(t, "wecom/server.mjs", f.variables("WECOM_ALLOW=ada, bob")...)
	s.initialize()
	if tools, _ := s.request("tools/list", nil)["tools"].([]any); len(tools) != 1 {
		t.Errorf("the tools are %v", tools)
	}
	f.until("the subscription", func() bool { return f.conn != nil })
	if _, failure := s.call("reply", map[string]any{"chat_id": "single:ada", "text": "x"}); failure != "chat_gone" {
		t.Errorf("a reply to a chat that nobody has written in: %q", failure)
	}
	f.say("single:eve", "eve", 1, plainText("hear me"))
	f.say("single:ada", "ada", 2, plainText("hello"))
	f.say("group:7", "bob", 1, plainText("@scorel and I"))
	if note := s.note("notifications/claude/channel"); !strings.Contains(note, `"content":"hello"`) || !strings.Contains(note, `"chat_id":"single:ada"`) {
		t.Errorf("heard %s", note)
	}
	if note := s.note("notifications/claude/channel"); !strings.Contains(note, `"content":"and I"`) || !strings.Contains(note, `"user_id":"bob"`) {
		t.Errorf("heard %s", note)
	}
	long := strings.Repeat("界👍 abc\n", 4000)
	s.call("reply", map[string]any{"chat_id": "single:ada", "text": long})
	f.until("the reply", func() bool { return len(f.shown) == 3 })
	all := f.shown[0].Text + f.shown[1].Text + f.shown[2].Text
	if strings.Join(strings.Fields(all), "") != strings.Join(strings.Fields(long), "") { // a part has no space at its ends
		t.Error("the parts of the reply are not the reply")
	}

	s.write(map[string]any{"method": "notifications/claude/channel/permission_request", "params": map[string]any{"request_id": "abcde", "tool_name": "Bash", "description": "Lists files", "input_preview": "ls ```"}})
	_, n := f.hears(3, "single:ada", "**Permission needed: Bash**") // those in the group must not read it
	card := f.card(n, "single:ada", "Allow")
	f.press("eve", card, "Allow")
	f.press("ada", card, "Allow")
	if note := s.note("notifications/claude/channel/permission"); !strings.Contains(note, `"behavior":"allow"`) || !strings.Contains(note, `"request_id":"abcde"`) {
		t.Errorf("answered %s", note)
	}
	f.press("ada", card, "Deny")
	f.until("the answers", func() bool {
		return slices.Equal(f.shown[len(f.shown)-1].Answers, []string{"ada: Allowed", "ada: This was answered already."})
	})
	if len(s.notes) > 0 {
		t.Errorf("the server sent %v as well", s.notes)
	}
}

// TestWeComLimits: the limits of a chat, of a message and of a file are kept, and a failure has its kind.
func TestWeComLimits(t *testing.T) {
	t.Parallel()
	f := startWeCom(t)
	s := startLineServer(t, "wecom/server.mjs", f.variables("WECOM_ANSWER_TIME=0.001")...)
	s.initialize("scorel/channel")
	if who, failure := s.call("scorel_check", nil); who["id"] != "bot" {
		t.Errorf("the bot is %v: %s", who, failure)
	}
	send := func(key, chat, text string) (map[string]any, string) {
		return s.call("scorel_send", map[string]any{"key": key, "chat": chat, "parts": []any{map[string]any{"kind": "text", "text": text}}})
	}
	if _, failure := send("early", "single:ada", "x"); failure != "rejected" {
		t.Errorf("a message to a chat in which nobody has written: %q", failure)
	}
	for _, chat := range []string{"single:ada", "single:bob"} {
		f.say(chat, strings.TrimPrefix(chat, "single:"), 1, plainText("hello"))
		s.note("notifications/scorel/channel")
	}
	f.press("ada", weComShown{Chat: "single:ada", Task: "task", Buttons: map[string]string{"Go": "data"}}, "Go")
	press := s.note("notifications/scorel/channel")
	if _, failure := send("long", "single:ada", strings.Repeat("界", 6827)); failure != "rejected" {
		t.Errorf("20,481 bytes: %q", failure)
	}
	for n := range 29 { // the one to the unknown chat counts
		if _, failure := send(fmt.Sprint("k", n), "single:ada", "x"); failure != "" {
			t.Fatalf("message %d: %s", n, failure)
		}
	}
	if _, failure := send("k0", "single:ada", "x"); failure != "" {
		t.Errorf("a key again: %s", failure)
	}
	if result, failure := send("more", "single:ada", "x"); failure != "rate_limited" || result["after"].(float64) < 1 || result["after"].(float64) > 60_000 {
		t.Errorf("the 31st message in a minute: %v", result)
	}
	if _, failure := send("other", "single:bob", "x"); failure != "" {
		t.Errorf("another chat: %q", failure)
	}
	f.until("30 messages", func() bool { return len(f.shown) == 30 })
	if _, failure := s.call("scorel_read_file", map[string]any{"ref": "none", "at": 0}); failure != "rejected" {
		t.Errorf("an unknown file: %q", failure)
	}
	if _, failure := s.call("scorel_write_file", map[string]any{"upload": "u", "at": 7, "data": ""}); failure != "rejected" {
		t.Errorf("a part without the one before it: %q", failure)
	}
	var late struct{ Update channel.Update }
	if err := json.Unmarshal([]byte(press), &late); err != nil || late.Update.Press == nil {
		t.Fatalf("pressed: %s: %v", press, err)
	}
	if _, failure := s.call("scorel_answer", map[string]any{"chat": "single:ada", "ref": late.Update.Press.Ref, "notice": "late"}); failure != "" {
		t.Errorf("an answer that is too late: %q", failure)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.events) != 1 {
		t.Error("an answer was sent when it was too late")
	}
}

// TestWeComHeartbeat: a connection that is dead without an end is replaced.
func TestWeComHeartbeat(t *testing.T) {
	t.Parallel()
	f := startWeCom(t)
	s := startLineServer(t, "wecom/server.mjs", f.variables("WECOM_HEARTBEAT=0.2")...)
	s.initialize("scorel/channel")
	f.until("heartbeats", func() bool { return f.beats > 1 })
	f.mu.Lock()
	f.mute = true
	ended, bots := f.ended, f.bots // a busy machine may have lost a connection before
	f.mu.Unlock()
	f.until("the end of the connection", func() bool { f.mute = f.ended == ended; return !f.mute })
	f.until("the next subscription", func() bool { return f.bots > bots })
	if _, failure := s.call("scorel_check", nil); failure != "" {
		t.Errorf("after the connection was lost: %s", failure)
	}
}

// TestWeComRefusals: a wrong secret is told apart from what may go away, and from another program that
// uses the bot.
func TestWeComRefusals(t *testing.T) {
	t.Parallel()
	f := startWeCom(t)
	wrong := startLineServer(t, "wecom/server.mjs", f.variables("WECOM_BOT_SECRET=wrong")...)
	wrong.initialize("scorel/channel")
	if _, failure := wrong.call("scorel_check", nil); failure != "unauthorized" {
		t.Errorf("a wrong secret: %q", failure)
	}
	busy := startWeCom(t)
	busy.refusal = -1
	startLineServer(t, "wecom/server.mjs", busy.variables()...).initialize("scorel/channel")
	busy.until("a refusal", func() bool { return busy.refused > 0 })
	busy.until("the next subscription", func() bool { busy.refusal = 0; return busy.bots > 0 })
	s := startLineServer(t, "wecom/server.mjs", f.variables()...)
	s.initialize("scorel/channel")
	s.call("scorel_check", nil)
	other, _, err := websocket.Dial(t.Context(), f.env("WECOM_URL"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.CloseNow() }()
	subscribe := map[string]any{"cmd": "aibot_subscribe", "headers": map[string]string{"req_id": "other"}, "body": map[string]string{"bot_id": "bot", "secret": weComSecret}}
	if err := wsjson.Write(t.Context(), other, subscribe); err != nil {
		t.Fatal(err)
	}
	f.until("the second subscription", func() bool { return f.bots >= 2 && f.ended >= 2 })
	if _, failure := s.call("scorel_check", nil); failure != "conflict" {
		t.Errorf("another program has connected: %q", failure)
	}
}
