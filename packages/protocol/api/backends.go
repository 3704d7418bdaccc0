package api

import (
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxApprovalChoices is how many answers of its own an approval may offer.
const MaxApprovalChoices = 16

// ApprovalChoice is an answer that the program that asks offers, in place of allow and deny.
// Decision is what answers with it; the name is the program's own.
type ApprovalChoice struct {
	Decision Decision `json:"decision"`
	Name     string   `json:"name"`
	// Kind is allow_once, allow_always, reject_once, reject_always or another.
	Kind string `json:"kind,omitempty"`
}

// choicePrefix begins the decisions of choices; the number of the choice follows, from 1.
const choicePrefix = "choice:"

// Choice returns the decision for the choice with an index.
func Choice(index int) Decision { return Decision(choicePrefix + strconv.Itoa(index+1)) }

// Choice returns the index of the choice that the decision is for; false if it is for none.
func (d Decision) Choice() (index int, ok bool) {
	number, ok := strings.CutPrefix(string(d), choicePrefix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > MaxApprovalChoices || Choice(n-1) != d {
		return 0, false
	}
	return n - 1, true
}

// Backend is a program that can work on the turns of sessions, besides scorel's own agent.
type Backend struct {
	Name    string `json:"name"` // in config.toml, or built in
	Title   string `json:"title"`
	Command string `json:"command"`
	// Path is the file of the program; "" if it is not installed.
	Path string `json:"path,omitempty"`
	// Install and Login are commands for a terminal on the machine; "" if unknown.
	Install string `json:"install,omitempty"`
	Login   string `json:"login,omitempty"`
	// Mode and Model are those of the program that its sessions begin with; "" for its own.
	Mode    string `json:"mode,omitempty"`
	Model   string `json:"model,omitempty"`
	BuiltIn bool   `json:"builtIn,omitempty"` // false if config.toml defines it
	Sandbox bool   `json:"sandbox,omitempty"` // it runs in the host's sandbox
	// Denied is why the asking connection may not use it; "" if it may, and from hosts that do
	// not say.
	Denied BackendDenial `json:"denied,omitempty"`
}

// BackendDenial is why a connection may not use a backend.
type BackendDenial string

const (
	// BackendNeedsPrompt: the connection lacks the grant prompt.
	BackendNeedsPrompt BackendDenial = "needs_prompt"
	// BackendNeedsBypass: the program may act without asking, and the connection may not set the
	// mode bypass. It may use the program once the host has asks = true in its [backends.NAME].
	BackendNeedsBypass BackendDenial = "needs_bypass"
)

// OwnBackend is the name of scorel's own agent where a backend is named.
const OwnBackend = "scorel"

type (
	ListBackendsResponse struct {
		Backends []Backend `json:"backends"`
	}
	// TestBackendRequest starts a program, begins a session in it and ends it.
	TestBackendRequest struct {
		Name      string `json:"name" req:"min=1,max=64"`
		ProjectID string `json:"projectId,omitempty" req:"max=256"` // whose folder it runs in; "" is the user's home
	}
	// TestBackendResponse says what the program answered. With Problem it did not work.
	TestBackendResponse struct {
		Agent    string   `json:"agent,omitempty"` // name and version that the program gives itself
		Problem  string   `json:"problem,omitempty"`
		Login    string   `json:"login,omitempty"`   // the command that logs in, if that is needed
		Resumes  bool     `json:"resumes,omitempty"` // it continues its sessions after a restart
		Images   bool     `json:"images,omitempty"`  // it takes images
		Modes    []string `json:"modes,omitempty"`   // names of its modes
		Models   []string `json:"models,omitempty"`  // names of its models
		Duration int64    `json:"durationMs"`        // until the session had begun
		Output   string   `json:"output,omitempty"`  // the end of its standard error; with Problem, and for local clients only
	}
	// GetBackendRequest asks for what the program of a session said last.
	GetBackendRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
	}
	// GetBackendResponse has the options and commands of the program that works on the next turns,
	// as it named them in an earlier turn. Before its first turn there are none.
	GetBackendResponse struct {
		Backend  string                   `json:"backend,omitempty"` // "" is scorel's own agent, which has none
		Options  []session.BackendOption  `json:"options,omitempty"`
		Commands []session.BackendCommand `json:"commands,omitempty"`
		// Decides is true if the program's mode lets it act without asking.
		Decides bool `json:"decides,omitempty"`
	}
	// SetBackendOptionRequest changes an option of the program that works on the next turns.
	SetBackendOptionRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Option    string `json:"option" req:"min=1,max=256"` // id
		Value     string `json:"value" req:"min=1,max=256"`  // one of its choices
	}
	// SetBackendRequest sets the program that works on the next turns; OwnBackend is scorel's
	// own agent.
	SetBackendRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Backend   string `json:"backend" req:"min=1,max=64"`
	}
)
