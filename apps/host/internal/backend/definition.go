package backend

import (
	"maps"
	"os/exec"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// Definition is a program that works on turns.
type Definition struct {
	Name    string
	Title   string // for people
	Command string // a name that is looked up in PATH, or an absolute path
	Args    []string
	Env     []string          // names of variables that the program gets besides the common ones
	Set     map[string]string // variables that are set
	Mode    string            // id of the agent's mode that new sessions begin in; "" is its own default
	Model   string            // id of the agent's model for new sessions; "" is its own default
	Asks    bool              // its own settings make it ask before it acts, whatever its mode is
	Asking  string            // id of a mode in which it asks, if Mode is none; "" is not known
	Login   []string          // the vendor's command that logs in; nil is Command without arguments
	Install string            // the command that installs the program
	BuiltIn bool
	// Sandbox runs the program in the host's sandbox, which it must know how to live in.
	Sandbox bool
	// Writable are folders that it may write to in the sandbox besides that of the session.
	Writable []string
}

// BuiltIn returns the definitions of known programs. Modes are those in which the agent asks
// before it changes something, instead of having a classifier or another model decide.
func BuiltIn() []Definition {
	return []Definition{
		{
			Name: "claude", Title: "Claude Code", Command: "claude-agent-acp", Mode: "default",
			Install: "npm install -g @agentclientprotocol/claude-agent-acp", Login: []string{"claude", "/login"},
		},
		{
			Name: "codex", Title: "Codex", Command: "codex-acp", Mode: "read-only", Set: map[string]string{"NO_BROWSER": "1"},
			Install: "npm install -g @agentclientprotocol/codex-acp", Login: []string{"codex", "login"},
		},
		{
			Name: "gemini", Title: "Gemini CLI", Command: "gemini", Args: []string{"--acp"}, Mode: "default",
			Install: "npm install -g @google/gemini-cli", Login: []string{"gemini"},
		},
		{
			Name: "opencode", Title: "opencode", Command: "opencode", Args: []string{"acp"},
			Install: "npm install -g opencode-ai", Login: []string{"opencode", "auth", "login"},
		},
		{
			Name: "pi", Title: "Pi", Command: "pi-acp",
			Install: "npm install -g pi-acp", Login: []string{"pi"},
		},
	}
}

// Merge returns the built-in definitions with those of people, which win, by name.
func Merge(own []Definition) []Definition {
	all := map[string]Definition{}
	for _, d := range BuiltIn() {
		d.BuiltIn = true
		all[d.Name] = d
	}
	for _, d := range own {
		if known, ok := all[d.Name]; ok {
			d = d.over(known)
		}
		all[d.Name] = d
	}
	return slices.SortedFunc(maps.Values(all), func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
}

// over fills what d leaves out from a built-in definition of the same name.
func (d Definition) over(known Definition) Definition {
	if d.Command == "" {
		d.Command, d.Args = known.Command, append(slices.Clone(known.Args), d.Args...)
		d.BuiltIn = true
	}
	if d.Mode == "" {
		d.Mode = known.Mode
	}
	d.Asking = known.Mode
	if d.Set == nil {
		d.Set = known.Set
	}
	d.Title, d.Install, d.Login = known.Title, known.Install, known.Login
	return d
}

// asking returns the mode in which the program asks before it acts, "" for its own default, and
// whether there is one.
func (d Definition) asking() (mode string, ok bool) {
	switch {
	case d.Mode != "" && !agent.DecidesIn(d.Mode), d.Asks:
		return d.Mode, true
	}
	return d.Asking, d.Asking != ""
}

// Path returns the file of the program, or "" if it is not installed.
func (d Definition) Path() string {
	path, err := exec.LookPath(d.Command)
	if err != nil {
		return ""
	}
	return path
}

// LoginCommand returns the command line that logs in, for a terminal.
func (d Definition) LoginCommand() []string {
	if d.Login != nil {
		return slices.Clone(d.Login)
	}
	return []string{d.Command}
}

// common are the variables that every program gets: where things are, who runs it, the language,
// and how the network is reached. None holds a key.
var common = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	"APPDATA", "LOCALAPPDATA", "USERPROFILE", "SYSTEMROOT", "COMSPEC", "PATHEXT",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// Environ returns the environment of the program. Of the host's it has only what common and Env
// name, so that keys of providers and of the host stay here.
func (d Definition) Environ(environ []string) []string {
	var env []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if slices.Contains(common, name) || strings.HasPrefix(name, "LC_") || slices.Contains(d.Env, name) {
			env = append(env, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Set)) {
		if !slices.Contains(d.Env, name) {
			env = append(env, name+"="+d.Set[name])
		}
	}
	return env
}
