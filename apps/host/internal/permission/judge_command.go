package permission

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

func (p Policy) judgeCommand(r Request) Verdict {
	if strings.TrimSpace(r.Command) == "" {
		return Verdict{Action: Ask, Reason: "the call does not show which command it runs", Risk: api.Risk{Level: api.RiskHigh, Reasons: []string{}}}
	}
	s := p.readScript(r.Command)
	risk := p.riskOfScript(s)
	if why := p.floorOfScript(s); why != "" {
		return floor(why, risk)
	}
	j := &judgement{Verdict: Verdict{Risk: risk}}
	for _, c := range s.commands {
		if p.ruleOnCommand(j, c) == Deny {
			return denied(j.Reason, risk)
		}
	}
	if s.err != nil {
		j.ask("the command cannot be parsed as bash, so it was not checked", "")
	}
	fetched := p.runsDownload(s)
	if fetched {
		j.ask(textDownload, "")
	}
	if p.Mode == api.ModePlan {
		return p.planCommand(s, j)
	}
	if p.Mode == api.ModeBypass {
		if s.err == nil && !fetched {
			j.Action, j.ByMode = Allow, true
		}
		return j.done()
	}
	for _, what := range s.opaque {
		j.ask(what, "")
	}
	for _, c := range s.commands {
		if !c.wrapped {
			p.modeOnCommand(j, s, c)
		}
	}
	for _, d := range s.redirects {
		p.judgeRedirect(j, d)
	}
	return j.done()
}

// ruleOnCommand applies the rules that deny or ask. They see through wrappers and the paths
// of programs.
func (p Policy) ruleOnCommand(j *judgement, c command) Action {
	words := c.plain()
	short := append([]string{base(words[0])}, words[1:]...)
	fits := func(r Rule) bool { return r.matchesWords(words) || r.matchesWords(short) }
	if rule, ok := match(p.Rules.Deny, "bash", fits); ok {
		j.add(Deny, fmt.Sprintf("the rule %s denies it", rule))
		return Deny
	}
	if rule, ok := match(p.Rules.Ask, "bash", fits); ok {
		j.ask(fmt.Sprintf("the rule %s asks", rule), "")
		return Ask
	}
	return Allow
}

// planCommand allows only commands that read.
func (p Policy) planCommand(s *script, j *judgement) Verdict {
	reads := s.err == nil && len(s.opaque) == 0 && !s.compound
	for _, c := range s.commands {
		reads = reads && onlyReads(c) && p.staysInside(c) && p.gitRuns(c) == ""
	}
	for _, d := range s.redirects {
		reads = reads && p.quiet(d)
	}
	if !reads {
		return denied(textPlan, j.Risk)
	}
	return j.done()
}

// modeOnCommand judges a command that no rule denies.
func (p Policy) modeOnCommand(j *judgement, s *script, c command) {
	words := c.plain()
	rule, ruled := match(p.Rules.Allow, "bash", func(r Rule) bool { return c.fits(r) })
	switch {
	case ruled:
		j.byRule(rule)
	case !s.compound && onlyReads(c) && p.staysInside(c):
		if runs := p.gitRuns(c); runs != "" && p.Mode != api.ModeAuto {
			j.ask(runs, proposeCommand(c))
			return
		}
		j.add(Allow, "it only reads")
	case p.Mode == api.ModeAuto && p.UnconfinedRoot:
		j.ask(textUnheld, proposeCommand(c))
	case p.Mode == api.ModeAuto && j.Risk.Level != api.RiskHigh:
		j.byMode("the mode auto allows what is not risky")
	default:
		j.ask(fmt.Sprintf("%s is not allowed without asking", words[0]), proposeCommand(c))
	}
}

// gitRuns describes what a git command runs besides itself, or returns "".
func (p Policy) gitRuns(c command) string {
	if c.words[0].text != "git" || p.GitRuns == nil {
		return ""
	}
	return p.GitRuns(p.located(c.dir, "."))
}

// fits reports whether an allow rule covers this command, word for word. Words that are not
// known in advance may only match a trailing *.
func (c command) fits(r Rule) bool {
	if c.assigns || !r.matchesWords(c.plain()) {
		return false
	}
	for i, w := range c.words {
		open := r.pattern == "" || len(r.words) > 0 && r.words[len(r.words)-1] == "*" && i >= len(r.words)-1
		if w.kind == opaqueWord || w.kind != literalWord && !open {
			return false
		}
	}
	return true
}

// quiet reports whether a redirection opens nothing of importance.
func (p Policy) quiet(d redirect) bool {
	return d.target.kind == literalWord && silent.MatchString(p.located(d.dir, d.target.text))
}

func (p Policy) judgeRedirect(j *judgement, d redirect) {
	full := p.located(d.dir, d.target.text)
	known := d.dir != "" && d.target.kind == literalWord
	edits := p.Mode == api.ModeAcceptEdits || p.Mode == api.ModeAuto
	switch {
	case p.quiet(d):
	case known && !d.writes && within(p.Dir, full) && !secret(full):
	case known && d.writes && edits && within(p.Dir, full) && !p.runByGit(full) && !p.replaces(d):
		j.ByMode = true
	default:
		j.ask("it opens "+p.short(full), "")
	}
}
