package gate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TextPlan is why nothing is changed in plan mode.
const textPlan = "the session is in plan mode, where nothing is changed"

// judgement gathers the verdicts about the parts of a call: the strictest counts.
type judgement struct {
	Verdict
	uncovered bool // a part asks that no rule may be proposed for
}

func (j *judgement) add(action Action, reason string) {
	if action > j.Action || j.Reason == "" && action == j.Action {
		j.Action, j.Reason = action, reason
	}
}

// byRule says that a rule lets a part pass, and byMode that the mode does where no
// rule would.
func (j *judgement) byRule(rule Rule) {
	j.add(Allow, fmt.Sprintf("the rule %s allows it", rule))
	if !slices.Contains(j.Rules, rule.String()) {
		j.Rules = append(j.Rules, rule.String())
	}
}

func (j *judgement) byMode(reason string) {
	j.add(Allow, reason)
	j.ByMode = true
}

// ask says that a part needs a person; proposal is the rule that would do, or "".
func (j *judgement) ask(reason, proposal string) {
	j.add(Ask, reason)
	if proposal == "" {
		j.uncovered = true
	} else if !slices.Contains(j.Propose, proposal) {
		j.Propose = append(j.Propose, proposal)
	}
}

func (j *judgement) done() Verdict {
	if j.uncovered {
		j.Propose = nil
	}
	if j.Action != Allow {
		j.Rules, j.ByMode = nil, false
	}
	return j.Verdict
}

func denied(reason string, risk api.Risk) Verdict {
	return Verdict{Action: Deny, Reason: reason, Risk: risk}
}

func floor(why string, risk api.Risk) Verdict {
	raise(&risk, api.RiskHigh, why)
	return Verdict{Action: Deny, Floor: true, Reason: "this is never run here: " + why, Risk: risk}
}

// match finds the first rule about a tool that fits.
func match(rules []Rule, tool string, fits func(Rule) bool) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.about(tool) && fits(r) })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

func (p Policy) judgeCommand(r Request) Verdict {
	if strings.TrimSpace(r.Command) == "" {
		return Verdict{Action: Ask, Reason: "the command cannot be told from the call", Risk: api.Risk{Level: api.RiskHigh, Reasons: []string{}}}
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
		j.ask("the command cannot be read as bash, so it was not judged", "")
	}
	if p.Mode == api.ModePlan {
		return p.planCommand(s, j)
	}
	if p.Mode == api.ModeBypass {
		if s.err == nil {
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

// ruleOnCommand applies the rules that forbid or ask. They see through wrappers
// and paths of programs.
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

// planCommand lets only what reads run.
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

// modeOnCommand decides about a command that no rule forbids.
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
	case p.Mode == api.ModeAuto && j.Risk.Level != api.RiskHigh:
		j.byMode("the mode auto allows what is not risky")
	default:
		j.ask(fmt.Sprintf("%s is not allowed without asking", words[0]), proposeCommand(c))
	}
}

// gitRuns says what a command of git runs beside itself, or "".
func (p Policy) gitRuns(c command) string {
	if c.words[0].text != "git" || p.GitRuns == nil {
		return ""
	}
	return p.GitRuns(p.located(c.dir, "."))
}

// fits tells whether a rule that allows is about this command, word for word. What
// is not known may stand only where a last * stands.
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

// quiet tells whether a redirection opens nothing that matters.
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
	case known && d.writes && edits && within(p.Dir, full) && !gitControl(full):
		j.ByMode = true
	default:
		j.ask("it opens "+p.short(full), "")
	}
}

// judgeWrite decides about a tool that changes files.
func (p Policy) judgeWrite(r Request) Verdict {
	risk := api.Risk{Level: api.RiskLow, Reasons: []string{}}
	j := &judgement{}
	var full []string
	for _, path := range r.Paths {
		path = p.absolute(p.Dir, path)
		full = append(full, path)
		p.riskOfWrite(&risk, path, false)
		switch {
		case p.closed(path):
			return floor("it touches scorel's own keys, settings or logs", risk)
		case gitHooks(path):
			return floor("it writes to .git/hooks, which git runs", risk)
		}
	}
	j.Risk = risk
	for _, path := range full {
		if rule, ok := match(p.Rules.Deny, r.Tool, func(r Rule) bool { return r.matchesPath(p, path) }); ok {
			return denied(fmt.Sprintf("the rule %s denies it", rule), risk)
		}
	}
	if p.Mode == api.ModePlan {
		return denied(textPlan, risk)
	}
	for _, path := range full {
		p.judgePath(j, r.Tool, path)
	}
	return j.done()
}

