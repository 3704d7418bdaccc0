package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// FileName is the file in a project's folder that configures servers.
const FileName = ".mcp.json"

// Where a server is configured.
const (
	SourceUser    = "config.toml"
	SourceSaved   = "servers.json"
	SourceProject = FileName
)

// Default timeouts.
const (
	defaultStart = 10 * time.Second
	defaultCall  = 60 * time.Second
)

// Bounds of .mcp.json.
const (
	maxFile    = 1 << 20
	maxServers = 64
)

// spec is a configured server, before variables are expanded.
type spec struct {
	name, source string
	definition   definition
	fault        string // why it cannot be started; "" if it can
	disabled     bool
	unconfined   bool // config.toml excludes it from the sandbox
	start, call  time.Duration
	enabled      []string // nil means all
	excluded     []string
	revision     string // of one that requests added
	root         string // of one of an extension: the absolute path of its copy
	oauth        state.MCPOAuth
}

// version identifies the configuration for requests that change it.
func (s spec) version() string {
	if s.source == SourceSaved {
		return cmp.Or(s.revision, "written by hand")
	}
	return s.definition.hash()
}

// definition determines what is started. A person consents to its hash.
type definition struct {
	Type    string            `json:"type,omitempty"` // "stdio" or "http"; "" means the one that fits
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Cwd     string            `json:"cwd,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

func (d definition) hash() string {
	text, err := session.Encode(d)
	if err != nil { // cannot fail: strings can always be encoded
		return ""
	}
	sum := sha256.Sum256(append([]byte("scorel mcp server v1\x00"), text...))
	return hex.EncodeToString(sum[:])
}

func (d definition) transport() string {
	if d.Command != "" {
		return "stdio"
	}
	return "http"
}

// shown returns what a person consents to: the command line or the URL, with variables and
// headers. Only values with the name of a secret are omitted.
func (d definition) shown(hide hiding) string {
	if d.Command == "" {
		return d.URL + withNames(" with the headers ", settings(d.Headers, hide.header))
	}
	words := make([]string, 0, len(d.Args)+1)
	for _, word := range append([]string{d.Command}, d.Args...) {
		if word == "" || strings.ContainsAny(word, " \t\n\"'") {
			word = fmt.Sprintf("%q", word)
		}
		words = append(words, word)
	}
	in := ""
	if d.Cwd != "" {
		in = " in " + d.Cwd
	}
	return strings.Join(words, " ") + in + withNames(" with ", settings(d.Env, hide.variable))
}

// hiding decides which values are not shown.
type hiding struct{ variable, header func(name, value string) bool }

// hiding returns what a person is not shown of a server. A project's server is shown as far
// as a person must know it to consent; of the user's own, no literal value is shown.
func (s spec) hiding() hiding {
	if s.source == SourceProject || s.bundled() {
		return hiding{s.definition.hiddenVariable, hiddenHeader}
	}
	literal := func(_, value string) bool { return !strings.HasPrefix(value, "${") }
	return hiding{literal, literal}
}

// describe sets the fields of server to what shown puts into one line.
func (s spec) describe(server *api.MCPServer) {
	d, hide := s.definition, s.hiding()
	server.Transport, server.Shown = d.transport(), d.shown(hide)
	server.Command, server.Args, server.Cwd, server.Env = d.Command, d.Args, d.Cwd, settings(d.Env, hide.variable)
	server.URL, server.Headers = d.URL, settings(d.Headers, hide.header)
}

func settings(values map[string]string, hidden func(name, value string) bool) []api.MCPSetting {
	var list []api.MCPSetting
	for _, name := range slices.Sorted(maps.Keys(values)) {
		s := api.MCPSetting{Name: name, Value: values[name], Secret: hidden(name, values[name])}
		if s.Secret {
			s.Value = ""
		}
		list = append(list, s)
	}
	return list
}

// hiddenHeader reports whether a value is not shown: its name sounds like a secret's, and
// the value is literal.
func hiddenHeader(name, value string) bool {
	return secretName.MatchString(name) && !strings.HasPrefix(value, "${")
}

// hiddenVariable is hiddenHeader for environment variables, whose values may be more than
// data: a shell may execute the content of a variable. A variable that the command line
// mentions is therefore shown, and so is a value that is not a single word or begins like a
// file path.
func (d definition) hiddenVariable(name, value string) bool {
	named := func(word string) bool { return strings.Contains(word, name) }
	return hiddenHeader(name, value) && secretValue.MatchString(value) && !named(d.Command) && !slices.ContainsFunc(d.Args, named)
}

var (
	secretName  = regexp.MustCompile(`(?i)key|token|secret|passw|auth|credential|cookie`)
	secretValue = regexp.MustCompile(`^[A-Za-z0-9_~+=-]+([/.:][A-Za-z0-9_~+=-]+)*$`)
)

func withNames(what string, values []api.MCPSetting) string {
	if len(values) == 0 {
		return ""
	}
	var list []string
	for _, s := range values {
		value := s.Value
		if s.Secret {
			value = "..."
		}
		list = append(list, s.Name+"="+value)
	}
	return what + strings.Join(list, ", ")
}

// fault returns why the definition cannot be used, or "".
func (d definition) fault() string {
	switch {
	case d.Command != "" && d.URL != "":
		return "it has a command and a url: give one of them"
	case d.Command == "" && d.URL == "":
		return "it has neither a command nor a url"
	case d.Type == "sse":
		return "the type sse is deprecated: use the server's streamable HTTP address with the type http"
	case d.Type != "" && d.Type != "stdio" && d.Type != "http" && d.Type != "streamable-http":
		return fmt.Sprintf("unknown type %.40q: use stdio or http", d.Type)
	}
	return ""
}

// mcpFile is the content of .mcp.json. Unknown keys belong to other programs.
type mcpFile struct {
	Servers map[string]json.RawMessage `json:"mcpServers"`
}

// readFile reads the servers of a project. The problem is a sentence for people about the
// file as a whole.
func readFile(folder string) (servers map[string]spec, problem string) {
	path := filepath.Join(folder, FileName)
	data, err := state.ReadProjectFile(path, maxFile)
	if err != nil {
		return nil, fmt.Sprintf("%s cannot be read: %v", path, err)
	}
	if data == nil {
		return nil, ""
	}
	var file mcpFile
	if err := exactjson.Strict(data, &file); err != nil {
		return nil, fmt.Sprintf("%s is not a JSON object with mcpServers: %v", path, err)
	}
	if len(file.Servers) > maxServers {
		return nil, fmt.Sprintf("%s has %d servers, the limit is %d", path, len(file.Servers), maxServers)
	}
	servers = map[string]spec{}
	for name, raw := range file.Servers {
		s := spec{name: name, source: SourceProject, start: defaultStart, call: defaultCall}
		if err := exactjson.Strict(raw, &s.definition); err != nil {
			s.fault = fmt.Sprintf("it cannot be read: %v", err)
		} else {
			s.fault = s.definition.fault()
		}
		if err := state.CheckMCPName(name); err != nil {
			s.fault = err.Error()
		}
		servers[name] = s
	}
	return servers, ""
}

// configured combines the servers of config.toml, those that requests added for every project,
// those of a project, and those of extensions, sorted by name. A table of config.toml without a
// command or URL configures how one of the others is used. The folder "" is no project.
func (m *Manager) configured(folder string) ([]spec, []string) {
	servers, problem := map[string]spec{}, ""
	var problems []string
	if folder != "" {
		if servers, problem = readFile(folder); problem != "" {
			problems = append(problems, problem)
		}
		if servers == nil {
			servers = map[string]spec{}
		}
	}
	problems = append(problems, m.addOwn(servers, folder)...)
	distinguish(servers)
	problems = append(problems, m.addBundles(servers, folder)...)
	list := make([]spec, 0, len(servers))
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		list = append(list, servers[name])
	}
	slices.Sort(problems)
	return list, problems
}

// addOwn adds the servers of the user, which take the place of those of a project.
func (m *Manager) addOwn(servers map[string]spec, folder string) (problems []string) {
	add := func(s spec) {
		if have, ok := servers[s.name]; ok {
			problems = append(problems, fmt.Sprintf("the server %s of %s is left out: %s has one with the same name", s.name, have.place(folder), s.source))
		}
		servers[s.name] = s
	}
	for name, own := range m.options.Saved.All() {
		add(spec{name: name, source: SourceSaved, start: defaultStart, call: defaultCall, definition: ofSaved(own), revision: own.Revision})
	}
	for _, name := range slices.Sorted(maps.Keys(m.options.Servers)) {
		own := m.options.Servers[name]
		if own.Command != "" || own.URL != "" {
			add(spec{name: name, source: SourceUser, definition: definition{
				Command: own.Command, Args: own.Args, Env: own.Env, Cwd: own.Cwd, URL: own.URL, Headers: own.Headers,
			}})
		}
		s, ok := servers[name]
		if !ok {
			continue // it is for a server of another project
		}
		s.disabled = own.Enabled != nil && !*own.Enabled
		s.unconfined = own.Sandbox != nil && !*own.Sandbox
		s.start = cmp.Or(time.Duration(own.StartTimeout)*time.Second, defaultStart)
		s.call = cmp.Or(time.Duration(own.ToolTimeout)*time.Second, defaultCall)
		s.enabled, s.excluded, s.oauth = own.EnabledTools, own.DisabledTools, own.OAuth
		servers[name] = s
	}
	return problems
}

func ofSaved(s state.SavedServer) definition {
	return definition{Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Cwd, URL: s.URL, Headers: s.Headers}
}

// place returns the file of a server that another one hides.
func (s spec) place(folder string) string {
	if s.source == SourceProject {
		return filepath.Join(folder, FileName)
	}
	return s.source
}

// same reports whether two specs run the same server in the same way.
func (s spec) same(other spec) bool {
	return s.definition.hash() == other.definition.hash() && s.source == other.source && s.root == other.root && s.fault == other.fault &&
		s.disabled == other.disabled && s.unconfined == other.unconfined && s.start == other.start && s.call == other.call &&
		slices.Equal(s.enabled, other.enabled) && (s.enabled == nil) == (other.enabled == nil) && slices.Equal(s.excluded, other.excluded)
}

// wants reports whether a tool of the server should be offered.
func (s spec) wants(tool string) bool {
	return (s.enabled == nil || slices.Contains(s.enabled, tool)) && !slices.Contains(s.excluded, tool)
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// expand expands variables: ${NAME}, and ${NAME:-default} if NAME is unset or empty.
func (d definition) expand(getenv func(string) string, withheld func(string) bool) (definition, error) {
	var missing []string
	put := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(found string) string {
			parts := variable.FindStringSubmatch(found)
			value := getenv(parts[1])
			if value == "" && parts[2] == "" {
				missing = append(missing, parts[1])
			}
			return cmp.Or(value, parts[3])
		})
	}
	putAll := func(values map[string]string) map[string]string {
		out := map[string]string{}
		for name, value := range values {
			out[name] = put(value)
		}
		return out
	}
	out := definition{Type: d.Type, Command: put(d.Command), Cwd: put(d.Cwd), URL: put(d.URL), Env: putAll(d.Env), Headers: putAll(d.Headers)}
	for _, arg := range d.Args {
		out.Args = append(out.Args, put(arg))
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		if i := slices.IndexFunc(missing, withheld); i >= 0 {
			return out, fmt.Errorf("it needs the variable %s, which is withheld because it contains the key of a model provider: to give it to the server, add it to environment.pass in config.toml", missing[i])
		}
		return out, fmt.Errorf("it needs the variable %s, which is not set where the host runs", strings.Join(slices.Compact(missing), ", "))
	}
	return out, nil
}
