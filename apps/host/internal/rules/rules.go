package rules

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Reconsiderer judges the calls again that wait for an approval, after rules changed.
type Reconsiderer interface {
	Reconsider(projectID, clientID string)
}

// Requests answers the requests about rules.
type Requests struct {
	log         *slog.Logger
	permissions *Permissions
	projects    *state.Projects
	hub         *dispatch.Hub
	sessions    Reconsiderer
}

// NewRequests makes the handlers of requests about rules.
func NewRequests(log *slog.Logger, p *Permissions, projects *state.Projects, hub *dispatch.Hub, sessions Reconsiderer) *Requests {
	return &Requests{log: log, permissions: p, projects: projects, hub: hub, sessions: sessions}
}

// Endpoints are the requests about rules.
func (r *Requests) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListRules, r.listRules),
		dispatch.Serve(api.AddRule, r.addRule),
		dispatch.Serve(api.RemoveRule, r.removeRule),
	}
}

// list returns the rules that hold in a project, or with "" those of all projects:
// the narrower scope first, and in it what denies first.
func (p *Permissions) list(projectID string) []api.PermissionRule {
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

func (p *Permissions) configured(kind api.RuleKind) []permission.Rule {
	switch kind {
	case api.RuleAllow:
		return p.rules.Allow
	case api.RuleAsk:
		return p.rules.Ask
	}
	return p.rules.Deny
}

func (p *Permissions) keptRules(kind api.RuleKind, projectID string) []api.PermissionRule {
	var list []api.PermissionRule
	for _, text := range p.kept.Of(kind, projectID) {
		rule := keptRule(text, kind, projectID)
		if _, err := permission.ParseRule(text, p.tools); err != nil {
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

// listRules leaves out rules of projects that the connection does not see. Those of all
// projects apply to the projects that it sees.
func (r *Requests) listRules(_ context.Context, c *dispatch.Conn, request api.ListRulesRequest) (api.ListRulesResponse, error) {
	if err := r.knownProject(request.ProjectID); err != nil {
		return api.ListRulesResponse{}, err
	}
	list := slices.DeleteFunc(r.permissions.list(request.ProjectID), func(rule api.PermissionRule) bool {
		return rule.ProjectID != "" && !c.SeesProject(rule.ProjectID)
	})
	return api.ListRulesResponse{Rules: list}, nil
}

// addRule keeps a rule. One that opens a lot must be confirmed, and a device needs a grant
// of its own for it: with such a rule it passes over the mode that it may not set.
func (r *Requests) addRule(_ context.Context, c *dispatch.Conn, request api.RuleRequest) (response api.AddRuleResponse, err error) {
	if err := r.knownProject(request.ProjectID); err != nil {
		return response, err
	}
	if err := checkRuleKind(request.Kind); err != nil {
		return response, err
	}
	if request.Kind == api.RuleAllow {
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	rule, err := permission.ParseRule(request.Rule, r.permissions.tools)
	if err != nil {
		return response, api.Errorf(api.KindBadRequest, "%v", err)
	}
	if why := rule.Wide(); request.Kind == api.RuleAllow && why != "" {
		if err := mayOpenALot(c, rule.String(), why); err != nil {
			return response, err
		}
		if confirmed := strings.TrimSpace(request.Confirm); confirmed != rule.String() && confirmed != strings.TrimSpace(request.Rule) {
			return response, api.Errorf(api.KindUnconfirmed, "the rule %s %s, and no mode restricts that: confirm it, or add a narrower one", rule, why)
		}
	}
	if err := r.permissions.kept.Add(request.Kind, request.ProjectID, []string{rule.String()}); err != nil {
		return response, err
	}
	r.log.Info("a rule was added", "kind", request.Kind, "project", cmp.Or(request.ProjectID, "all"), "client", c.ClientID())
	r.hub.Notify(api.RulesChanged{})
	if request.Kind == api.RuleAllow {
		r.sessions.Reconsider(request.ProjectID, c.ClientID())
	}
	return api.AddRuleResponse{Rule: keptRule(rule.String(), request.Kind, request.ProjectID)}, nil
}

func (r *Requests) removeRule(_ context.Context, c *dispatch.Conn, request api.RuleRequest) (response api.RemoveRuleResponse, err error) {
	if err := checkRuleKind(request.Kind); err != nil {
		return response, err
	}
	if request.Kind != api.RuleAllow {
		if err := c.CheckMayLoosen(); err != nil {
			return response, err
		}
	}
	response.Removed, err = r.permissions.kept.Remove(request.Kind, request.ProjectID, request.Rule)
	switch {
	case err != nil:
		return response, err
	case response.Removed:
		r.log.Info("a rule was removed", "kind", request.Kind, "project", cmp.Or(request.ProjectID, "all"), "client", c.ClientID())
		r.hub.Notify(api.RulesChanged{})
		if request.Kind != api.RuleAllow {
			r.sessions.Reconsider(request.ProjectID, c.ClientID())
		}
	case request.ProjectID == "" && slices.ContainsFunc(r.permissions.configured(request.Kind), func(rule permission.Rule) bool { return rule.String() == request.Rule }):
		return response, api.Errorf(api.KindConflict, "the rule %.500s is in config.toml: remove it there and restart the host", request.Rule)
	}
	return response, nil
}

func (r *Requests) knownProject(id string) error {
	if _, ok := r.projects.Get(id); id != "" && !ok {
		return state.UnknownProject(id)
	}
	return nil
}

func checkRuleKind(kind api.RuleKind) error {
	if !slices.Contains(api.RuleKinds(), kind) {
		return api.Errorf(api.KindBadRequest, "unknown kind %.40q: use one of %s", kind, api.Names(api.RuleKinds()))
	}
	return nil
}

// mayOpenALot returns an error for a connection that may not add a wide rule.
func mayOpenALot(c *dispatch.Conn, rule, why string) error {
	if c.May(api.GrantLocal) || c.May(api.GrantRules) {
		return nil
	}
	if _, err := ident.ParseClientID(c.ClientID()); err != nil {
		return api.Errorf(api.KindNotAllowed, "the rule %s %s, and a token cannot add such rules: add it on the host's machine with `scorel permission add`, or add a narrower rule", rule, why)
	}
	return api.Errorf(api.KindNotAllowed,
		"the rule %s %s: this needs the grant %q, which this device does not have. Give it on the host's machine with `scorel host clients grant %s %s`, or add a narrower rule",
		rule, why, api.GrantRules, c.ClientID(), api.GrantRules)
}