func (p Policy) judgePath(j *judgement, tool, path string) {
	fits := func(r Rule) bool { return r.matchesPath(p, path) }
	asks, asked := match(p.Rules.Ask, tool, fits)
	rule, ruled := match(p.Rules.Allow, tool, fits)
	switch {
	case p.Mode == api.ModeBypass:
		j.byMode("the mode bypass asks nobody")
	case asked:
		j.ask(fmt.Sprintf("the rule %s asks", asks), "")
	case ruled:
		j.byRule(rule)
	case (p.Mode == api.ModeAcceptEdits || p.Mode == api.ModeAuto) && within(p.Dir, path) && !gitControl(path):
		j.byMode("the mode allows edits in the project")
	default:
		j.ask("it changes "+p.short(path), p.proposePath(tool, path))
	}
}

// judgeOther decides about tools that read, fetch, or are not ours.
func (p Policy) judgeOther(r Request) Verdict {
	risk := api.Risk{Level: api.RiskLow, Reasons: []string{}}
	host := hostOf(r.URL)
	if r.Writes {
		what := r.Tool + " changes something, or reaches out"
		if host != "" {
			what = "it talks to " + host
		}
		raise(&risk, api.RiskMedium, what)
	}
	fits := func(rule Rule) bool {
		switch {
		case rule.subject == subjectURL:
			return rule.matchesHost(host)
		case rule.subject == subjectPath && len(r.Paths) > 0:
			return slices.ContainsFunc(r.Paths, func(path string) bool { return rule.matchesPath(p, p.absolute(p.Dir, path)) })
		}
		return rule.pattern == ""
	}
	j := &judgement{Verdict: Verdict{Risk: risk}}
	if rule, ok := match(p.Rules.Deny, r.Tool, fits); ok {
		return denied(fmt.Sprintf("the rule %s denies it", rule), risk)
	}
	asks, asked := match(p.Rules.Ask, r.Tool, fits)
	rule, ruled := match(p.Rules.Allow, r.Tool, fits)
	switch {
	case p.Mode == api.ModePlan && r.Writes && r.URL == "":
		return denied(textPlan, risk)
	case p.Mode == api.ModeBypass:
		j.byMode("the mode bypass asks nobody")
	case asked:
		j.ask(fmt.Sprintf("the rule %s asks", asks), "")
	case ruled:
		j.byRule(rule)
	case !r.Writes:
		j.add(Allow, "it only reads")
	case p.Mode == api.ModeAuto && r.Foreign && !r.ReadOnly:
		j.ask("its server does not say that it only reads, so nobody knows what it changes", proposeOther(r, host))
	case p.Mode == api.ModeAuto:
		j.byMode("the mode auto allows what is not risky")
	default:
		j.ask(fmt.Sprintf("%s asks before it is used", r.Tool), proposeOther(r, host))
	}
	return j.done()
}

// hostOf returns the host of an address; "" where it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// ruleOnTool applies the rules that forbid or ask for all calls of a tool; one that
// allows says nothing of the command that the tool runs.
func (p Policy) ruleOnTool(r Request) Verdict {
	every := func(Rule) bool { return true }
	if rule, ok := match(p.Rules.Deny, r.Tool, every); ok {
		return Verdict{Action: Deny, Reason: fmt.Sprintf("the rule %s denies it", rule)}
	}
	if rule, ok := match(p.Rules.Ask, r.Tool, every); ok && p.Mode != api.ModeBypass {
		return Verdict{Action: Ask, Reason: fmt.Sprintf("the rule %s asks", rule)}
	}
	return Verdict{Action: Allow}
}

// stricter returns v, or what a rule made of it.
func stricter(v, ruled Verdict) Verdict {
	if ruled.Action == Deny && v.Action != Deny || ruled.Action == Ask && v.Action == Allow {
		v.Action, v.Reason, v.Propose = ruled.Action, ruled.Reason, nil
		v.Rules, v.ByMode = nil, false
	}
	return v
}

// proposeOther returns the rule that would do: for an address its host, for a tool
// without a subject the tool.
func proposeOther(r Request, host string) string {
	switch {
	case r.Subject == "":
		return r.Tool
	case r.Subject == subjectURL && hostForm.MatchString(host):
		return r.Tool + "(domain:" + host + ")"
	}
	return ""
}
