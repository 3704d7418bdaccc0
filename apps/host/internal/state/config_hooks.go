package state

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Hook is a table [[hooks]] of config.toml, or of a project's own file.
type Hook struct {
	Name    string `toml:"name"` // "" is none
	Event   string `toml:"event"`
	Command string `toml:"command"` // run by bash
	// Tools limits before_tool, after_tool and approval to tools; a * matches any part of a
	// name. nil means all.
	Tools   []string `toml:"tools"`
	Timeout int      `toml:"timeout"` // seconds; 0 means the default
	// Sandbox and Enabled default to true. Only config.toml can set them.
	Sandbox *bool `toml:"sandbox"`
	Enabled *bool `toml:"enabled"`
}

// Bounds of hooks.
const (
	MaxHooks       = 64     // in one file
	MaxHookCommand = 16_384 // bytes
	MaxHookSeconds = 600
)

func hookKeys() []string {
	return []string{"name", "event", "command", "tools", "timeout", "sandbox", "enabled"}
}

// ParseHooks reads the hooks of a project's own file. The error is part of a sentence for
// people and begins with a colon and the line, if that is known.
func ParseHooks(data []byte) ([]Hook, error) {
	var file struct {
		Hooks []Hook `toml:"hooks"`
	}
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&file); err != nil {
		return nil, explainTOML(err)
	}
	if err := checkHooks(file.Hooks); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	for i, h := range file.Hooks {
		if h.Sandbox != nil || h.Enabled != nil {
			return nil, fmt.Errorf(": hooks[%d]: only config.toml can set sandbox and enabled", i+1)
		}
	}
	return file.Hooks, nil
}

func checkHooks(hooks []Hook) error {
	if len(hooks) > MaxHooks {
		return fmt.Errorf("hooks: there are %d, the limit is %d", len(hooks), MaxHooks)
	}
	for i, h := range hooks {
		if err := h.check(); err != nil {
			return fmt.Errorf("hooks[%d]: %w", i+1, err)
		}
	}
	return nil
}

func (h Hook) check() error {
	event := api.HookEvent(h.Event)
	ofTool := event == api.HookBeforeTool || event == api.HookAfterTool || event == api.HookApproval
	switch {
	case h.Event == "":
		return errors.New("event is missing")
	case !slices.Contains(api.HookEvents(), event):
		return fmt.Errorf("unknown event %.40q; the events are %s", h.Event, hookEventNames())
	case strings.TrimSpace(h.Command) == "":
		return errors.New("command is missing")
	case len(h.Command) > MaxHookCommand || strings.ContainsRune(h.Command, 0):
		return fmt.Errorf("command must have at most %d bytes, and no zero byte", MaxHookCommand)
	case len(h.Name) > 64:
		return errors.New("name must have at most 64 bytes")
	case len(h.Tools) > 0 && !ofTool:
		return fmt.Errorf("tools belong to %s, %s and %s", api.HookBeforeTool, api.HookAfterTool, api.HookApproval)
	case slices.Contains(h.Tools, ""):
		return errors.New("tools contains an empty name; remove it")
	case h.Timeout < 0 || h.Timeout > MaxHookSeconds:
		return fmt.Errorf("timeout is in seconds, at most %d", MaxHookSeconds)
	}
	return nil
}

func hookEventNames() string {
	var names []string
	for _, event := range api.HookEvents() {
		names = append(names, string(event))
	}
	return strings.Join(names, ", ")
}
