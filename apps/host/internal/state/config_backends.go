package state

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// BackendACP is the type of backends that speak the Agent Client Protocol.
const BackendACP = "acp"

// Backend is a table [backends.NAME] of config.toml: a program that works on turns.
type Backend struct {
	Type    string   `toml:"type"`
	Command string   `toml:"command"` // "" is that of the built-in backend of this name
	Args    []string `toml:"args"`
	Env     []string `toml:"env"`   // names of variables that the program gets
	Mode    string   `toml:"mode"`  // of the program, for new sessions
	Model   string   `toml:"model"` // of the program, for new sessions
	// Asks says that the program's own settings make it ask before it acts, which its modes do
	// not tell.
	Asks bool `toml:"asks"`
	// Sandbox runs the program in the host's sandbox, where it may write to Writable besides
	// the folder of the session.
	Sandbox  bool     `toml:"sandbox"`
	Writable []string `toml:"writable"`
}

// Bounds of backends.
const (
	maxBackends    = 32
	maxBackendArgs = 64
	maxBackendText = 4096 // bytes
)

// builtInBackends are the names of backends that need no command.
var builtInBackends = [...]string{"claude", "codex", "gemini", "opencode", "pi"}

// BackendNames returns the names of all backends: those of config.toml and those that need no
// setting.
func (c Config) BackendNames() []string {
	names := slices.Collect(maps.Keys(c.Backends))
	for _, name := range builtInBackends {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func checkBackends(backends map[string]Backend) error {
	if len(backends) > maxBackends {
		return fmt.Errorf("backends: there are %d, the limit is %d", len(backends), maxBackends)
	}
	for _, name := range slices.Sorted(maps.Keys(backends)) {
		if err := backends[name].check(name); err != nil {
			return fmt.Errorf("backends.%s: %w", name, err)
		}
	}
	return nil
}

func (b Backend) check(name string) error {
	known := slices.Contains(builtInBackends[:], name)
	switch {
	case name == api.OwnBackend:
		return fmt.Errorf("%q is scorel's own agent: choose another name", name)
	case len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "":
		return errors.New("a name has at most 64 letters, digits, dots, hyphens and underscores")
	case b.Type == "" && !known:
		return fmt.Errorf("type is missing: use %q", BackendACP)
	case b.Type != "" && b.Type != BackendACP:
		return fmt.Errorf("unknown type %.40q: use %q", b.Type, BackendACP)
	case b.Command == "" && !known:
		return errors.New("command is missing")
	case len(b.Args) > maxBackendArgs || len(b.Env) > maxBackendArgs || len(b.Writable) > maxBackendArgs:
		return fmt.Errorf("args, env and writable have at most %d values", maxBackendArgs)
	case len(b.Writable) > 0 && !b.Sandbox:
		return errors.New("writable needs sandbox = true")
	}
	for _, text := range slices.Concat([]string{b.Command, b.Mode, b.Model}, b.Args, b.Env, b.Writable) {
		if len(text) > maxBackendText || strings.ContainsRune(text, 0) {
			return fmt.Errorf("a value has more than %d bytes, or a zero byte", maxBackendText)
		}
	}
	for _, variable := range b.Env {
		if variable == "" || strings.Contains(variable, "=") {
			return fmt.Errorf("env holds names of variables, not values: %.40q is none", variable)
		}
	}
	for _, folder := range b.Writable {
		if !filepath.IsAbs(folder) {
			return fmt.Errorf("writable: %.200q is not an absolute path", folder)
		}
	}
	return nil
}
