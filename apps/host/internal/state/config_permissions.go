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

// Permissions are what config.toml says of what agents may do. The rules are checked
// by whoever knows the tools.
type Permissions struct {
	Mode       api.Mode // of new sessions
	RemoteMode api.Mode // the highest that a paired device may set
	Allow      []string
	Ask        []string
	Deny       []string
	// FetchPrivate are addresses and networks that fetch_url may reach although they
	// are not public.
	FetchPrivate []string
}

// Sandbox is what config.toml says of the sandbox of commands.
type Sandbox struct {
	Off      bool
	Network  bool     // commands reach the network
	Writable []string // absolute folders, or those that begin with ~/, besides the project
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
			return p, fmt.Errorf("permissions.%s %q is unknown; it must be one of %s", key, mode, api.ModeNames())
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
			return s, errors.New("sandbox.writable: / would open everything; set enabled = false to run without a sandbox")
		}
	}
	return s, nil
}
