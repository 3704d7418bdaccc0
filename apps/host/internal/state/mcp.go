package state

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// MCPServer is a table [mcp.servers.NAME] of config.toml. A table without Command and URL
// configures how a server of that name in the .mcp.json of a project is used.
type MCPServer struct {
	Command string            `toml:"command"`
	Args    []string          `toml:"args"`
	Env     map[string]string `toml:"env"`
	Cwd     string            `toml:"cwd"` // "" means the project's folder
	URL     string            `toml:"url"`
	Headers map[string]string `toml:"headers"`
	// Seconds; 0 means the default.
	StartTimeout int `toml:"start_timeout"`
	ToolTimeout  int `toml:"tool_timeout"`
	// Enabled defaults to true.
	Enabled *bool `toml:"enabled"`
	// Sandbox defaults to true: the server runs in the sandbox.
	Sandbox       *bool    `toml:"sandbox"`
	EnabledTools  []string `toml:"enabled_tools"` // nil means all
	DisabledTools []string `toml:"disabled_tools"`
	OAuth         MCPOAuth `toml:"oauth"`
}

// MCPOAuth is how the host signs in to a server with an address. All of it is optional.
type MCPOAuth struct {
	ClientID     string `toml:"client_id"`     // of a client that was registered before
	ClientSecret string `toml:"client_secret"` // needs Issuer; variables are expanded
	// Issuer is the only authorization server that is used.
	Issuer       string   `toml:"issuer"`
	CallbackPort int      `toml:"callback_port"` // 0 is any free port
	Scopes       []string `toml:"scopes"`        // instead of those that the server names
}

// mcpFile is the table [mcp].
type mcpFile struct {
	Servers           map[string]MCPServer `toml:"servers"`
	ClientMetadataURL string               `toml:"client_metadata_url"`
}

func mcpKeys() []string {
	return []string{"command", "args", "env", "cwd", "url", "headers", "start_timeout", "tool_timeout", "enabled", "sandbox", "enabled_tools", "disabled_tools", "oauth"}
}

// maxMCPSeconds bounds the timeouts.
const maxMCPSeconds = 3600

func (f mcpFile) check() error {
	for _, name := range slices.Sorted(maps.Keys(f.Servers)) {
		if err := CheckMCPName(name); err != nil {
			return fmt.Errorf("mcp.servers.%.80q: %w", name, err)
		}
		if err := f.Servers[name].check(); err != nil {
			return fmt.Errorf("mcp.servers.%s: %w", name, err)
		}
	}
	if f.ClientMetadataURL == "" {
		return nil
	}
	if err := checkURL(f.ClientMetadataURL, "https"); err != nil {
		return fmt.Errorf("mcp.client_metadata_url %w", err)
	}
	if u, err := url.Parse(f.ClientMetadataURL); err != nil || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("mcp.client_metadata_url %q is not the address of a document: give one with a path and without a query", f.ClientMetadataURL)
	}
	return nil
}

func (o MCPOAuth) check() error {
	switch {
	case o.ClientSecret != "" && (o.ClientID == "" || o.Issuer == ""):
		return errors.New("oauth: client_secret needs client_id, and issuer, so that no other authorization server receives the secret")
	case o.CallbackPort < 0 || o.CallbackPort > 65535:
		return errors.New("oauth: callback_port is a port between 1 and 65535")
	}
	if o.Issuer != "" {
		if err := checkURL(o.Issuer, "http", "https"); err != nil {
			return fmt.Errorf("oauth: issuer %w", err)
		}
	}
	for _, scope := range o.Scopes {
		if !scopeToken.MatchString(scope) {
			return fmt.Errorf("oauth: %.80q is not a scope", scope)
		}
	}
	return nil
}

// scopeToken is a scope as RFC 6749 defines it.
var scopeToken = regexp.MustCompile(`^[!#-\[\]-~]+$`)

