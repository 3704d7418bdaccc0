package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Agent is what a client asks of an agent. Its methods mean the same in every version, and its
// types are those of version 1, which other versions are translated to.
type Agent interface {
	// Info is how the agent answered initialize.
	Info() InitializeResponse
	Authenticate(ctx context.Context, methodID string) error
	NewSession(ctx context.Context, r NewSessionRequest) (SessionState, error)
	// LoadSession needs LoadSession of the capabilities. Its updates arrive before it returns.
	LoadSession(ctx context.Context, r LoadSessionRequest) (SessionState, error)
	// ResumeSession needs Resume of the capabilities.
	ResumeSession(ctx context.Context, r LoadSessionRequest) (SessionState, error)
	// ListSessions needs List of the capabilities.
	ListSessions(ctx context.Context, r ListSessionsRequest) (ListSessionsResponse, error)
	// CloseSession and DeleteSession need Close and Delete of the capabilities.
	CloseSession(ctx context.Context, sessionID string) error
	DeleteSession(ctx context.Context, sessionID string) error
	// Prompt returns when the turn has ended and all its updates have arrived. An ended ctx
	// makes it return at once and does not end the turn.
	Prompt(ctx context.Context, r PromptRequest) (PromptResponse, error)
	// Cancel asks to end the running turn.
	Cancel(ctx context.Context, sessionID string) error
	SetMode(ctx context.Context, sessionID, modeID string) error
	// SetModel chooses one of the Models of a session.
	SetModel(ctx context.Context, sessionID, modelID string) error
	// SetOption changes an option and returns all of them.
	SetOption(ctx context.Context, r SetConfigOptionRequest) ([]ConfigOption, error)
	// Conn is the connection, for extensions.
	Conn() *Conn
}

// Client is what an agent may send to a client. Its methods are called in the order of arrival
// by one goroutine, and must not wait for the agent: they answer requests with Reply or Go.
type Client interface {
	Update(sessionID string, update Update)
	Permission(r *Request, p PermissionRequest)
	Elicit(r *Request, e Elicitation)
	ElicitationCompleted(elicitationID string)
}

// Connect starts a connection to an agent, which it sends initialize. The connection ends if
// that fails. r.ProtocolVersion is the newest version to offer; 0 is Version1.
func Connect(ctx context.Context, in io.Reader, out io.WriteCloser, client Client, options Options, r InitializeRequest) (Agent, error) {
	if r.ProtocolVersion == 0 {
		r.ProtocolVersion = Version1
	}
	if r.ProtocolVersion != Version1 {
		return nil, fmt.Errorf("acp: version %d of the protocol is not implemented", r.ProtocolVersion)
	}
	conn := New(in, out, clientHandler{client}, options)
	a := &agentV1{conn: conn}
	if err := conn.Call(ctx, MethodInitialize, r, &a.info); err != nil {
		_ = conn.Close()
		return nil, err
	}
	if a.info.ProtocolVersion != Version1 {
		_ = conn.Close()
		return nil, fmt.Errorf("acp: the agent speaks version %d of the protocol, not %d: update it, or this program", a.info.ProtocolVersion, Version1)
	}
	return a, nil
}

// clientHandler decodes what an agent of version 1 sends.
type clientHandler struct{ Client }

// Request implements Handler.
func (h clientHandler) Request(r *Request) {
	switch r.Method {
	case MethodRequestPermission:
		serve(r, h.Permission)
	case MethodCreateElicitation:
		serve(r, h.Elicit)
	default:
		r.NotFound()
	}
}

func serve[P any](r *Request, handle func(*Request, P)) {
	var params P
	if err := r.Decode(&params); err != nil {
		r.Reply(nil, err)
		return
	}
	handle(r, params)
}

