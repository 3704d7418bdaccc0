package host

import (
	"cmp"
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/gate"
	"github.com/scorel/scorel/packages/protocol/api"
)

// list returns the rules that hold in a project, or with "" those of all projects:
// the narrower scope first, and in it what denies first.
func (p *permissions) list(projectID string) []api.PermissionRule {
	projects := p.kept.Projects()
	if projectID != "" {
		projects = []string{projectID}
	}
	list := []api.PermissionRule{}
	for _, id := range projects {
		for _, kind := range api.RuleKinds() {
			list = append(list, p.keptRules(kind, id)...)
		}
	}
	for _, kind := range api.RuleKinds() {
		for _, rule := range p.configured(kind) {
			list = append(list, api.PermissionRule{Rule: rule.String(), Kind: kind, Scope: api.ScopeUser, Source: api.RulesConfig})
		}
		list = append(list, p.keptRules(kind, "")...)
	}
	return list
}

func (p *permissions) configured(kind api.RuleKind) []gate.Rule {
	switch kind {
	case api.RuleAllow:
		return p.rules.Allow
	case api.RuleAsk:
		return p.rules.Ask
	}
	return p.rules.Deny
}

func (p *permissions) keptRules(kind api.RuleKind, projectID string) []api.PermissionRule {
	var list []api.PermissionRule
	for _, text := range p.kept.Of(kind, projectID) {
		rule := keptRule(text, kind, projectID)
		if _, err := gate.ParseRule(text, p.tools); err != nil {
			rule.Problem = err.Error()
		}
		list = append(list, rule)
	}
	return list
}

func keptRule(text string, kind api.RuleKind, projectID string) api.PermissionRule {
	scope := api.ScopeUser
	if projectID != "" {
		scope = api.ScopeProject
	}
	return api.PermissionRule{Rule: text, Kind: kind, Scope: scope, ProjectID: projectID, Source: api.RulesKept}
}

func (h *Host) listRules(_ context.Context, _ *conn, r api.ListRulesRequest) (api.ListRulesResponse, error) {
	if err := h.knownProject(r.ProjectID); err != nil {
		return api.ListRulesResponse{}, err
	}
	return api.ListRulesResponse{Rules: h.permissions.list(r.ProjectID)}, nil
}

// addRule keeps a rule. One that loosens a lot is for the machine itself: a device
// that could add it would pass over the mode that it may not set.
func (h *Host) addRule(_ context.Context, c *conn, r api.RuleRequest) (response api.AddRuleResponse, err error) {
	if err := h.knownProject(r.ProjectID); err != nil {
		return response, err
	}
	if err := checkRuleKind(r.Kind); err != nil {
		return response, err
	}
	if r.Kind == api.RuleAllow {
		if err := c.mayLoosen(); err != nil {
			return response, err
		}
	}
	rule, err := gate.ParseRule(r.Rule, h.permissions.tools)
	if err != nil {
		return response, api.Errorf(api.KindBadRequest, "%v", err)
	}
	if why := rule.Wide(); r.Kind == api.RuleAllow && why != "" && h.maxMode(c) != api.ModeBypass {
		return response, api.Errorf(api.KindNotAllowed, "the rule %s %s: add it on the host's own machine, or a narrower one here", rule, why)
	}
	if err := h.permissions.kept.Add(r.Kind, r.ProjectID, []string{rule.String()}); err != nil {
		return response, err
	}
	h.log.Info("a rule was added", "kind", r.Kind, "project", cmp.Or(r.ProjectID, "all"), "client", c.clientID)
	h.tell(api.RulesChanged{})
	if r.Kind == api.RuleAllow {
		h.sessions.Reconsider(r.ProjectID, c.clientID)
	}
	return api.AddRuleResponse{Rule: keptRule(rule.String(), r.Kind, r.ProjectID)}, nil
}

func (h *Host) removeRule(_ context.Context, c *conn, r api.RuleRequest) (response api.RemoveRuleResponse, err error) {
	if err := checkRuleKind(r.Kind); err != nil {
		return response, err
	}
	if r.Kind != api.RuleAllow {
		if err := c.mayLoosen(); err != nil {
			return response, err
		}
	}
	response.Removed, err = h.permissions.kept.Remove(r.Kind, r.ProjectID, r.Rule)
	switch {
	case err != nil:
		return response, err
	case response.Removed:
		h.log.Info("a rule was removed", "kind", r.Kind, "project", cmp.Or(r.ProjectID, "all"), "client", c.clientID)
		h.tell(api.RulesChanged{})
		if r.Kind != api.RuleAllow {
			h.sessions.Reconsider(r.ProjectID, c.clientID)
		}
	case r.ProjectID == "" && slices.ContainsFunc(h.permissions.configured(r.Kind), func(rule gate.Rule) bool { return rule.String() == r.Rule }):
		return response, api.Errorf(api.KindConflict, "the rule %.500s stands in config.toml: take it out there, and start the host again", r.Rule)
	}
	return response, nil
}

// mayLoosen refuses who may answer no approval: a rule that allows answers them all, and so
// does the loss of one that asks or denies.
func (c *conn) mayLoosen() error {
	if c.may(api.GrantApprove) {
		return nil
	}
	return api.Errorf(api.KindNotAllowed, "letting more through needs the grant %q too, which this connection does not have", api.GrantApprove)
}

func (h *Host) knownProject(id string) error {
	if _, ok := h.projects.Get(id); id != "" && !ok {
		return noProject(id)
	}
	return nil
}

func checkRuleKind(kind api.RuleKind) error {
	if !slices.Contains(api.RuleKinds(), kind) {
		return api.Errorf(api.KindBadRequest, "the kind %.40q is unknown: it must be one of %q", kind, api.RuleKinds())
	}
	return nil
}
