package editors_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestTurn: a prompt with a tool call that needs approval, seen from an editor.
func TestTurn(t *testing.T) {
	w := newWorld(t)
	e := w.open()
	created, err := e.conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: w.folder, McpServers: []sdk.McpServer{}})
	if err != nil || created.Modes == nil || created.Modes.CurrentModeId != "ask" || len(created.ConfigOptions) < 2 {
		t.Fatalf("%+v %v", created, err)
	}
	link := sdk.ResourceLinkBlock("a.txt", "file://"+w.folder+"/a.txt")
	if got := e.prompt(created.SessionId, sdk.TextBlock("write a.txt: hello"), link); got.StopReason != sdk.StopReasonEndTurn {
		t.Errorf("%+v", got)
	}
	if data, err := os.ReadFile(filepath.Join(w.folder, "a.txt")); err != nil || !strings.HasPrefix(string(data), "hello") {
		t.Errorf("%q %v", data, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 || e.asked[0].ToolCall.ToolCallId == "" || e.asked[0].Options[0].Kind != sdk.PermissionOptionKindAllowOnce {
		t.Errorf("%+v", e.asked)
	}
	var call, done, commands bool
	for _, u := range e.updates {
		switch {
		case u.ToolCall != nil:
			call = u.ToolCall.Kind == sdk.ToolKindEdit && u.ToolCall.ToolCallId == e.asked[0].ToolCall.ToolCallId
		case u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil && *u.ToolCallUpdate.Status == sdk.ToolCallStatusCompleted:
			done = call
		case u.AvailableCommandsUpdate != nil:
			commands = true
		case u.UserMessageChunk != nil:
			t.Error("the editor's own prompt came back")
		}
	}
	if !call || !done || !commands {
		t.Errorf("call %t, done %t, commands %t", call, done, commands)
	}
	if got, want := e.text(), w.logged(created.SessionId); got != want {
		t.Errorf("got %q, the log has %q", got, want)
	}
}

// TestCuts: connections that break in the middle of turns lose no update and repeat none.
func TestCuts(t *testing.T) {
	w := newWorld(t)
	e := w.open()
	id := e.begin(w.folder)
	for turn := range 4 {
		ended := make(chan sdk.PromptResponse, 1)
		go func() {
			response, err := e.conn.Prompt(context.WithoutCancel(t.Context()), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("stream 60")}})
			if err != nil {
				t.Error(err)
			}
			ended <- response
		}()
		for cut := range 3 {
			word := fmt.Sprintf("word%d ", 5+15*cut+turn)
			e.await(word, func() bool { return strings.Count(e.text(), word) > turn })
			e.cut()
		}
		select {
		case response := <-ended:
			if response.StopReason != sdk.StopReasonEndTurn {
				t.Errorf("turn %d: %+v", turn, response)
			}
		case <-time.After(patience):
			t.Fatal("the turn did not end")
		}
		if got, want := e.said(), w.logged(id); got != want {
			t.Fatalf("turn %d: got\n%q\nthe log has\n%q", turn, got, want)
		}
	}
	if e.mu.Lock(); e.connections < 8 {
		t.Errorf("only %d connections: nothing was cut", e.connections)
	}
	e.mu.Unlock()
}

// TestAnsweredElsewhere: when another device answers first, the editor's request is withdrawn,
// and its call says who answered.
func TestAnsweredElsewhere(t *testing.T) {
	w := newWorld(t, hosttest.FakeBackend(os.Args[0]))
	e := w.open()
	e.permission = func(ctx context.Context, _ sdk.RequestPermissionRequest) (sdk.PermissionOptionId, bool) {
		<-ctx.Done()
		return "", false
	}
	id := e.begin(w.folder)
	for i, c := range []struct {
		prompt string
		answer api.Decision
		want   string
	}{
		{"write a.txt: hello", api.DecisionAllow, "Allowed on another device"},
		{"call c1 execute make test\nask c1\ndone c1 ok", api.Choice(0), `Answered with "Yes, just this time" on another device`},
	} {
		if _, own := c.answer.Choice(); own {
			w.useFake(id)
		}
		ended := make(chan sdk.PromptResponse, 1)
		go func() {
			response, err := e.conn.Prompt(context.WithoutCancel(t.Context()), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(c.prompt)}})
			if err != nil {
				t.Error(err)
			}
			ended <- response
		}()
		e.await("permission request", func() bool { return len(e.asked) == i+1 })
		state, err := client.Call(t.Context(), w.local, api.ResyncEvents, api.ResyncEventsRequest{SessionID: string(id)})
		if err != nil || len(state.Live.Approvals) != 1 {
			t.Fatalf("%+v %v", state.Live, err)
		}
		approval := state.Live.Approvals[0]
		if _, err := client.Call(t.Context(), w.local, api.AnswerApproval, api.AnswerApprovalRequest{
			SessionID: string(id), ApprovalID: approval.ID, Decision: c.answer, Shown: approval.Shown,
		}); err != nil {
			t.Fatal(err)
		}
		if response := <-ended; response.StopReason != sdk.StopReasonEndTurn {
			t.Errorf("%+v", response)
		}
		e.await("withdrawal", func() bool { return e.withdrawn == i+1 })
		e.await("word of who answered", func() bool { return e.showed(c.want) })
	}
}

