package sessions

import (
	"cmp"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Permissions are the permissions that a host knows.
type Permissions interface {
	// Policy returns the policy for calls of a session, without its mode.
	Policy(project api.Project, sessionID string) permission.Policy
	// Tools names the tools that rules can be about.
	Tools() permission.Tools
	// Allow stores rules that hold in a project from now on.
	Allow(projectID string, rules []string) error
}

// modeOf is a mode of the log. A missing mode, or one of a newer host, is ask.
func modeOf(mode string) api.Mode {
	if !slices.Contains(api.Modes(), api.Mode(mode)) {
		return api.ModeAsk
	}
	return api.Mode(mode)
}

// judge decides by rules and modes whether calls of a session may run. It asks no one and
// changes nothing.
type judge struct {
	*core
	turns *turns
	tools agent.Toolset
}

func (j *judge) subjects() permission.Tools {
	if j.deps.Permissions == nil {
		return permission.Tools{}
	}
	return j.deps.Permissions.Tools()
}

// checkRules refuses rules that come with a prompt and cannot be read.
func (j *judge) checkRules(rules []string) error {
	if len(rules) > api.MaxRules {
		return api.Errorf(api.KindTooLarge, "the prompt has %d rules, the limit is %d: give fewer, or put them into config.toml", len(rules), api.MaxRules)
	}
	if _, err := permission.ParseRules(rules, j.subjects()); err != nil {
		return api.Errorf(api.KindBadRequest, "%v", err)
	}
	return nil
}

// policy returns the policy for calls of the running turn.
func (j *judge) policy() permission.Policy {
	p := permission.Policy{Dir: j.project.Path}
	if j.deps.Permissions != nil {
		p = j.deps.Permissions.Policy(j.project, j.id)
	}
	if limits, ok := j.limits(); ok {
		p = restricted(p, limits, j.subjects())
	}
	p.Mode = j.boundByParent(cmp.Or(j.summary.Mode, api.ModeAsk))
	if j.turns.running == nil {
		return p
	}
	prompt := j.turns.running.prompt
	if most := api.Mode(prompt.MaxMode); most != "" {
		p.Mode = permission.Lower(p.Mode, most)
	}
	if allow, err := permission.ParseRules(prompt.AllowRules, j.subjects()); err == nil {
		p.Rules = p.Rules.With(permission.Rules{Allow: allow})
	}
	return p
}

// mentions returns what the sender of the running turn's prompt may attach of MCP servers. One who
// cannot answer approvals attaches what servers list.
func (j *judge) mentions() agent.Mentions {
	may := agent.Mentions{Denied: j.policy().DeniesAll}
	if j.turns.running != nil {
		most := api.Mode(j.turns.running.prompt.MaxMode)
		may.Listed = most != "" && permission.Lower(most, api.ModeAsk) == most
	}
	return may
}

// allowsAll reports whether the prompt of the running turn allows every call that would be asked
// for.
func (j *judge) allowsAll() bool { return j.turns.running != nil && j.turns.running.prompt.AllowAll }

// limits narrow the calls of the running turn: those of a subagent's session, or those of the
// agent that the session runs as.
func (j *judge) limits() (session.ChildRecord, bool) {
	var child session.ChildRecord
	if j.parent != "" && read.LastCustom(j.log.Tree(), session.CustomChild, &child) {
		return child, true
	}
	if j.turns.running != nil && j.turns.running.limits != nil {
		return *j.turns.running.limits, true
	}
	return child, false
}

// boundByParent returns a mode, or that of the parent if it is lower.
func (j *judge) boundByParent(mode api.Mode) api.Mode {
	if j.parent == "" {
		return mode
	}
	if most, ok := j.others.modeOf(j.parent); ok {
		mode = permission.Lower(mode, cmp.Or(most, api.ModeAsk))
	}
	return mode
}

// request returns a call in the terms of package permission. The names of arguments are
// compared as the tools compare them.
func (j *judge) request(call agent.Call, what agent.Description) permission.Request {
	r := permission.Request{Tool: call.Name, As: what.As, Subject: j.subjects()[call.Name], Writes: true, Paths: what.Paths, Foreign: what.Foreign, ReadOnly: what.ReadOnly}
	if tool := j.tool(call.Name); tool != nil {
		r.Writes, r.Note = tool.Risk().Changes(), tool.Risk() == agent.RiskNote && !j.fromOutside()
	}
	var args struct {
		Command string `json:"command"`
		Path    string `json:"path"`
		URL     string `json:"url"`
	}
	if exactjson.Unmarshal(call.Arguments, &args) != nil {
		args.Command, args.Path, args.URL = "", "", ""
	}
	if what.Command != "" {
		r.Command = what.Command
	}
	switch r.Subject {
	case "command":
		r.Command = args.Command
	case "url":
		r.URL = args.URL
	case "path":
		if len(r.Paths) == 0 && (args.Path != "" || !r.Writes) {
			r.Paths = []string{cmp.Or(args.Path, ".")}
		}
	}
	return r
}

// fromOutside reports whether the session has text from outside. A note that such text causes
// would be given to later sessions, which have no text from outside and may do more, so it is
// judged like any other change.
func (j *judge) fromOutside() bool { return read.FromOutside(j.log.Tree()) }

func (j *judge) tool(name string) agent.Tool {
	for _, t := range j.tools.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// ruledTools are the tools of a turn. A tool that reads is judged like one that writes where a
// rule, or a limit of the agent, forbids it or asks for it.
func (j *judge) ruledTools(tools []agent.Tool, child session.ChildRecord) []agent.Tool {
	if j.deps.Permissions == nil {
		return tools
	}
	policy := func() permission.Policy {
		return restricted(j.deps.Permissions.Policy(j.project, j.id), child, j.subjects())
	}
	tools = slices.Clone(tools)
	for i, t := range tools {
		if !t.Risk().Changes() {
			tools[i] = ruled{t, policy}
		}
	}
	return tools
}

// ruled is a tool that reads, and is judged where a rule is about it. Rules change while a
// turn runs, and hold from the next call on.
type ruled struct {
	agent.Tool
	policy func() permission.Policy
}

// Risk implements agent.Tool.
func (r ruled) Risk() agent.Risk {
	name, policy := r.Spec().Name, r.policy()
	for _, rules := range [][]permission.Rule{policy.Rules.Deny, policy.Rules.Ask, policy.Only} {
		if permission.Concerns(rules, name) {
			return agent.RiskWrite
		}
	}
	return r.Tool.Risk()
}
