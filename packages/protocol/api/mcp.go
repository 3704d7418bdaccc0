package api

// MCPServer is an MCP server that a project can use.
type MCPServer struct {
	Name      string `json:"name"`
	Source    string `json:"source"`    // "config.toml", "servers.json" or ".mcp.json"
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
	Hash string `json:"hash,omitempty"`
	// Version identifies the configuration; save_mcp_server and delete_mcp_server repeat
	// it. Absent for a server that these cannot change here.
	Version string `json:"version,omitempty"`
	// Disabled says that people disabled it by set_mcp_server_enabled.
	Disabled bool           `json:"disabled,omitempty"`
	State    MCPServerState `json:"state"`
	// Reason is why the server does not run, for people.
	Reason string   `json:"reason,omitempty"`
	Tools  []string `json:"tools"` // as the server names them, while it runs
	// SignIn is the sign-in of a server that is contacted; absent if it neither has nor needs
	// one.
	SignIn *MCPSignIn `json:"signIn,omitempty"`
}

// MCPSetting is an environment variable or header for a server.
type MCPSetting struct {
	Name string `json:"name"` // of a variable or a header
	// Value is "" if Secret is true: the name looks like that of a secret.
	Value string `json:"value"`
	// Secret says that the value is not shown: its name sounds like that of a secret, or the server
	// is not one of .mcp.json.
	Secret bool `json:"secret,omitempty"`
}

// MCPServerState is the state of a server.
type MCPServerState string

const (
	MCPDisabled     MCPServerState = "disabled"      // by config.toml, or see MCPServer.Disabled
	MCPUntrusted    MCPServerState = "untrusted"     // its folder is not trusted
	MCPNeedsConsent MCPServerState = "needs_consent" // this configuration has not been approved or denied
	MCPDenied       MCPServerState = "denied"
	MCPIdle         MCPServerState = "idle" // allowed, but not needed by a turn yet
	MCPStarting     MCPServerState = "starting"
	MCPReady        MCPServerState = "ready"
	MCPFailed       MCPServerState = "failed"        // it did not start or has exited; a later turn tries again
	MCPNeedsSignIn  MCPServerState = "needs_sign_in" // it refuses requests until a person signs in
)

type (
	// MCPDraft is the configuration of a server: Command with Args, Cwd and Env for one
	// that is started, or URL with Headers for one that is contacted.
	MCPDraft struct {
		Command string     `json:"command,omitempty" req:"max=4096"`
		Args    []string   `json:"args,omitempty" req:"max=64"`
		Cwd     string     `json:"cwd,omitempty" req:"max=4096"`
		Env     []MCPValue `json:"env,omitempty" req:"max=64"`
		URL     string     `json:"url,omitempty" req:"max=4096"`
		Headers []MCPValue `json:"headers,omitempty" req:"max=64"`
	}
	// MCPValue is a variable or header of a draft.
	MCPValue struct {
		Name  string `json:"name" req:"min=1,max=256"`        // of a variable or a header
		Value string `json:"value,omitempty" req:"max=16384"` // before variables are expanded
		Keep  bool   `json:"keep,omitempty"`                  // the value stays as it is, and "value" is ignored
	}
	// SaveMCPServerRequest adds a server, or changes one. Without a ProjectID it is one
	// for every project.
	SaveMCPServerRequest struct {
		ProjectID string   `json:"projectId,omitempty" req:"max=256"`
		Name      string   `json:"name" req:"min=1,max=64"`
		Version   string   `json:"version,omitempty" req:"max=256"` // "" means a new server
		Server    MCPDraft `json:"server"`
	}
	MCPServerResponse struct {
		Server MCPServer `json:"server"`
	}
	DeleteMCPServerRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
		Name      string `json:"name" req:"min=1,max=256"`
		Version   string `json:"version" req:"min=1,max=256"`
	}
	// SetMCPServerEnabledRequest disables or enables a server in a project or in every
	// project. The setting of a project comes first.
	SetMCPServerEnabledRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
		Name      string `json:"name" req:"min=1,max=256"`
		Enabled   bool   `json:"enabled"`
	}
	// TestMCPServerRequest starts or contacts a server once, beside a running one, and
	// stops it again.
	TestMCPServerRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
		Name      string `json:"name" req:"min=1,max=256"`
	}
	TestMCPServerResponse struct {
		Tools []MCPTool `json:"tools"` // by name
		// Problem is why it did not work, for people; absent if it did.
		Problem string `json:"problem,omitempty"`
	}
	// MCPTool is a tool as its server describes it.
	MCPTool struct {
		Name        string `json:"name"`                  // as the server names it
		Description string `json:"description,omitempty"` // its beginning, at most 300 characters
	}
)