// showed reports whether the content of a call began with a text. e.mu is held.
func (e *editor) showed(text string) bool {
	for _, u := range e.updates {
		if u.ToolCallUpdate == nil {
			continue
		}
		for _, c := range u.ToolCallUpdate.Content {
			if c.Content != nil && c.Content.Content.Text != nil && strings.HasPrefix(c.Content.Content.Text.Text, text) {
				return true
			}
		}
	}
	return false
}

// TestCancel: a canceled prompt ends as cancelled, while it runs, while it waits for an approval,
// and while another turn runs.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	e := w.open()
	e.permission = func(ctx context.Context, _ sdk.RequestPermissionRequest) (sdk.PermissionOptionId, bool) {
		<-ctx.Done()
		return "", false
	}
	id := e.begin(w.folder)
	for _, text := range []string{"stream 200", "write a.txt: hello"} {
		e.mu.Lock()
		before, asked := len(e.updates), len(e.asked)
		e.mu.Unlock()
		ended := make(chan sdk.PromptResponse, 2)
		for _, text := range []string{text, "hello"} { // the second one waits in the queue
			go func() {
				response, err := e.conn.Prompt(context.WithoutCancel(t.Context()), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
				if err != nil {
					t.Error(err)
				}
				ended <- response
			}()
			e.await("beginning", func() bool { return len(e.updates) > before+1 || len(e.asked) > asked })
		}
		if err := e.conn.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
			t.Fatal(err)
		}
		// Whether the second prompt was known when the first was canceled is not certain.
		if response := <-ended; response.StopReason != sdk.StopReasonCancelled && response.StopReason != sdk.StopReasonEndTurn {
			t.Errorf("%s: %+v", text, response)
		}
		<-ended
	}
	if _, err := os.Stat(filepath.Join(w.folder, "a.txt")); err == nil {
		t.Error("what was canceled was written")
	}
}

// TestTwoEditors: an editor sees what another one does, loads what happened before, and changes
// modes for both.
func TestTwoEditors(t *testing.T) {
	w := newWorld(t)
	one := w.open()
	id := one.begin(w.folder)
	one.prompt(id, sdk.TextBlock("stream 5"))
	two := w.open()
	loaded, err := two.conn.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: w.folder, McpServers: []sdk.McpServer{}})
	if err != nil || loaded.Modes == nil {
		t.Fatalf("%+v %v", loaded, err)
	}
	if got, want := two.said(), w.logged(id); got != want {
		t.Errorf("loaded %q, the log has %q", got, want)
	}
	prompts := func(e *editor) (n int) {
		for _, u := range e.updates {
			if u.UserMessageChunk != nil {
				n++
			}
		}
		return n
	}
	two.await("replayed prompt", func() bool { return prompts(two) == 1 })
	two.prompt(id, sdk.TextBlock("stream 7"))
	one.await("the other's turn", func() bool { return prompts(one) == 1 && strings.Contains(one.text(), "word7") })
	if _, err := one.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: id, ModeId: "plan"}); err != nil {
		t.Fatal(err)
	}
	two.await("mode", func() bool {
		for _, u := range two.updates {
			if u.CurrentModeUpdate != nil && u.CurrentModeUpdate.CurrentModeId == "plan" {
				return true
			}
		}
		return false
	})
	if a, b, want := one.said(), two.said(), w.logged(id); a != want || b != want {
		t.Errorf("one has %q, two has %q, the log has %q", a, b, want)
	}
}

// TestBadRequests: what is wrong or too large is refused, and the connection stays.
func TestBadRequests(t *testing.T) {
	w := newWorld(t)
	e := w.open()
	id := e.begin(w.folder)
	bad := map[string]sdk.PromptRequest{
		"an unknown session": {SessionId: "nobody", Prompt: []sdk.ContentBlock{sdk.TextBlock("hello")}},
		"an empty prompt":    {SessionId: id, Prompt: []sdk.ContentBlock{}},
		"sound":              {SessionId: id, Prompt: []sdk.ContentBlock{sdk.AudioBlock("YQ==", "audio/wav")}},
		"20 MiB":             {SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(strings.Repeat("x", 20<<20))}},
		"a broken image":     {SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("look"), sdk.ImageBlock("!", "image/png")}},
	}
	for name, request := range bad {
		if response, err := e.conn.Prompt(t.Context(), request); err == nil {
			t.Errorf("%s: %+v", name, response)
		}
	}
	if _, err := e.conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "relative", McpServers: []sdk.McpServer{}}); err == nil {
		t.Error("a relative folder was accepted")
	}
	if got := e.prompt(id, sdk.TextBlock("stream 3")); got.StopReason != sdk.StopReasonEndTurn {
		t.Errorf("%+v", got)
	}
}
