package acp

import "encoding/json"

// InitializeRequest is the first request of a connection.
type InitializeRequest struct {
	ProtocolVersion    int                `json:"protocolVersion"`
	ClientCapabilities ClientCapabilities `json:"clientCapabilities"`
	ClientInfo         *Implementation    `json:"clientInfo,omitempty"`
	Meta               Meta               `json:"_meta,omitempty"`
}

// Empty is the value of a capability that is there, and the result of requests without one.
type Empty struct {
	Meta Meta `json:"_meta,omitempty"`
}

// ClientCapabilities is what a client offers.
type ClientCapabilities struct {
	FS          FileSystem         `json:"fs"`
	Terminal    bool               `json:"terminal,omitempty"`
	Session     *ClientSession     `json:"session,omitempty"`
	Auth        *ClientAuth        `json:"auth,omitempty"`
	Elicitation *ClientElicitation `json:"elicitation,omitempty"`
	Meta        Meta               `json:"_meta,omitempty"`
}

// FileSystem tells which requests about files a client answers.
type FileSystem struct {
	ReadTextFile  bool `json:"readTextFile,omitempty"`
	WriteTextFile bool `json:"writeTextFile,omitempty"`
	Meta          Meta `json:"_meta,omitempty"`
}

// ClientSession tells which updates a client understands.
type ClientSession struct {
	Compaction    *Empty               `json:"compaction,omitempty"`
	Notices       *Empty               `json:"notices,omitempty"`
	ConfigOptions *ConfigOptionSupport `json:"configOptions,omitempty"`
	Meta          Meta                 `json:"_meta,omitempty"`
}

// ConfigOptionSupport tells which types of options a client understands besides selections.
type ConfigOptionSupport struct {
	Boolean *Empty `json:"boolean,omitempty"`
	Meta    Meta   `json:"_meta,omitempty"`
}

// ClientAuth tells how a client can log in.
type ClientAuth struct {
	Terminal bool `json:"terminal,omitempty"`
	Meta     Meta `json:"_meta,omitempty"`
}

// ClientElicitation tells which questions a client can ask.
type ClientElicitation struct {
	Form *Empty `json:"form,omitempty"`
	URL  *Empty `json:"url,omitempty"`
	Meta Meta   `json:"_meta,omitempty"`
}

// Implementation names a program.
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
	Meta    Meta   `json:"_meta,omitempty"`
}

// InitializeResponse is what an agent offers.
type InitializeResponse struct {
	ProtocolVersion   int               `json:"protocolVersion"`
	AgentCapabilities AgentCapabilities `json:"agentCapabilities"`
	AgentInfo         *Implementation   `json:"agentInfo,omitempty"`
	AuthMethods       []AuthMethod      `json:"authMethods,omitzero"`
	Meta              Meta              `json:"_meta,omitempty"`
}

// AgentCapabilities is what an agent offers.
type AgentCapabilities struct {
	LoadSession         bool                `json:"loadSession,omitempty"`
	PromptCapabilities  PromptCapabilities  `json:"promptCapabilities"`
	MCPCapabilities     MCPCapabilities     `json:"mcpCapabilities"`
	SessionCapabilities SessionCapabilities `json:"sessionCapabilities"`
	Auth                AgentAuth           `json:"auth"`
	Meta                Meta                `json:"_meta,omitempty"`
}

// PromptCapabilities tells which blocks a prompt may have besides text and resource links.
type PromptCapabilities struct {
	Image           bool `json:"image,omitempty"`
	Audio           bool `json:"audio,omitempty"`
	EmbeddedContext bool `json:"embeddedContext,omitempty"`
	Meta            Meta `json:"_meta,omitempty"`
}

// MCPCapabilities tells which MCP servers an agent connects to besides programs.
type MCPCapabilities struct {
	HTTP bool `json:"http,omitempty"`
	SSE  bool `json:"sse,omitempty"`
	Meta Meta `json:"_meta,omitempty"`
}

// SessionCapabilities tells which requests about sessions an agent answers.
type SessionCapabilities struct {
	List                  *Empty `json:"list,omitempty"`
	Delete                *Empty `json:"delete,omitempty"`
	Resume                *Empty `json:"resume,omitempty"`
	Close                 *Empty `json:"close,omitempty"`
	AdditionalDirectories *Empty `json:"additionalDirectories,omitempty"`
	Meta                  Meta   `json:"_meta,omitempty"`
}

// AgentAuth tells what an agent can do about logins.
type AgentAuth struct {
	Logout *Empty `json:"logout,omitempty"`
	Meta   Meta   `json:"_meta,omitempty"`
}

// AuthTerminal is the type of a login that runs the agent in a terminal.
const AuthTerminal = "terminal"