// MCPSignInState is the state of the sign-in of a server.
type MCPSignInState string

const (
	MCPSignedOut  MCPSignInState = "needed"      // the server refuses requests without one
	MCPSignedIn   MCPSignInState = "signed_in"   // its tokens are sent to the server
	MCPMoreScopes MCPSignInState = "more_scopes" // the server refused a call for which it has too few scopes
)

// MCPSignIn is the sign-in (OAuth) of a server.
type MCPSignIn struct {
	State  MCPSignInState `json:"state"`
	Issuer string         `json:"issuer,omitempty"` // address of the authorization server
	Since  int64          `json:"since,omitempty"`  // Unix milliseconds
	Scopes []string       `json:"scopes,omitempty"` // that were granted
	Wanted []string       `json:"wanted,omitempty"` // that the server asked for
}

type (
	// SignInMCPServerRequest begins a sign-in. It needs what allowing a server needs, because
	// the server can then act for the person.
	SignInMCPServerRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
		Name      string `json:"name" req:"min=1,max=256"`
	}
	// SignInMCPServerResponse is what a person needs to sign in, until ExpiresAt and once.
	SignInMCPServerResponse struct {
		SignInID string `json:"signInId"`
		// URL is the page of the authorization server to open, of https or on this machine.
		URL    string   `json:"url"`
		Issuer string   `json:"issuer"` // address of the authorization server
		Scopes []string `json:"scopes"` // that are requested
		// Redirect is where the authorization server sends the browser. It works on the
		// host's machine; a person elsewhere copies the whole address from the browser for
		// finish_mcp_sign_in.
		Redirect  string `json:"redirect"`
		ExpiresAt int64  `json:"expiresAt"` // Unix milliseconds
	}
	// FinishMCPSignInRequest hands over the address to which the browser was sent.
	FinishMCPSignInRequest struct {
		SignInID string `json:"signInId" req:"min=1,max=256"`
		Address  string `json:"address" req:"min=1,max=32768"`
	}
	// AwaitMCPSignInRequest waits for the end of a sign-in, for at most 25 seconds.
	AwaitMCPSignInRequest struct {
		SignInID string `json:"signInId" req:"min=1,max=256"`
	}
	AwaitMCPSignInResponse struct {
		Ended bool `json:"ended"`
		// Problem is why the sign-in failed, for people; absent if it succeeded or waits.
		Problem string `json:"problem,omitempty"`
	}
	// SignOutMCPServerRequest deletes the tokens of a server, and revokes them if its
	// authorization server supports that.
	SignOutMCPServerRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
		Name      string `json:"name" req:"min=1,max=256"`
	}
)

type (
	// ListMCPOffersRequest asks what the MCP servers of a project offer besides tools. The
	// permitted servers are started as for a turn.
	ListMCPOffersRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
	}
	ListMCPOffersResponse struct {
		Resources []MCPResource `json:"resources"` // by server and name
		Prompts   []MCPPrompt   `json:"prompts"`   // by server and name
	}
	// MCPResource is a resource of a server. A prompt with the word @Server:URI attaches it.
	MCPResource struct {
		Server      string `json:"server"` // name of the server
		URI         string `json:"uri"`    // its address at the server
		Name        string `json:"name"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
		MimeType    string `json:"mimeType,omitempty"`
		Size        int64  `json:"size,omitempty"` // bytes
	}
	// MCPPrompt is a prompt of a server. A prompt that begins with /Command calls it, with
	// arguments in order or as NAME=VALUE.
	MCPPrompt struct {
		Server      string        `json:"server"`  // name of the server
		Command     string        `json:"command"` // the word that calls it, without the slash
		Name        string        `json:"name"`    // its name at the server
		Title       string        `json:"title,omitempty"`
		Description string        `json:"description,omitempty"`
		Arguments   []MCPArgument `json:"arguments,omitempty"` // in their order
	}
	// MCPArgument is an argument of a prompt of a server.
	MCPArgument struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Required    bool   `json:"required,omitempty"`
	}
)
