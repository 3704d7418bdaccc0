package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Toolset is a group of related tools.
type Toolset string

// The groups in display order.
const (
	Base        Toolset = "base"        // files, search, commands, web
	Planning    Toolset = "planning"    // the task list
	Interaction Toolset = "interaction" // questions to people
	Memory      Toolset = "memory"      // notes kept between sessions
	Skill       Toolset = "skill"       // instructions and scripts written by others
	Delegation  Toolset = "crew"        // other agents
	Chat        Toolset = "chat"        // the chats that follow the session
)

// Toolsets returns all groups in display order.
func Toolsets() []Toolset {
	return []Toolset{Base, Planning, Interaction, Memory, Skill, Delegation, Chat}
}

// Definition describes a tool independently of a session.
type Definition struct {
	Toolset Toolset
	Spec    agent.ToolSpec
	Risk    agent.Risk
	// Subject is the argument that permission rules match: a command, a path or an address.
	// "" if there is none.
	Subject string
}

// entry is one line of the registry.
type entry struct {
	toolset Toolset
	subject string
	make    func(*Set) agent.Tool
}

// registry lists every tool.
func registry() []entry {
	return []entry{
		{Base, "command", func(s *Set) agent.Tool { return newBash(s) }},
		{Base, "", func(s *Set) agent.Tool { return bashJob{s} }},
		{Base, "url", func(s *Set) agent.Tool { return newFetchURL(s) }},
		{Base, "path", func(s *Set) agent.Tool { return s.onFiles(globTool{s}) }},
		{Base, "path", func(s *Set) agent.Tool { return s.onFiles(grepTool{s}) }},
		{Base, "path", func(s *Set) agent.Tool { return s.onFiles(listDir{s}) }},
		{Base, "path", func(s *Set) agent.Tool { return s.onFiles(patchTool{s}) }},
		{Base, "path", func(s *Set) agent.Tool { return s.onFiles(readFile{s}) }},
		{Base, "path", func(s *Set) agent.Tool { return s.onFiles(writeFile{s}) }},
		{Planning, "", func(s *Set) agent.Tool { return todoTool{s} }},
		{Interaction, "", func(s *Set) agent.Tool { return clarify{s} }},
		{Memory, "", func(s *Set) agent.Tool { return memoryRecall{s} }},
		{Memory, "", func(s *Set) agent.Tool { return memorySave{s} }},
		{Skill, "", func(s *Set) agent.Tool { return executeSkill{s} }},
		{Skill, "", func(s *Set) agent.Tool { return readSkill{s} }},
		{Delegation, "", func(s *Set) agent.Tool { return delegateParallel{s} }},
		{Delegation, "", func(s *Set) agent.Tool { return delegateTask{s} }},
		{Chat, "", func(s *Set) agent.Tool { return sendFile{s} }},
	}
}

// Catalog creates the tools of every session of a host.
type Catalog struct {
	options Options
	locks   pathLocks
	lost    lost
}

// NewCatalog returns the catalog of a host.
func NewCatalog(options Options) *Catalog { return &Catalog{options: options} }

func (c *Catalog) entries() []entry {
	return slices.DeleteFunc(registry(), func(e entry) bool { return e.toolset == Memory && c.options.Memory == nil })
}

// Definitions returns all tools, sorted by group and name.
func (c *Catalog) Definitions() []Definition {
	s := c.Open(Scope{})
	defer s.Close()
	var all []Definition
	for i, e := range c.entries() {
		t := s.tools[i]
		all = append(all, Definition{Toolset: e.toolset, Spec: t.Spec(), Risk: t.Risk(), Subject: e.subject})
	}
	return all
}

// Scope is what a session provides to its tools.
type Scope struct {
	// Session is the id that its commands are recorded under.
	Session string
	// Scratch is the absolute path of a folder for the session, created when needed, for
	// output that is too long to show and for the task list. "" disables both.
	Scratch string
	// Subagents runs subagents; if it is nil, the session cannot delegate.
	Subagents Subagents
	// Nested finds the instructions that apply to a file, in the folders between cwd and
	// the file, except those for which has returns true. A nil Nested finds none.
	Nested func(cwd, file string, has func(path string) bool) []session.InstructionFile
}

// Set is the tools of one session and their shared state. It implements agent.Toolset.
type Set struct {
	*Catalog
	scope   Scope
	private guard
	seen    seenFiles
	spill   spill
	todos   todoList
	jobs    jobs
	notices notices
	patches patchState
	skills  []session.SkillInfo         // skills that the model is offered
	manual  []session.SkillInfo         // skills that only people invoke
	later   []session.SkillInfo         // skills that people may invoke and no tool description lists
	agents  atomic.Pointer[[]AgentInfo] // agents that the model can delegate to
	entries []entry                     // lines of the registry that apply to the session
	tools   []agent.Tool                // one per entry
}

// Open creates the tools of a session.
func (c *Catalog) Open(scope Scope) *Set {
	s := &Set{Catalog: c, scope: scope, entries: c.entries()}
	var own []string
	if scope.Scratch != "" {
		own = []string{scope.Scratch}
	}
	s.private = newGuard(c.options.Private, own, c.options.Readable)
	s.spill.dir = scope.Scratch
	s.todos.dir = scope.Scratch
	s.jobs.ctx, s.jobs.cancel = context.WithCancel(context.Background())
	for _, e := range s.entries {
		s.tools = append(s.tools, e.make(s))
	}
	return s
}

// Tools returns the tools, sorted by group and name.
func (s *Set) Tools() []agent.Tool {
	out := make([]agent.Tool, 0, len(s.tools))
	for i, e := range s.entries {
		if s.serves(e.toolset) {
			out = append(out, s.tools[i])
		}
	}
	return out
}

// serves reports whether the session has anything for a group of tools to work with.
func (s *Set) serves(group Toolset) bool {
	switch group {
	case Skill:
		return len(s.skills) > 0
	case Delegation:
		return s.scope.Subagents != nil && len(s.knownAgents()) > 0
	case Chat:
		return s.options.TakesFiles != nil && s.options.TakesFiles(s.scope.Session)
	}
	return true
}

// Close ends every process of the session and waits for it to exit.
func (s *Set) Close() {
	s.jobs.cancel()
	s.jobs.wg.Wait()
}

// Bounded shortens the text of a result produced outside this package, to the bounds of
// built-in tools.
func (s *Set) Bounded(name string, result agent.Result) agent.Result {
	result.Content = boundImages(result.Content)
	text := result.Content.Plain()
	if len(text) <= MaxBytes && strings.Count(text, "\n") < MaxLines {
		return result
	}
	rows := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	content := session.Content{session.Text(s.firstRows(name, rows, MaxLines, "lines", "ask for less"))}
	for _, block := range result.Content {
		if block.Type != session.BlockText {
			content = append(content, block)
		}
	}
	result.Content = content
	return result
}

// Object encodes the result of a call for programs: {ok, text, details, error}, and for
// patch {ok, strategy, count, diff, error}.
func Object(name string, result agent.Result) json.RawMessage {
	if name == patchName {
		var outcome patchOutcome
		if json.Unmarshal(result.Details, &outcome) == nil {
			return details(outcome)
		}
	}
	object := struct {
		OK      bool            `json:"ok"`
		Text    string          `json:"text"`
		Details json.RawMessage `json:"details,omitempty"`
		Error   *string         `json:"error"`
	}{OK: !result.IsError, Text: result.Content.Plain(), Details: result.Details}
	if result.IsError {
		text := object.Text
		object.Error, object.Text = &text, ""
	}
	return details(object)
}
