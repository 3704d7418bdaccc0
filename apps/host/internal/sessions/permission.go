package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Permissions are what a host knows of what is allowed.
type Permissions interface {
	// Policy returns what calls of a session are judged by, but for its mode.
	Policy(project api.Project, sessionID string) gate.Policy
	// Tools names the tools that rules can be about.
	Tools() gate.Tools
	// Allow keeps rules that hold in a project from now on.
	Allow(projectID string, rules []string) error
}

// modeOf is a mode of the log; what it does not say, or a newer host said, is ask.
func modeOf(mode string) api.Mode {
	if !slices.Contains(api.Modes(), api.Mode(mode)) {
		return api.ModeAsk
	}
	return api.Mode(mode)
}

// SetMode says how much the agent may do without asking, from the next call on. What waits
// and is allowed by a higher mode goes on; a lower one changes nothing for what waits.
func (s *Session) SetMode(ctx context.Context, clientID string, mode api.Mode) (err error) {
	doErr := s.do(ctx, func() {
		before := s.summary.Mode
		if before == mode {
			return
		}
		err = s.keepCustom(session.CustomMode, session.ModeRecord{Mode: string(mode)}, clientID)
		s.touch()
		if err == nil && gate.Lower(before, mode) == before {
			s.reconsider(clientID)
			s.deps.reconsider(func(k *known) bool { return k.header.ChildOf == s.id }, clientID) // its mode bounds theirs
		}
	})
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

func (s *Session) toolSubjects() gate.Tools {
	if s.deps.Permissions == nil {
		return gate.Tools{}
	}
	return s.deps.Permissions.Tools()
}

func (s *Session) checkRules(rules []string) error {
	if len(rules) > api.MaxRules {
		return api.Errorf(api.KindTooLarge, "%d rules come with the prompt, the limit is %d: give fewer, or put them into config.toml", len(rules), api.MaxRules)
	}
	if _, err := gate.ParseRules(rules, s.toolSubjects()); err != nil {
		return api.Errorf(api.KindBadRequest, "%v", err)
	}
	return nil
}

// joinTurn lowers what the running turn may do to what the sender of a steer may: who
// cannot answer approvals does not get those that were given before.
func (s *Session) joinTurn(steer session.QueuedPrompt) {
	if s.turn == nil || steer.MaxMode == "" {
		return
	}
	s.lower(steer.MaxMode)
	most, prompt := api.Mode(steer.MaxMode), &s.turn.prompt
	prompt.MaxMode = string(gate.Lower(most, cmp.Or(api.Mode(prompt.MaxMode), api.ModeBypass)))
	if gate.Lower(most, api.ModeAsk) == most {
		prompt.AllowAll, prompt.AllowRules = false, nil
	}
}

// policy is what calls of the running turn are judged by.
func (s *Session) policy() gate.Policy {
	p := gate.Policy{Dir: s.project.Path}
	if s.deps.Permissions != nil {
		p = s.deps.Permissions.Policy(s.project, s.id)
	}
	var child session.ChildRecord
	if s.parentMode != nil && read.LastCustom(s.log.Tree(), session.CustomChild, &child) {
		p = restricted(p, child, s.toolSubjects())
	}
	p.Mode = s.lowered(cmp.Or(s.summary.Mode, api.ModeAsk))
	if s.turn == nil {
		return p
	}
	if most := api.Mode(s.turn.prompt.MaxMode); most != "" {
		p.Mode = gate.Lower(p.Mode, most)
	}
	if allow, err := gate.ParseRules(s.turn.prompt.AllowRules, s.toolSubjects()); err == nil {
		p.Rules = p.Rules.With(gate.Rules{Allow: allow})
	}
	return p
}

// request is a call as the gate reads it. The names of arguments are compared as
// the tools themselves do.
func (s *Session) request(call agent.Call, what agent.Description) gate.Request {
	r := gate.Request{Tool: call.Name, Subject: s.toolSubjects()[call.Name], Writes: true, Paths: what.Paths, Foreign: what.Foreign, ReadOnly: what.ReadOnly}
	if tool := s.tool(call.Name); tool != nil {
		r.Writes = tool.Risk() == agent.RiskWrite
	}
	var args struct {
		Command string `json:"command"`
		Path    string `json:"path"`
		URL     string `json:"url"`
	}
	if json.Unmarshal(call.Arguments, &args) != nil {
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

func (s *Session) tool(name string) agent.Tool {
	for _, t := range s.tools.Tools() {
		if t.Spec().Name == name {
			return t
		}
	}
	return nil
}

// ruledTools are the tools of a turn. One that reads goes through the gate like one
// that writes where a rule forbids or asks, or what a child was made with.
func (s *Session) ruledTools(tools []agent.Tool, child session.ChildRecord) []agent.Tool {
	if s.deps.Permissions == nil {
		return tools
	}
	policy := func() gate.Policy {
		return restricted(s.deps.Permissions.Policy(s.project, s.id), child, s.toolSubjects())
	}
	tools = slices.Clone(tools)
	for i, t := range tools {
		if t.Risk() != agent.RiskWrite {
			tools[i] = ruled{t, policy}
		}
	}
	return tools
}

// ruled is a tool that reads, and asks the gate first where a rule is about it. Rules come
// and go while a turn runs, and hold from the next call on.
type ruled struct {
	agent.Tool
	policy func() gate.Policy
}

// Risk implements agent.Tool.
func (r ruled) Risk() agent.Risk {
	name, policy := r.Spec().Name, r.policy()
	for _, rules := range [][]gate.Rule{policy.Rules.Deny, policy.Rules.Ask, policy.Only} {
		if gate.Concerns(rules, name) {
			return agent.RiskWrite
		}
	}
	return r.Tool.Risk()
}
