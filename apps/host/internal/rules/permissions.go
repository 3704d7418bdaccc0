// Package rules keeps the permission rules of a host, makes the policy of a session from
// them, and answers the requests about rules.
package rules

import (
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Permissions are the rules of config.toml and those that people kept since. It implements
// sessions.Permissions, and its methods may be called from any goroutine.
type Permissions struct {
	// Static after Load.
	tools       permission.Tools
	rules       permission.Rules // of config.toml
	kept        *state.Rules
	paths       state.Paths
	confinement Confinement

	changed func() // notifies the clients that rules were added or removed
	lookups machine.Lookups
}

// Confinement says how commands are confined.
type Confinement struct {
	PrivateHidden  bool // commands do not see the home of scorel
	UnconfinedRoot bool // commands run as root, and no sandbox confines them
}

// Load reads the rules of config.toml and the kept ones. changed is called after Allow kept
// a rule.
func Load(paths state.Paths, config state.Permissions, catalog *tool.Catalog, confinement Confinement, changed func()) (*Permissions, error) {
	p := &Permissions{tools: Subjects(catalog), paths: paths, confinement: confinement, changed: changed}
	for _, list := range []struct {
		name  string
		texts []string
		rules *[]permission.Rule
	}{{"allow", config.Allow, &p.rules.Allow}, {"ask", config.Ask, &p.rules.Ask}, {"deny", config.Deny, &p.rules.Deny}} {
		rules, err := permission.ParseRules(list.texts, p.tools)
		if err != nil {
			return nil, state.Misconfigured(fmt.Errorf("%s: permissions.%s: %w", paths.Config(), list.name, err))
		}
		*list.rules = rules
	}
	var err error
	p.kept, err = state.LoadRules(paths.Allowed())
	return p, err
}

// Subjects are the tools that rules can be about, each with the argument that they match.
func Subjects(catalog *tool.Catalog) permission.Tools {
	tools := permission.Tools{}
	for _, d := range catalog.Definitions() {
		tools[d.Spec.Name] = d.Subject
	}
	return tools
}

// Tools implements sessions.Permissions.
func (p *Permissions) Tools() permission.Tools { return p.tools }

// Allow implements sessions.Permissions.
func (p *Permissions) Allow(projectID string, rules []string) error {
	if err := p.kept.Add(api.RuleAllow, projectID, rules); err != nil {
		return err
	}
	p.changed()
	return nil
}

// Policy implements sessions.Permissions.
func (p *Permissions) Policy(project api.Project, sessionID string) permission.Policy {
	policy := p.lookups.Fill(permission.Policy{
		Rules: p.rules, Dir: project.Path, Home: machine.UserHome(),
		Private: []string{machine.ResolveLinks(p.paths.Home)}, Open: []string{machine.ResolveLinks(p.paths.Scratch(sessionID))},
		Readable: machine.ReadableParts(p.paths), PrivateHidden: p.confinement.PrivateHidden, UnconfinedRoot: p.confinement.UnconfinedRoot,
	})
	for _, projectID := range []string{project.ID, ""} {
		policy.Rules = policy.Rules.With(permission.Rules{
			Allow: p.parsed(api.RuleAllow, projectID), Ask: p.parsed(api.RuleAsk, projectID), Deny: p.parsed(api.RuleDeny, projectID),
		})
	}
	return policy
}

// parsed returns the kept rules of a kind and project. It leaves out one that can no longer
// be parsed, for example because its tool is gone.
func (p *Permissions) parsed(kind api.RuleKind, projectID string) []permission.Rule {
	var rules []permission.Rule
	for _, text := range p.kept.Of(kind, projectID) {
		if rule, err := permission.ParseRule(text, p.tools); err == nil {
			rules = append(rules, rule)
		}
	}
	return rules
}
