package api

// ExtensionState is whether an extension is used.
type ExtensionState string

const (
	ExtensionEnabled      ExtensionState = "enabled"
	ExtensionDisabled     ExtensionState = "disabled"
	ExtensionUntrusted    ExtensionState = "untrusted"     // its project is not trusted
	ExtensionNeedsConsent ExtensionState = "needs_consent" // not allowed or denied as it is now
	ExtensionDenied       ExtensionState = "denied"
	ExtensionChanged      ExtensionState = "changed" // the version that was allowed is still used
	ExtensionFailed       ExtensionState = "failed"  // it cannot be used
)

// Sources of extensions.
const (
	ExtensionFolder  = "folder"  // added from a folder of the machine
	ExtensionGit     = "git"     // added from a git repository
	ExtensionProject = "project" // in .scorel/extensions of a project
)

type (
	// Extension is a folder that bundles skills, commands, agents, hooks and MCP servers.
	Extension struct {
		Name        string `json:"name"`
		Version     string `json:"version,omitempty"`
		Description string `json:"description,omitempty"`
		Source      string `json:"source"` // "folder", "git" or "project"
		// Location is the folder or the address of the repository, Ref the branch, tag or
		// commit that was asked for, Folder the folder inside it, and Commit what was fetched.
		Location string `json:"location"`
		Ref      string `json:"ref,omitempty"`
		Folder   string `json:"folder,omitempty"`
		Commit   string `json:"commit,omitempty"`
		// Hash identifies all of its files. It is that of Contents.
		Hash  string         `json:"hash"`
		State ExtensionState `json:"state"`
		// Reason is why it is not used, or not as it is, for people.
		Reason   string            `json:"reason,omitempty"`
		Contents ExtensionContents `json:"contents"`
	}
	// ExtensionContents is what an extension really holds and would run.
	ExtensionContents struct {
		Files    int               `json:"files"`
		Bytes    int64             `json:"bytes"`
		Skills   []ExtensionPart   `json:"skills"`
		Commands []ExtensionPart   `json:"commands"`
		Agents   []ExtensionPart   `json:"agents"`
		Hooks    []ExtensionHook   `json:"hooks"`
		Servers  []ExtensionServer `json:"servers"`
		// Problems are sentences about what is left out or odd.
		Problems []string `json:"problems,omitempty"`
	}
	// ExtensionPart is a skill, a command or an agent, by the name that people use.
	ExtensionPart struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
	// ExtensionHook is a command that runs at an event, without being asked about.
	ExtensionHook struct {
		Event          HookEvent `json:"event"`
		Matcher        string    `json:"matcher,omitempty"`
		Command        string    `json:"command"`
		TimeoutSeconds int       `json:"timeoutSeconds"`
		Problem        string    `json:"problem,omitempty"` // why it cannot be used
	}
	// ExtensionServer is an MCP server that is started or contacted without being asked
	// about. Its tools are asked about as those of any server.
	ExtensionServer struct {
		Name      string       `json:"name"`
		Transport string       `json:"transport"` // "stdio" or "http"
		Shown     string       `json:"shown"`     // the command or URL in one line
		Command   string       `json:"command,omitempty"`
		Args      []string     `json:"args,omitempty"`
		Cwd       string       `json:"cwd,omitempty"`
		Env       []MCPSetting `json:"env,omitempty"`
		URL       string       `json:"url,omitempty"`
		Headers   []MCPSetting `json:"headers,omitempty"`
		Problem   string       `json:"problem,omitempty"` // why it cannot be used
	}
	// ExtensionChange is a difference between two versions of an extension.
	ExtensionChange struct {
		Change string `json:"change"` // "added", "removed" or "changed"
		What   string `json:"what"`   // "file", "skill", "command", "agent", "hook" or "server"
		Name   string `json:"name"`
	}

	ListExtensionsRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // "" means those for every project
	}
	ListExtensionsResponse struct {
		Extensions []Extension `json:"extensions"` // by name
		// Problems are sentences about what is left out.
		Problems []string `json:"problems,omitempty"`
	}
	// FetchExtensionRequest copies an extension to the host, which does not use it yet.
	// With Name it fetches an added one again, from where it came from.
	FetchExtensionRequest struct {
		Name   string `json:"name,omitempty" req:"max=64"`
		Source string `json:"source,omitempty" req:"max=4096"` // an absolute folder, or the address of a git repository
		Ref    string `json:"ref,omitempty" req:"max=256"`     // branch, tag or commit; "" means the default branch
		Folder string `json:"folder,omitempty" req:"max=1024"` // inside the repository
	}
	FetchExtensionResponse struct {
		Extension Extension `json:"extension"`
		// Replaces is the hash of the added extension of the same name; "" if there is none.
		Replaces string `json:"replaces,omitempty"`
		// Changes are the differences to that one, at most 500.
		Changes []ExtensionChange `json:"changes"`
	}
	// SaveExtensionRequest adds an extension that was fetched, or replaces the one of its
	// name. It is refused with conflict if Replaces is not the hash of that one.
	SaveExtensionRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // enables it there only; "" enables it in every project
		Hash      string `json:"hash" req:"min=1,max=256"`
		Replaces  string `json:"replaces,omitempty" req:"max=256"`
	}
	ExtensionResponse struct {
		Extension Extension `json:"extension"`
	}
	// DecideExtensionRequest allows or denies an extension of a project. It is refused with
	// conflict if Hash is not that of its files now.
	DecideExtensionRequest struct {
		ProjectID string `json:"projectId" req:"min=1,max=256"`
		Name      string `json:"name" req:"min=1,max=64"`
		Hash      string `json:"hash" req:"max=256"`
		Allow     bool   `json:"allow"`
	}
	// SetExtensionEnabledRequest disables or enables an extension in a project or in every
	// project. The setting of a project comes first.
	SetExtensionEnabledRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
		Name      string `json:"name" req:"min=1,max=64"`
		Enabled   bool   `json:"enabled"`
	}
	// DeleteExtensionRequest removes an added extension everywhere.
	DeleteExtensionRequest struct {
		Name string `json:"name" req:"min=1,max=64"`
		Hash string `json:"hash" req:"min=1,max=256"`
	}
)
