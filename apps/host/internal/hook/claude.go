package hook

import (
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

// claudeEvent is how an event of Claude Code's settings is taken.
type claudeEvent struct {
	event api.HookEvent
	// when limits it to a part of our event; nil means all.
	when func(in Input) bool
	// subject is what its matcher is compared with; nil means that it has none.
	subject func(in Input) []string
}

func claudeEvents() map[string]claudeEvent {
	tool := func(in Input) []string { return append(claudeTools(in.Tool), in.Tool) }
	cause := func(in Input) []string { return []string{in.Cause} }
	return map[string]claudeEvent{
		"PreToolUse":         {api.HookBeforeTool, nil, tool},
		"PostToolUse":        {api.HookAfterTool, func(in Input) bool { return !in.Failed }, tool},
		"PostToolUseFailure": {api.HookAfterTool, func(in Input) bool { return in.Failed }, tool},
		"PermissionRequest":  {api.HookApproval, nil, tool},
		"UserPromptSubmit":   {api.HookPrompt, nil, nil},
		"SessionStart":       {api.HookSessionStart, nil, cause},
		"PreCompact":         {api.HookCompaction, nil, cause},
		"Notification":       {api.HookNotification, nil, cause},
		"Stop":               {api.HookTurnEnd, func(in Input) bool { return !in.Subagent }, nil},
		"SubagentStop":       {api.HookTurnEnd, func(in Input) bool { return in.Subagent }, nil},
	}
}

// claudeTools returns the names by which Claude Code's settings know a tool; the first one is
// sent to hooks.
func claudeTools(tool string) []string {
	switch tool {
	case "bash":
		return []string{"Bash"}
	case "read_file":
		return []string{"Read"}
	case "write_file":
		return []string{"Write"}
	case "patch":
		return []string{"Edit", "MultiEdit"}
	case "glob":
		return []string{"Glob"}
	case "grep":
		return []string{"Grep"}
	case "list_dir":
		return []string{"LS"}
	case "fetch_url":
		return []string{"WebFetch"}
	case "todo":
		return []string{"TodoWrite"}
	case "delegate_task", "delegate_parallel":
		return []string{"Task", "Agent"}
	case "clarify":
		return []string{"AskUserQuestion"}
	}
	return nil
}

// claudeFile is the part of Claude Code's settings that is about hooks.
type claudeFile struct {
	Off   bool                       `json:"disableAllHooks"`
	Hooks map[string]json.RawMessage `json:"hooks"`
}

type claudeGroup struct {
	Matcher string            `json:"matcher"`
	Hooks   []json.RawMessage `json:"hooks"`
}

// claudeHooks reads the hooks of Claude Code's settings that mean the same here. Each of the
// others is a problem.
func claudeHooks(source string, data []byte) (specs []spec, problems []string) {
	var file claudeFile
	if err := exactjson.Unmarshal(data, &file); err != nil {
		return nil, []string{fmt.Sprintf("%s is not valid JSON, so its hooks do not run: %v", source, err)}
	}
	if file.Off {
		return nil, []string{source + " disables its hooks with disableAllHooks"}
	}
	events := claudeEvents()
	for _, name := range slices.Sorted(maps.Keys(file.Hooks)) {
		event, known := events[name]
		if !known {
			problems = append(problems, fmt.Sprintf("%s: the event %.40s has no counterpart, so its hooks do not run", source, name))
			continue
		}
		var groups []claudeGroup
		if err := exactjson.Unmarshal(file.Hooks[name], &groups); err != nil {
			problems = append(problems, fmt.Sprintf("%s: the hooks of %s do not run: %v", source, name, err))
			continue
		}
		for _, group := range groups {
			for _, raw := range group.Hooks {
				specs = append(specs, claudeHook(source, name, event, group.Matcher, raw))
			}
		}
	}
	if len(specs) > state.MaxHooks {
		return nil, append(problems, fmt.Sprintf("%s has %d hooks, the limit is %d: none of them runs", source, len(specs), state.MaxHooks))
	}
	return specs, problems
}

// claudeHook reads one hook. One that asks for something that does not exist here, or that
// cannot be read, has a fault.
func claudeHook(source, declared string, event claudeEvent, matcher string, raw json.RawMessage) spec {
	s := spec{claude: true, definition: definition{Source: source, Event: event.event, Declared: declared, Matcher: matcher}}
	var keys map[string]json.RawMessage
	var h struct {
		Type    string  `json:"type"`
		Command string  `json:"command"`
		Timeout float64 `json:"timeout"`
		Shell   string  `json:"shell"`
	}
	err := exactjson.Unmarshal(raw, &keys)
	if err == nil {
		err = exactjson.Unmarshal(raw, &h)
	}
	s.Command, s.Seconds = h.Command, int(DefaultTimeout/time.Second)
	if h.Timeout >= 1 {
		s.Seconds = int(min(h.Timeout, state.MaxHookSeconds))
	}
	s.timeout = time.Duration(s.Seconds) * time.Second
	known := []string{"type", "command", "timeout", "shell", "statusMessage"}
	s.matches, s.fault = claudeMatcher(event, matcher)
	switch {
	case err != nil:
		s.fault = fmt.Sprintf("it cannot be read: %v", err)
	case h.Type != "command":
		s.fault = fmt.Sprintf("hooks of the type %.40q are not supported, only those of the type command", h.Type)
	case strings.TrimSpace(h.Command) == "" || len(h.Command) > state.MaxHookCommand || strings.ContainsRune(h.Command, 0):
		s.fault = fmt.Sprintf("its command is empty, has a zero byte, or has more than %d bytes", state.MaxHookCommand)
	case h.Shell != "" && h.Shell != "bash":
		s.fault = fmt.Sprintf("its shell %.40q is not supported, only bash", h.Shell)
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if s.fault == "" && !slices.Contains(known, key) {
			s.fault = fmt.Sprintf("its setting %.40q is not supported", key)
		}
	}
	return s
}

var plainMatcher = regexp.MustCompile(`^[A-Za-z0-9_|, -]*$`)

// claudeMatcher returns what decides whether a hook is about an event. A matcher of words
// lists names; any other one is a regular expression.
func claudeMatcher(event claudeEvent, matcher string) (matches func(in Input) bool, fault string) {
	when := func(in Input) bool { return event.when == nil || event.when(in) }
	if matcher == "" || matcher == "*" || event.subject == nil {
		return when, ""
	}
	test := func(string) bool { return false }
	if plainMatcher.MatchString(matcher) {
		names := strings.FieldsFunc(matcher, func(r rune) bool { return strings.ContainsRune("|, ", r) })
		test = func(name string) bool { return slices.Contains(names, name) }
	} else if pattern, err := regexp.Compile(matcher); err == nil {
		test = pattern.MatchString
	} else {
		fault = fmt.Sprintf("its matcher is not a regular expression that can be used here: %v", err)
	}
	return func(in Input) bool { return when(in) && slices.ContainsFunc(event.subject(in), test) }, fault
}

// claudeMode returns Claude Code's name of a mode.
func claudeMode(mode api.Mode) string {
	switch mode {
	case api.ModeAsk:
		return "default"
	case api.ModeAcceptEdits:
		return "acceptEdits"
	case api.ModeBypass:
		return "bypassPermissions"
	}
	return string(mode)
}

// claudeArgs returns the arguments of a call with the name that Claude Code has for the path
// of a file.
func claudeArgs(in Input, file string) json.RawMessage {
	var args map[string]json.RawMessage
	if exactjson.Unmarshal(in.Args, &args) != nil || args == nil {
		return in.Args
	}
	if file == "" && (exactjson.Unmarshal(args["path"], &file) != nil || file == "") {
		return in.Args
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(in.Cwd, file)
	}
	path, err := session.Encode(file)
	if err != nil {
		return in.Args
	}
	args["file_path"] = path
	encoded, err := json.Marshal(args)
	if err != nil {
		return in.Args
	}
	return encoded
}