// Notify implements Handler. An update that is no object with a kind reaches the client as one
// of no kind, so that it is seen.
func (h clientHandler) Notify(method string, params json.RawMessage) {
	switch method {
	case MethodUpdate:
		var n SessionNotification
		if err := exactjson.Unmarshal(params, &n); err != nil {
			n.Update = Update{Raw: params, Err: err}
		}
		h.Update(n.SessionID, n.Update)
	case MethodCompleteElicitation:
		var n ElicitationCompleted
		if exactjson.Unmarshal(params, &n) == nil {
			h.ElicitationCompleted(n.ElicitationID)
		}
	}
}

// agentV1 implements Agent.
type agentV1 struct {
	conn *Conn
	info InitializeResponse
}

var _ Agent = (*agentV1)(nil)

func (a *agentV1) Info() InitializeResponse { return a.info }
func (a *agentV1) Conn() *Conn              { return a.conn }

func (a *agentV1) Authenticate(ctx context.Context, methodID string) error {
	return a.conn.Call(ctx, MethodAuthenticate, AuthenticateRequest{MethodID: methodID}, nil)
}

func (a *agentV1) NewSession(ctx context.Context, r NewSessionRequest) (SessionState, error) {
	if r.MCPServers == nil {
		r.MCPServers = []MCPServer{}
	}
	state, err := call[SessionState](ctx, a.conn, MethodNewSession, r)
	if err == nil && state.SessionID == "" {
		err = errors.New("acp: the agent began a session without an id")
	}
	return state, err
}

func (a *agentV1) LoadSession(ctx context.Context, r LoadSessionRequest) (SessionState, error) {
	return a.again(ctx, MethodLoadSession, r)
}

func (a *agentV1) ResumeSession(ctx context.Context, r LoadSessionRequest) (SessionState, error) {
	return a.again(ctx, MethodResumeSession, r)
}

func (a *agentV1) again(ctx context.Context, method string, r LoadSessionRequest) (SessionState, error) {
	if r.MCPServers == nil {
		r.MCPServers = []MCPServer{}
	}
	state, err := call[SessionState](ctx, a.conn, method, r)
	state.SessionID = r.SessionID
	return state, err
}

func (a *agentV1) ListSessions(ctx context.Context, r ListSessionsRequest) (ListSessionsResponse, error) {
	return call[ListSessionsResponse](ctx, a.conn, MethodListSessions, r)
}

func (a *agentV1) CloseSession(ctx context.Context, sessionID string) error {
	return a.conn.Call(ctx, MethodCloseSession, SessionRequest{SessionID: sessionID}, nil)
}

func (a *agentV1) DeleteSession(ctx context.Context, sessionID string) error {
	return a.conn.Call(ctx, MethodDeleteSession, SessionRequest{SessionID: sessionID}, nil)
}

func (a *agentV1) Prompt(ctx context.Context, r PromptRequest) (PromptResponse, error) {
	return call[PromptResponse](ctx, a.conn, MethodPrompt, r)
}

func (a *agentV1) Cancel(ctx context.Context, sessionID string) error {
	return a.conn.Notify(ctx, MethodCancel, SessionRequest{SessionID: sessionID})
}

func (a *agentV1) SetMode(ctx context.Context, sessionID, modeID string) error {
	return a.conn.Call(ctx, MethodSetMode, SetModeRequest{SessionID: sessionID, ModeID: modeID}, nil)
}

func (a *agentV1) SetModel(ctx context.Context, sessionID, modelID string) error {
	return a.conn.Call(ctx, MethodSetModel, SetModelRequest{SessionID: sessionID, ModelID: modelID}, nil)
}

func (a *agentV1) SetOption(ctx context.Context, r SetConfigOptionRequest) ([]ConfigOption, error) {
	response, err := call[SetConfigOptionResponse](ctx, a.conn, MethodSetConfigOption, r)
	return response.ConfigOptions, err
}

func call[R any](ctx context.Context, conn *Conn, method string, params any) (result R, err error) {
	err = conn.Call(ctx, method, params, &result)
	return result, err
}
