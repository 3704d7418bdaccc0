package editors_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/editors"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/client"
)

const asking = `use clarify {"question": "Which color?", "choices": ["red", "blue"]}`

// TestQuestionAsChoice: an editor without forms is shown the choices of a question.
func TestQuestionAsChoice(t *testing.T) {
	w := newWorld(t)
	e := w.open()
	e.permission = func(_ context.Context, r sdk.RequestPermissionRequest) (sdk.PermissionOptionId, bool) {
		for _, option := range r.Options {
			if option.Name == "blue" {
				return option.OptionId, true
			}
		}
		return "", false
	}
	id := e.begin(w.folder)
	e.prompt(id, sdk.TextBlock(asking))
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.asked) != 1 || len(e.asked[0].Options) != 3 {
		t.Errorf("%+v", e.asked)
	}
	if text := e.text(); !strings.Contains(text, "blue") {
		t.Errorf("%q", text)
	}
}

// formEditor is an editor with forms.
type formEditor struct{ asked chan acp.Elicitation }

func (formEditor) Update(string, acp.Update)                          {}
func (formEditor) ElicitationCompleted(string)                        {}
func (formEditor) Permission(r *acp.Request, _ acp.PermissionRequest) { r.NotFound() }
func (e formEditor) Elicit(r *acp.Request, q acp.Elicitation) {
	e.asked <- q
	r.Reply(acp.ElicitationResponse{Action: acp.ElicitAccept, Content: map[string]json.RawMessage{"answer": json.RawMessage(`"red"`)}}, nil)
}

// TestQuestionAsForm: an editor with forms is asked in one, and its answer reaches the agent.
func TestQuestionAsForm(t *testing.T) {
	w := newWorld(t)
	in, editorOut := io.Pipe()
	editorIn, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- editors.Run(context.WithoutCancel(t.Context()), editors.Config{
			Input: in, Output: out, Local: true, Version: "test", Logger: slog.New(slog.DiscardHandler),
			Feed: feed.Config{Dial: func(ctx context.Context) (client.Transport, error) { return host.DialLocal(ctx, w.home) }, Lost: func(error) bool { return true }},
		})
	}()
	e := formEditor{make(chan acp.Elicitation, 1)}
	agent, err := acp.Connect(t.Context(), editorIn, editorOut, e, acp.Options{}, acp.InitializeRequest{
		ClientCapabilities: acp.ClientCapabilities{Elicitation: &acp.ClientElicitation{Form: &acp.Empty{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	state, err := agent.NewSession(t.Context(), acp.NewSessionRequest{Cwd: w.folder})
	if err != nil {
		t.Fatal(err)
	}
	response, err := agent.Prompt(t.Context(), acp.PromptRequest{SessionID: state.SessionID, Prompt: []acp.ContentBlock{acp.Text(asking)}})
	if err != nil || response.StopReason != acp.StopEndTurn {
		t.Errorf("%+v %v", response, err)
	}
	if q := <-e.asked; q.Message != "Which color?" || q.Mode != acp.ElicitForm || q.RequestedSchema == nil {
		t.Errorf("%+v", q)
	}
	if text := w.logged(sdk.SessionId(state.SessionID)); !strings.Contains(text, "red") {
		t.Errorf("%q", text)
	}
	if err := agent.Conn().Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
