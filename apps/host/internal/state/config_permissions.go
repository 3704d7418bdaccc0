package state

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Permissions configures what agents may do. Its rules are validated by a package that
// knows the tools.
type Permissions struct {
	Mode       api.Mode // of new sessions
	RemoteMode api.Mode // highest mode that a paired device may set
	Allow      []string
	Ask        []string
	Deny       []string
	// FetchPrivate lists non-public addresses and networks that fetch_url may connect to.
	FetchPrivate []string
}

// Sandbox configures the sandbox of commands.
type Sandbox struct {
	Off      bool
	Network  bool     // whether commands have network access
	Writable []string // folders besides the project: absolute, or beginning with ~/
}

type permissionsFile struct {
	Mode       string   `toml:"mode"`
	RemoteMode string   `toml:"remote_mode"`
	Allow      []string `toml:"allow"`
	Ask        []string `toml:"ask"`
	Deny       []string `toml:"deny"`

	FetchPrivate []string `toml:"fetch_private"`
}

type sandboxFile struct {
	Enabled  *bool     `toml:"enabled"`
	Network  *bool     `toml:"network"`
	Writable *[]string `toml:"writable"`
}

func permissionKeys() []string {
	return []string{"mode", "remote_mode", "allow", "ask", "deny", "fetch_private"}
}

func sandboxKeys() []string { return []string{"enabled", "network", "writable"} }

func (f permissionsFile) permissions() (Permissions, error) {
	p := Permissions{
		Mode: api.Mode(cmp.Or(f.Mode, string(api.ModeAsk))), RemoteMode: api.Mode(cmp.Or(f.RemoteMode, string(api.ModeAuto))),
		Allow: f.Allow, Ask: f.Ask, Deny: f.Deny, FetchPrivate: f.FetchPrivate,
	}
	for key, mode := range map[string]api.Mode{"mode": p.Mode, "remote_mode": p.RemoteMode} {
		if !slices.Contains(api.Modes(), mode) {
			return p, fmt.Errorf("permissions.%s: unknown mode %q; use one of %s", key, mode, api.ModeNames())
		}
	}
	return p, nil
}

func (f sandboxFile) sandbox() (Sandbox, error) {
	s := Sandbox{Network: true, Writable: []string{"/tmp", "~/.cache"}}
	if f.Enabled != nil {
		s.Off = !*f.Enabled
	}
	if f.Network != nil {
		s.Network = *f.Network
	}
	if f.Writable != nil {
		s.Writable = *f.Writable
	}
	for _, path := range s.Writable {
		if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
			return s, fmt.Errorf("sandbox.writable: %q is not an absolute path; begin it with / or ~/", path)
		}
		if filepath.Clean(path) == "/" {
			return s, errors.New("sandbox.writable: / would make everything writable; set enabled = false to run without a sandbox")
		}
	}
	return s, nil
}
