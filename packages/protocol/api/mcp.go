package api

// MCPServer is an MCP server that a project can use.
type MCPServer struct {
	Name      string `json:"name"`
	Source    string `json:"source"`    // "config.toml" or ".mcp.json"
	Transport string `json:"transport"` // "stdio" or "http"
	// Shown is the command or URL in one line, as people are shown it for consent.
	Shown string `json:"shown"`
	// The parts of Shown: Command, Args, Cwd and Env for a server that is started,
	// URL and Headers for one that is contacted.
	Command string       `json:"command,omitempty"`
	Args    []string     `json:"args,omitempty"`
	Cwd     string       `json:"cwd,omitempty"` // "" means the project's folder
	Env     []MCPSetting `json:"env,omitempty"`
	URL     string       `json:"url,omitempty"`
	Headers []MCPSetting `json:"headers,omitempty"`
	// Sandbox is the sandbox of a server that is started, as in HostInfo.Sandbox.
	Sandbox string `json:"sandbox,omitempty"`
	// Hash identifies the configuration that needs consent; "" if none is needed.
	Hash  string         `json:"hash,omitempty"`
	State MCPServerState `json:"state"`
	// Reason is why the server does not run, for people.
	Reason string   `json:"reason,omitempty"`
	Tools  []string `json:"tools"` // as the server names them, while it runs
}

// MCPSetting is an environment variable or header for a server.
type MCPSetting struct {
	Name string `json:"name"`
	// Value is "" if Secret is true: the name looks like that of a secret.
	Value  string `json:"value"`
	Secret bool   `json:"secret,omitempty"`
}

// MCPServerState is the state of a server.
type MCPServerState string

const (
	MCPDisabled     MCPServerState = "disabled"      // config.toml says so
	MCPUntrusted    MCPServerState = "untrusted"     // its folder is not trusted
	MCPNeedsConsent MCPServerState = "needs_consent" // this configuration has not been approved or denied
	MCPDenied       MCPServerState = "denied"
	MCPIdle         MCPServerState = "idle" // allowed, but not needed by a turn yet
	MCPStarting     MCPServerState = "starting"
	MCPReady        MCPServerState = "ready"
	MCPFailed       MCPServerState = "failed" // it did not start or has exited; a later turn tries again
)
