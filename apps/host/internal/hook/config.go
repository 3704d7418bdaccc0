package hook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Files that configure hooks. Those of a project are relative to its folder.
const (
	SourceUser    = "config.toml"
	SourceProject = ".scorel/hooks.toml"
	SourceClaude  = ".claude/settings.json"
	SourceLocal   = ".claude/settings.local.json"
)

const maxFile = 1 << 20 // of a file that configures hooks, in bytes

// spec is a configured hook.
type spec struct {
	definition
	name       string
	fault      string // why it cannot be used; "" if it can
	disabled   bool
	unconfined bool // config.toml excludes it from the sandbox
	claude     bool // it expects the names of Claude Code
	matches    func(in Input) bool
	timeout    time.Duration
	// Of a hook of an extension: the absolute path of its copy, and the hash of its files.
	root, content string
}

// definition is what a person consents to, except for the files that the command names.
type definition struct {
	Source   string        `json:"source"`
	Event    api.HookEvent `json:"event"`
	Declared string        `json:"declared"`
	Matcher  string        `json:"matcher"`
	Command  string        `json:"command"`
	Seconds  int           `json:"seconds"`
}

// id identifies the hook as it is configured.
func (d definition) id() string { return digest("scorel hook v1", d)[:12] }

func digest(label string, value any) string {
	text, err := session.Encode(value)
	if err != nil { // cannot fail: strings and numbers can always be encoded
		return ""
	}
	sum := sha256.Sum256(append([]byte(label+"\x00"), text...))
	return hex.EncodeToString(sum[:])
}

// project reports whether the hook comes with a project and needs consent.
func (s spec) project() bool { return s.Source != SourceUser && s.root == "" }

// label names the hook for people.
func (s spec) label() string { return cmp.Or(s.name, firstLine(s.Command, 80)) }

// configured returns the hooks of config.toml, those of extensions and those of a folder, each
// once. The folder "" has none of its own. The problems are sentences for people.
func (m *Manager) configured(folder string) (specs []spec, problems []string) {
	for _, h := range m.options.Hooks {
		specs = append(specs, ofTable(h, SourceUser))
	}
	for _, b := range m.bundles(folder) {
		found, wrong := b.specs()
		specs, problems = append(specs, found...), append(problems, wrong...)
	}
	if folder != "" {
		found, wrong := ofProject(folder)
		specs, problems = append(specs, found...), append(problems, wrong...)
	}
	seen := map[string]bool{}
	specs = slices.DeleteFunc(specs, func(s spec) bool {
		id := s.id()
		again := seen[id]
		seen[id] = true
		return again
	})
	return specs, problems
}

// ofProject returns the hooks that a folder brings.
func ofProject(folder string) (specs []spec, problems []string) {
	for _, source := range []string{SourceProject, SourceClaude, SourceLocal} {
		data, err := state.ReadProjectFile(filepath.Join(folder, filepath.FromSlash(source)), maxFile)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%s cannot be read, so its hooks do not run: %v", source, err))
			continue
		}
		if data == nil {
			continue
		}
		found, wrong := parse(source, data)
		specs, problems = append(specs, found...), append(problems, wrong...)
	}
	return specs, problems
}

func parse(source string, data []byte) (specs []spec, problems []string) {
	if source != SourceProject {
		return claudeHooks(source, data)
	}
	tables, err := state.ParseHooks(data)
	if err != nil {
		return nil, []string{source + err.Error()}
	}
	for _, h := range tables {
		specs = append(specs, ofTable(h, source))
	}
	return specs, nil
}

// ofTable is a hook of one of our own files, which were checked.
func ofTable(h state.Hook, source string) spec {
	s := spec{
		definition: definition{
			Source: source, Event: api.HookEvent(h.Event), Declared: h.Event, Matcher: strings.Join(h.Tools, ", "), Command: h.Command,
			Seconds: cmp.Or(h.Timeout, int(DefaultTimeout/time.Second)),
		},
		name: h.Name, disabled: h.Enabled != nil && !*h.Enabled, unconfined: h.Sandbox != nil && !*h.Sandbox,
	}
	s.timeout = time.Duration(s.Seconds) * time.Second
	s.matches = func(in Input) bool {
		return len(h.Tools) == 0 || slices.ContainsFunc(h.Tools, func(pattern string) bool { return fits(pattern, in.Tool) })
	}
	return s
}

// fits reports whether a name matches a pattern, in which * stands for any text.
func fits(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(name) < len(first)+len(last) || !strings.HasPrefix(name, first) || !strings.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		_, after, ok := strings.Cut(name, part)
		if !ok {
			return false
		}
		name = after
	}
	return true
}

func firstLine(text string, most int) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > most {
		line, more = string(runes[:most]), true
	}
	if more {
		line += " ..."
	}
	return line
}
