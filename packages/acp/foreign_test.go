package acp

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// sdkAgent is an agent of another implementation.
type sdkAgent struct {
	sdk.Agent // the rest is not called
	conn      *sdk.AgentSideConnection
	cancelled chan struct{}
}

func (a *sdkAgent) Initialize(_ context.Context, r sdk.InitializeRequest) (sdk.InitializeResponse, error) {
	return sdk.InitializeResponse{ProtocolVersion: r.ProtocolVersion, AgentCapabilities: sdk.AgentCapabilities{LoadSession: true}}, nil
}

func (a *sdkAgent) NewSession(context.Context, sdk.NewSessionRequest) (sdk.NewSessionResponse, error) {
	return sdk.NewSessionResponse{SessionId: "s1"}, nil
}

func (a *sdkAgent) Cancel(context.Context, sdk.CancelNotification) error {
	close(a.cancelled)
	return nil
}

func (a *sdkAgent) Prompt(ctx context.Context, r sdk.PromptRequest) (sdk.PromptResponse, error) {
	text := r.Prompt[0].Text.Text
	if text == "wait" {
		<-a.cancelled
		return sdk.PromptResponse{StopReason: sdk.StopReasonCancelled}, nil
	}
	for _, update := range []sdk.SessionUpdate{
		sdk.UpdateAgentMessageText(text),
		sdk.StartToolCall("c1", "Write", sdk.WithStartKind(sdk.ToolKindEdit)),
	} {
		if err := a.conn.SessionUpdate(ctx, sdk.SessionNotification{SessionId: r.SessionId, Update: update}); err != nil {
			return sdk.PromptResponse{}, err
		}
	}
	answer, err := a.conn.RequestPermission(ctx, sdk.RequestPermissionRequest{
		SessionId: r.SessionId, ToolCall: sdk.ToolCallUpdate{ToolCallId: "c1"},
		Options: []sdk.PermissionOption{{OptionId: "yes", Name: "Yes", Kind: sdk.PermissionOptionKindAllowOnce}},
	})
	if err != nil {
		return sdk.PromptResponse{}, err
	}
	err = a.conn.SessionUpdate(ctx, sdk.SessionNotification{
		SessionId: r.SessionId, Update: sdk.UpdateAgentMessageText(string(answer.Outcome.Selected.OptionId)),
	})
	return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, err
}

// recorder is a Client that keeps what it gets and selects the first option.
type recorder struct {
	mu      sync.Mutex
	updates []Update
}

func (c *recorder) Update(_ string, u Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, u)
}

func (c *recorder) Permission(r *Request, p PermissionRequest) {
	r.Go(func(context.Context) (any, error) { return Selected(p.Options[0].ID), nil })
}

func (c *recorder) Elicit(r *Request, _ Elicitation) { r.NotFound() }
func (c *recorder) ElicitationCompleted(string)      {}

// pipes returns two directions; closing a side ends it for the other.
func pipes(t *testing.T) (clientIn io.Reader, clientOut io.WriteCloser, agentIn io.Reader, agentOut io.WriteCloser) {
	clientIn, agentOut = io.Pipe()
	agentIn, clientOut = io.Pipe()
	t.Cleanup(func() { _ = agentOut.Close() })
	return clientIn, clientOut, agentIn, agentOut
}

