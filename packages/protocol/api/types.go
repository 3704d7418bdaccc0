package api

import "github.com/scorel/scorel/packages/protocol/ident"

// Project is a folder on the host that sessions run in.
type Project struct {
	ID   string `json:"id"`   // prj_ and 16 hex digits, made from the path
	Name string `json:"name"` // last element of the path
	Path string `json:"path"` // absolute, symbolic links resolved
	// Missing is true if the folder does not exist at the moment.
	Missing bool `json:"missing,omitempty"`
	// Trusted is true if the folder's own settings, skills and MCP servers are
	// enabled.
	Trusted bool `json:"trusted,omitempty"`
	// Unavailable is why the sessions of the project cannot be reached; absent if
	// they can.
	Unavailable string `json:"unavailable,omitempty"`
}

// Model is a model that the host can use.
type Model struct {
	Name          string `json:"name"`                    // its name on this host
	Provider      string `json:"provider"`                // its name on this host
	ID            string `json:"id"`                      // the provider's name for it
	ContextWindow int    `json:"contextWindow,omitempty"` // tokens
	// ThinkingLevels are the levels that set_model accepts, from least to most;
	// empty if the model has no such setting.
	ThinkingLevels []string `json:"thinkingLevels,omitempty"`
	// Thinking is the level that it is configured with; "" leaves it to the provider.
	Thinking string `json:"thinking,omitempty"`
	// Images is true if the model accepts images.
	Images bool `json:"images,omitempty"`
	// Demo is true for the built-in demo model, which is not an AI.
	Demo bool `json:"demo,omitempty"`
}

// HostInfo describes the host.
type HostInfo struct {
	DeviceID     ident.ID `json:"deviceId"`           // id of this host
	Label        string   `json:"label"`              // name of the machine
	Unnamed      bool     `json:"unnamed,omitempty"`  // true while nobody has chosen the label; absent otherwise
	Version      string   `json:"version"`            // of the program
	Home         string   `json:"home"`               // the user's home folder, where browsing starts
	Models       []Model  `json:"models"`             // the available models
	DefaultModel string   `json:"defaultModel"`       // name of the model of new sessions
	RelayURL     string   `json:"relayUrl,omitempty"` // absent without a relay
	// RelayState is "connected", "connecting" or "off".
	RelayState string  `json:"relayState"`
	Paths      []Path  `json:"paths,omitempty"`   // as in list_paths; absent on an older host
	Grants     []Grant `json:"grants"`            // grants of this connection
	MaxMode    Mode    `json:"maxMode,omitempty"` // the highest mode that this connection may set
	// Limits are those of this connection; absent without any.
	Limits *ClientLimits `json:"limits,omitempty"`
	// Sandbox is the sandbox for commands: "bubblewrap+landlock", "landlock" or
	// "none".
	Sandbox     string `json:"sandbox,omitempty"`
	SandboxNote string `json:"sandboxNote,omitempty"` // why the sandbox is not the strongest one
	// SandboxLimits is absent without a sandbox, when commands are not restricted.
	SandboxLimits *SandboxLimits `json:"sandboxLimits,omitempty"`
	// RunsAsRoot is true for a host with root privileges, which it should not have.
	RunsAsRoot bool `json:"runsAsRoot,omitempty"`
	// Outages are the session providers that are unavailable; the host keeps trying
	// to reach them.
	Outages []Outage `json:"outages,omitempty"`
	// MaxFile is the size of the largest file that a prompt can have, in bytes; 0 on a
	// host that takes only images.
	MaxFile int `json:"maxFile,omitempty"`
}

// Outage is a session provider that cannot be reached: requests for its sessions fail with
// "unavailable". The event projects_changed is sent when it begins or ends.
type Outage struct {
	Provider string `json:"provider"` // its name in config.toml
	Place    string `json:"place"`    // its database, such as "sessions on db.example:5432"
	Reason   string `json:"reason"`   // for people
	Since    int64  `json:"since"`    // Unix milliseconds
}

// SandboxLimits is what commands can actually reach, whatever config.toml asks for.
type SandboxLimits struct {
	// Network is "open", "closed", or "no_tcp" if only TCP can be blocked.
	Network  string   `json:"network"`
	Writable []string `json:"writable"`          // absolute folders besides the project that commands can write to
	Missing  []string `json:"missing,omitempty"` // folders that config.toml asks for and that do not exist
	// Exposed are scorel's own folders that commands can write to because they lie
	// inside a writable one.
	Exposed []string `json:"exposed,omitempty"`
}

// Client is an entry that is paired with the host.
type Client struct {
	ID ident.ID `json:"id"` // of the entry
	// Label is the client's own name when it was paired, or the one that rename_client set
	// since.
	Label    string  `json:"label"`
	Grants   []Grant `json:"grants"`   // what it may do
	PairedAt int64   `json:"pairedAt"` // Unix milliseconds
	Online   bool    `json:"online"`   // has an open channel
	ClientLimits
	// SessionID is the session of a guest link; absent for a client that was paired.
	SessionID string `json:"sessionId,omitempty"`
	// LastSeen is when it last had an open channel, in Unix milliseconds, cut to the minute.
	// While it is online this is at most an hour old; absent if it never connected.
	LastSeen int64 `json:"lastSeen,omitempty"`
}

// Token describes a token for programs on the host's own machine.
type Token struct {
	ID        string  `json:"id"`        // tok_ and the first 16 digits of the hash
	Label     string  `json:"label"`     // as it was given
	Grants    []Grant `json:"grants"`    // what it may do
	CreatedAt int64   `json:"createdAt"` // Unix milliseconds
	// ExpiresAt is when the token expires, in Unix milliseconds: from then on it is refused
	// and its connections end. Absent means never.
	ExpiresAt int64 `json:"expiresAt,omitempty"`
}

// DirEntry is one folder in a listing.
type DirEntry struct {
	Name   string `json:"name"`             // of the folder
	Path   string `json:"path"`             // absolute
	Hidden bool   `json:"hidden,omitempty"` // the name begins with a dot
	Git    bool   `json:"git,omitempty"`    // holds a .git
}
