package tool

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Toolset is a group of tools that belong together.
type Toolset string

// The groups, in the order in which they are listed.
const (
	Base        Toolset = "base"        // files, search, commands, the net
	Planning    Toolset = "planning"    // what is to be done
	Interaction Toolset = "interaction" // questions to people
	Memory      Toolset = "memory"      // what is kept between sessions
	Skill       Toolset = "skill"       // instructions and scripts of others
	Delegation  Toolset = "crew"        // other agents
)

// Toolsets returns all groups in their order.
func Toolsets() []Toolset { return []Toolset{Base, Planning, Interaction, Memory, Skill, Delegation} }

// Definition is what is known of a tool without a session.
type Definition struct {
	Toolset Toolset
	Spec    agent.ToolSpec
	Risk    agent.Risk
	// Subject names the argument that the patterns of a permission rule are
	// compared with: a command, a path or an address. "" when there is none.
	Subject string
}

// entry is a line of the registry.
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
		{Base, "path", func(s *Set) agent.Tool { return globTool{s} }},
		{Base, "path", func(s *Set) agent.Tool { return grepTool{s} }},
		{Base, "path", func(s *Set) agent.Tool { return listDir{s} }},
		{Base, "path", func(s *Set) agent.Tool { return patchTool{s} }},
		{Base, "path", func(s *Set) agent.Tool { return readFile{s} }},
		{Base, "path", func(s *Set) agent.Tool { return writeFile{s} }},
		{Planning, "", func(s *Set) agent.Tool { return todoTool{s} }},
		{Interaction, "", func(s *Set) agent.Tool { return clarify{s} }},
		{Memory, "", func(s *Set) agent.Tool { return memoryRecall{s} }},
		{Memory, "", func(s *Set) agent.Tool { return memorySave{s} }},
		{Skill, "", func(s *Set) agent.Tool { return executeSkill{s} }},
		{Skill, "", func(s *Set) agent.Tool { return readSkill{s} }},
		{Delegation, "", func(s *Set) agent.Tool { return delegateParallel{s} }},
		{Delegation, "", func(s *Set) agent.Tool { return delegateTask{s} }},
	}
}

// Catalog makes the tools of every session of a host.
type Catalog struct {
	options Options
	locks   pathLocks
}

// NewCatalog returns the catalog of a host.
func NewCatalog(options Options) *Catalog { return &Catalog{options: options} }

func (c *Catalog) entries() []entry {
	return slices.DeleteFunc(registry(), func(e entry) bool { return e.toolset == Memory && c.options.Memory == "" })
}

// Definitions returns what there is, by group and name.
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

// Scope is what a session gives to its tools.
type Scope struct {
	// Session is the id under which its commands are noted.
	Session string
	// Scratch is an absolute folder of the session's own, made when it is needed:
	// output that is too long to show, and the tasks. "" keeps none.
	Scratch string
	// Crew runs other agents; without one the session cannot give tasks to any.
	Crew Crew
	// Nested finds the instructions for a file below cwd that lie between the two, but
	// for those that has knows; nil finds none.
	Nested func(cwd, file string, has func(path string) bool) []session.InstructionFile
}

// Set is the tools of one session with what they share. It implements
// agent.Toolset.
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
	skills  []session.SkillInfo // those that the model is offered
	manual  []session.SkillInfo // those that only a person calls
	agents  []AgentInfo         // those that the model can give tasks to
	entries []entry             // lines of the registry that the session has
	tools   []agent.Tool        // one for each of them
}

// Open makes the tools of a session.
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

// Tools returns the tools by group and name.
func (s *Set) Tools() []agent.Tool {
	out := make([]agent.Tool, 0, len(s.tools))
	for i, e := range s.entries {
		if s.serves(e.toolset) {
			out = append(out, s.tools[i])
		}
	}
	return out
}

// serves tells whether the session has something for the tools of a group to act on.
func (s *Set) serves(group Toolset) bool {
	switch group {
	case Skill:
		return len(s.skills) > 0
	case Delegation:
		return s.scope.Crew != nil && len(s.agents) > 0
	}
	return true
}

// Close ends every process of the session and waits for it.
func (s *Set) Close() {
	s.jobs.cancel()
	s.jobs.wg.Wait()
}

// Bounded shortens the text of a result that was made elsewhere, as every tool
// here does with its own.
func (s *Set) Bounded(name string, result agent.Result) agent.Result {
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

// Object is the result of a call as a program reads it: {ok, text, details,
// error}, and for patch {ok, strategy, count, diff, error}.
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