func (s MCPServer) check() error {
	switch {
	case s.Command != "" && s.URL != "":
		return errors.New("give command or url, not both")
	case s.Command == "" && (len(s.Args) > 0 || len(s.Env) > 0 || s.Cwd != ""):
		return errors.New("args, env and cwd belong to a command, which is missing")
	case s.Command != "" && (s.OAuth.ClientID != "" || s.OAuth.Issuer != "" || len(s.OAuth.Scopes) > 0):
		return errors.New("oauth belongs to a url: a command receives its credentials in env")
	case s.URL == "" && len(s.Headers) > 0:
		return errors.New("headers belong to a url, which is missing")
	case s.StartTimeout < 0 || s.StartTimeout > maxMCPSeconds || s.ToolTimeout < 0 || s.ToolTimeout > maxMCPSeconds:
		return fmt.Errorf("start_timeout and tool_timeout are in seconds, at most %d", maxMCPSeconds)
	}
	if s.URL != "" && !strings.Contains(s.URL, "${") {
		if err := checkURL(s.URL, "http", "https"); err != nil {
			return fmt.Errorf("url %w", err)
		}
	}
	return s.OAuth.check()
}

// CheckMCPName reports an invalid server name.
func CheckMCPName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(name) {
		return errors.New("the name of a server must have at most 64 letters, digits, dots, hyphens and underscores")
	}
	return nil
}

// Consent is a person's decision about starting a server of a project, running a hook of it, or
// using an extension of it.
type Consent struct {
	Project   string `json:"project"` // absolute path
	Server    string `json:"server"`  // name, "hook:" and the id of a hook, or "extension:" and a name
	Hash      string `json:"hash"`    // hash of the configuration that was shown
	Allowed   bool   `json:"allowed"`
	DecidedBy string `json:"decidedBy"` // client id, or "host"
	DecidedAt int64  `json:"decidedAt"` // Unix milliseconds
}

// Consents are the decisions about servers. The last decision about a server of a project
// counts, and only for the configuration that it was made for.
type Consents struct {
	path string

	mu   sync.Mutex
	list []Consent
}

type consentsFile struct {
	Servers []Consent `json:"servers"`
}

// LoadConsents reads the decisions from path.
func LoadConsents(path string) (*Consents, error) {
	var file consentsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Consents{path: path, list: file.Servers}, nil
}

// Find returns the decision about this configuration of a server.
func (c *Consents) Find(project, server, hash string) (allowed, decided bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.list {
		if have.Project == project && have.Server == server {
			return have.Allowed && have.Hash == hash, have.Hash == hash
		}
	}
	return false, false
}

// Allowed returns the configuration of a server that was allowed last.
func (c *Consents) Allowed(project, server string) (hash string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.list {
		if have.Project == project && have.Server == server && have.Allowed {
			return have.Hash, true
		}
	}
	return "", false
}

// AllowedHashes returns what was allowed under a name that begins with a prefix, anywhere.
func (c *Consents) AllowedHashes(prefix string) (hashes []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, have := range c.list {
		if have.Allowed && strings.HasPrefix(have.Server, prefix) {
			hashes = append(hashes, have.Hash)
		}
	}
	return hashes
}

// Earlier reports whether an earlier configuration of a server was allowed.
func (c *Consents) Earlier(project, server, hash string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.list, func(have Consent) bool {
		return have.Project == project && have.Server == server && have.Hash != hash && have.Allowed
	})
}

// Forget drops the decision about a server that is no more.
func (c *Consents) Forget(project, server string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(c.list), func(have Consent) bool {
		return have.Project == project && have.Server == server
	})
	if len(list) == len(c.list) {
		return nil
	}
	if err := writeJSON(c.path, consentsFile{list}); err != nil {
		return err
	}
	c.list = list
	return nil
}

// Decide stores a decision, replacing the previous one.
func (c *Consents) Decide(decision Consent) error {
	decision.DecidedAt = time.Now().UnixMilli()
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(c.list), func(have Consent) bool {
		return have.Project == decision.Project && have.Server == decision.Server
	})
	list = append(list, decision)
	if err := writeJSON(c.path, consentsFile{list}); err != nil {
		return err
	}
	c.list = list
	return nil
}