// AuthMethod is one way to log in. One of type AuthTerminal is never sent in authenticate: the
// client runs the agent's program with Args and Env in a terminal, and connects again.
type AuthMethod struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Type        string            `json:"type,omitempty"`
	Args        []string          `json:"args,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	Meta        Meta              `json:"_meta,omitempty"`

	// Raw is what the method was decoded from, which it is encoded as.
	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *AuthMethod) UnmarshalJSON(data []byte) error {
	type plain AuthMethod
	return keep(data, (*plain)(m), &m.Raw)
}

// MarshalJSON implements json.Marshaler.
func (m AuthMethod) MarshalJSON() ([]byte, error) {
	type plain AuthMethod
	if m.Raw != nil {
		return m.Raw, nil
	}
	return raw(plain(m))
}

// AuthenticateRequest logs in.
type AuthenticateRequest struct {
	MethodID string `json:"methodId"`
	Meta     Meta   `json:"_meta,omitempty"`
}

// MCPServer is a server of tools that the agent is to connect to. One without a Type is a
// program.
type MCPServer struct {
	Type    string    `json:"type,omitempty"` // "http", "sse" or ""
	Name    string    `json:"name"`
	Command string    `json:"command,omitempty"`
	Args    []string  `json:"args,omitzero"`
	Env     []NameVal `json:"env,omitzero"`
	URL     string    `json:"url,omitempty"`
	Headers []NameVal `json:"headers,omitzero"`
	Meta    Meta      `json:"_meta,omitempty"`
}

// NameVal is a variable of an environment, or a header.
type NameVal struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Meta  Meta   `json:"_meta,omitempty"`
}

// NewSessionRequest begins a session. Paths are absolute. MCPServers must not be nil.
type NewSessionRequest struct {
	Cwd                   string      `json:"cwd"`
	MCPServers            []MCPServer `json:"mcpServers"`
	AdditionalDirectories []string    `json:"additionalDirectories,omitempty"`
	Meta                  Meta        `json:"_meta,omitempty"`
}

// LoadSessionRequest loads or resumes a session. A load sends everything that has happened as
// updates before its response.
type LoadSessionRequest struct {
	SessionID             string      `json:"sessionId"`
	Cwd                   string      `json:"cwd"`
	MCPServers            []MCPServer `json:"mcpServers"`
	AdditionalDirectories []string    `json:"additionalDirectories,omitempty"`
	Meta                  Meta        `json:"_meta,omitempty"`
}

// SessionState is a session as it begins; a load or resume leaves SessionID empty.
type SessionState struct {
	SessionID     string         `json:"sessionId,omitempty"`
	Modes         *ModeState     `json:"modes,omitempty"`
	Models        *ModelState    `json:"models,omitempty"` // not stable: of agents without an option for it
	ConfigOptions []ConfigOption `json:"configOptions,omitzero"`
	Meta          Meta           `json:"_meta,omitempty"`
}

// ModeState is the modes of a session. Where there are ConfigOptions, those count instead.
type ModeState struct {
	CurrentModeID  string `json:"currentModeId"`
	AvailableModes []Mode `json:"availableModes"`
	Meta           Meta   `json:"_meta,omitempty"`
}

// Mode is one way in which an agent works.
type Mode struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"_meta,omitempty"`
}

// ModelState is the models of a session. Where there are ConfigOptions, those count instead.
type ModelState struct {
	CurrentModelID  string  `json:"currentModelId"`
	AvailableModels []Model `json:"availableModels"`
	Meta            Meta    `json:"_meta,omitempty"`
}

// Model is one model of an agent.
type Model struct {
	ID          string `json:"modelId"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"_meta,omitempty"`
}

// SetModelRequest chooses the model of a session.
type SetModelRequest struct {
	SessionID string `json:"sessionId"`
	ModelID   string `json:"modelId"`
	Meta      Meta   `json:"_meta,omitempty"`
}

// ListSessionsRequest asks for a page of sessions.
type ListSessionsRequest struct {
	Cwd    string `json:"cwd,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Meta   Meta   `json:"_meta,omitempty"`
}

// ListSessionsResponse is a page of sessions.
type ListSessionsResponse struct {
	Sessions   []SessionInfo `json:"sessions"`
	NextCursor string        `json:"nextCursor,omitempty"`
	Meta       Meta          `json:"_meta,omitempty"`
}

// SessionInfo is a session in a list.
type SessionInfo struct {
	SessionID             string   `json:"sessionId"`
	Cwd                   string   `json:"cwd"`
	AdditionalDirectories []string `json:"additionalDirectories,omitempty"`
	Title                 string   `json:"title,omitempty"`
	UpdatedAt             string   `json:"updatedAt,omitempty"` // ISO 8601
	Meta                  Meta     `json:"_meta,omitempty"`
}

// SessionRequest names a session to close, delete or cancel.
type SessionRequest struct {
	SessionID string `json:"sessionId"`
	Meta      Meta   `json:"_meta,omitempty"`
}

// SetModeRequest changes the mode of a session.
type SetModeRequest struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
	Meta      Meta   `json:"_meta,omitempty"`
}

// PromptRequest begins a turn.
type PromptRequest struct {
	SessionID string         `json:"sessionId"`
	Prompt    []ContentBlock `json:"prompt"`
	Meta      Meta           `json:"_meta,omitempty"`
}

// The reasons why a turn ends.
const (
	StopEndTurn         = "end_turn"
	StopMaxTokens       = "max_tokens"
	StopMaxTurnRequests = "max_turn_requests"
	StopRefusal         = "refusal"
	StopCancelled       = "cancelled"
)

// PromptResponse is how a turn ended.
type PromptResponse struct {
	StopReason string `json:"stopReason"`
	Meta       Meta   `json:"_meta,omitempty"`
}
