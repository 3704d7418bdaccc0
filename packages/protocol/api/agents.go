package api

// AgentScope is the origin of an agent definition.
type AgentScope string

const (
	AgentProject AgentScope = "project" // a file of the project; used only when the folder is trusted
	AgentUser    AgentScope = "user"    // a file of the user, for all projects
	AgentBuiltin AgentScope = "builtin" // a file of the same name replaces it
)

// AgentDraft is the content of an agent definition.
type AgentDraft struct {
	Description string `json:"description"`     // one line, shown to the model
	Model       string `json:"model,omitempty"` // its name, as list_models returns it; "" means the model of the parent session
	// Tools lists the tools that the agent may use. Absent means all; an empty list
	// means none.
	Tools           []string `json:"tools,omitzero"`
	DisallowedTools []string `json:"disallowedTools,omitempty"` // the tools that it may not use
	// Subagents lists the agents to which a session running as this agent may
	// delegate. Absent means all; an empty list means none.
	Subagents     []string `json:"subagents,omitzero"`
	MaxConcurrent int      `json:"maxConcurrent,omitempty"` // subagents running at once for one session; 0 means the host's limit
	MaxTurns      int      `json:"maxTurns,omitempty"`      // model calls per task; 0 means 10
	Enabled       bool     `json:"enabled"`                 // it may be used
	Prompt        string   `json:"prompt"`                  // Markdown: the instructions for the agent
}

// AgentInfo is an agent definition with its current state.
type AgentInfo struct {
	Name  string     `json:"name"`           // a-z, 0-9 and hyphens
	Scope AgentScope `json:"scope"`          // "project", "user" or "builtin"
	Path  string     `json:"path,omitempty"` // path of its file; absent for a built-in agent
	// Version identifies the current content of the file; a change must repeat it.
	// Absent for a built-in agent.
	Version string `json:"version,omitempty"`
	AgentDraft
	Offered bool `json:"offered"` // sessions may delegate to it: it is enabled, and config.toml allows it
}

type (
	// ListAgentsRequest requests the agents of a project; "" means those of every
	// project.
	ListAgentsRequest struct {
		ProjectID string `json:"projectId,omitempty"`
	}
	ListAgentsResponse struct {
		Agents []AgentInfo `json:"agents"`          // by name
		Notes  []string    `json:"notes,omitempty"` // omitted or unusual definitions, for people
	}
	// PreviewAgentRequest requests the system prompt and tools of an agent in a
	// project.
	PreviewAgentRequest struct {
		ProjectID string `json:"projectId,omitempty"` // "" means the user's home folder
		Name      string `json:"name"`
		Session   bool   `json:"session,omitempty"` // preview it as a session's agent rather than as a subagent
	}
	PreviewAgentResponse struct {
		Prompt   string   `json:"prompt"` // the system prompt
		Tools    []string `json:"tools"`  // excluding tools of MCP servers
		Model    string   `json:"model"`  // its name
		MaxTurns int      `json:"maxTurns"`
	}
	// SaveAgentRequest writes the file of an agent. Unknown fields and comments in
	// the file are preserved.
	SaveAgentRequest struct {
		ProjectID string     `json:"projectId,omitempty"` // for the scope "project"
		Scope     AgentScope `json:"scope"`               // "project" or "user"
		Name      string     `json:"name"`
		Version   string     `json:"version,omitempty"` // version of the file that was read; "" creates a new file
		Agent     AgentDraft `json:"agent"`
	}
	SaveAgentResponse struct {
		Agent AgentInfo `json:"agent"`
	}
	// DeleteAgentRequest deletes the file of an agent.
	DeleteAgentRequest struct {
		ProjectID string     `json:"projectId,omitempty"`
		Scope     AgentScope `json:"scope"`
		Name      string     `json:"name"`
		Version   string     `json:"version"` // version of the file that was read
	}
)