// TestForeignAgent runs a turn of an agent of another implementation.
func TestForeignAgent(t *testing.T) {
	clientIn, clientOut, agentIn, agentOut := pipes(t)
	foreign := &sdkAgent{cancelled: make(chan struct{})}
	foreign.conn = sdk.NewAgentSideConnection(foreign, agentOut, agentIn)
	client := &recorder{}
	agent, err := Connect(t.Context(), clientIn, clientOut, client, Options{}, InitializeRequest{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = agent.Conn().Close() }()
	if !agent.Info().AgentCapabilities.LoadSession {
		t.Errorf("%+v", agent.Info())
	}
	state, err := agent.NewSession(t.Context(), NewSessionRequest{Cwd: "/tmp"})
	if err != nil || state.SessionID != "s1" {
		t.Fatalf("%+v %v", state, err)
	}
	response, err := agent.Prompt(t.Context(), PromptRequest{SessionID: "s1", Prompt: []ContentBlock{Text("hello")}})
	if err != nil || response.StopReason != StopEndTurn {
		t.Fatalf("%+v %v", response, err)
	}
	client.mu.Lock()
	if u := client.updates; len(u) != 3 || u[0].Content.Text != "hello" || u[1].Tool.Kind != ToolEdit || u[2].Content.Text != "yes" {
		t.Errorf("%+v", u)
	}
	client.mu.Unlock()
	ended := make(chan PromptResponse, 1)
	go func() {
		response, _ := agent.Prompt(context.WithoutCancel(t.Context()), PromptRequest{SessionID: "s1", Prompt: []ContentBlock{Text("wait")}})
		ended <- response
	}()
	if err := agent.Cancel(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	if response := <-ended; response.StopReason != StopCancelled {
		t.Errorf("%+v", response)
	}
}

// sdkClient is a client of another implementation.
type sdkClient struct {
	sdk.Client
	updates chan sdk.SessionUpdate
}

func (c *sdkClient) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	c.updates <- n.Update
	return nil
}

func (c *sdkClient) RequestPermission(_ context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(r.Options[0].OptionId)}, nil
}

// TestForeignClient serves a client of another implementation.
func TestForeignClient(t *testing.T) {
	clientIn, clientOut, agentIn, agentOut := pipes(t)
	var server *Conn
	ready := make(chan struct{})
	server = New(agentIn, agentOut, handlerFuncs{request: func(r *Request) {
		<-ready
		switch r.Method {
		case MethodInitialize:
			r.Reply(InitializeResponse{ProtocolVersion: Version1}, nil)
		case MethodNewSession:
			r.Reply(SessionState{SessionID: "ours"}, nil)
		case MethodPrompt:
			r.Go(func(ctx context.Context) (any, error) { return serveTurn(ctx, server, r) })
		default:
			r.NotFound()
		}
	}}, Options{})
	close(ready)
	defer func() { _ = server.Close() }()
	foreign := &sdkClient{updates: make(chan sdk.SessionUpdate, 10)}
	conn := sdk.NewClientSideConnection(foreign, clientOut, clientIn)
	if _, err := conn.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: 1}); err != nil {
		t.Fatal(err)
	}
	session, err := conn.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: "/tmp", McpServers: []sdk.McpServer{}})
	if err != nil || session.SessionId != "ours" {
		t.Fatalf("%+v %v", session, err)
	}
	response, err := conn.Prompt(t.Context(), sdk.PromptRequest{SessionId: "ours", Prompt: []sdk.ContentBlock{sdk.TextBlock("hi")}})
	if err != nil || response.StopReason != sdk.StopReasonEndTurn {
		t.Fatalf("%+v %v", response, err)
	}
	if u := <-foreign.updates; u.ToolCall == nil || u.ToolCall.Title != "Run <x>" {
		t.Errorf("%+v", u)
	}
	if u := <-foreign.updates; u.AgentMessageChunk == nil || u.AgentMessageChunk.Content.Text.Text != "hi once" {
		t.Errorf("%+v", u)
	}
}

func serveTurn(ctx context.Context, server *Conn, r *Request) (any, error) {
	var prompt PromptRequest
	if err := r.Decode(&prompt); err != nil {
		return nil, err
	}
	tool := ToolCall{ID: "c1", Title: "Run <x>", Kind: ToolExecute, Status: ToolPending, RawInput: json.RawMessage(`{"a":"\u2028"}`)}
	if err := server.Notify(ctx, MethodUpdate, SessionNotification{SessionID: prompt.SessionID, Update: Update{Kind: UpdateToolCall, Tool: &tool}}); err != nil {
		return nil, err
	}
	answer, err := call[PermissionResponse](ctx, server, MethodRequestPermission, PermissionRequest{
		SessionID: prompt.SessionID, ToolCall: tool, Options: []PermissionOption{{ID: "once", Name: "Once", Kind: AllowOnce}},
	})
	if err != nil {
		return nil, err
	}
	text := Text(prompt.Prompt[0].Text + " " + answer.Outcome.OptionID)
	err = server.Notify(ctx, MethodUpdate, SessionNotification{SessionID: prompt.SessionID, Update: Update{Kind: UpdateAgentChunk, Content: &text}})
	return PromptResponse{StopReason: StopEndTurn}, err
}
