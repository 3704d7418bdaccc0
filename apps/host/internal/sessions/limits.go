package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/session"
)

// childRecord returns what the session was made for; the zero value where a person
// made it.
func (u *setup) childRecord(ctx context.Context) (record session.ChildRecord, err error) {
	if u.parent == "" {
		return record, nil
	}
	err = u.do(ctx, func() { read.LastCustom(u.log.Tree(), session.CustomChild, &record) })
	return record, clientError(err)
}

// permitted are the tools that an agent may use.
func permitted(tools []agent.Tool, child session.ChildRecord) []agent.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t agent.Tool) bool {
		name := t.Spec().Name
		return child.Tools != nil && !names(child.Tools, name) || names(child.Without, name)
	})
}

// restricted is a policy with the limits of an agent. A rule that cannot be read any more denies
// its tool.
func restricted(p permission.Policy, child session.ChildRecord, tools permission.Tools) permission.Policy {
	add := func(to *[]permission.Rule, texts []string) {
		for _, text := range texts {
			rule, err := permission.ParseRule(text, tools)
			if err == nil {
				*to = append(*to, rule)
				continue
			}
			name, _, _ := strings.Cut(text, "(")
			if rule, err = permission.ParseRule(name, tools); err == nil { // else there is no such tool
				p.Rules.Deny = append(p.Rules.Deny, rule)
			}
		}
	}
	p.Only, p.Rules.Deny = nil, slices.Clone(p.Rules.Deny)
	add(&p.Only, child.Only)
	add(&p.Rules.Deny, child.Deny)
	return p
}

// names reports whether a list of names and beginnings holds a name.
func names(list []string, name string) bool {
	return slices.ContainsFunc(list, func(pattern string) bool {
		beginning, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, beginning)
	})
}
