package permission

import (
	"fmt"
	"net/url"
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
)

// textPlan is the reason for denying changes in plan mode.
const textPlan = "the session is in plan mode, which allows no changes"

// textUnheld is the reason why the mode auto asks about a command that runs as root.
const textUnheld = "the host runs as root without a strong sandbox"

// judgement collects the verdicts about the parts of a call: the strictest wins.
type judgement struct {
	Verdict
	uncovered bool // a part asks and no rule may be proposed for it
}

func (j *judgement) add(action Action, reason string) {
	if action > j.Action || j.Reason == "" && action == j.Action {
		j.Action, j.Reason = action, reason
	}
}

// byRule records that a rule allows a part, and byMode that the mode allows one that no
// rule covers.
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

// ask records that a part needs approval. proposal is the rule that would allow it, or "".
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

// match returns the first rule for a tool that fits.
func match(rules []Rule, tool string, fits func(Rule) bool) (Rule, bool) {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.about(tool) && fits(r) })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// judgeWrite judges a tool that changes files.
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
	switch {
	case p.settled(j, tool, func(r Rule) bool { return r.matchesPath(p, path) && (!gitControl(path) || r.namesGit()) }):
	case (p.Mode == api.ModeAcceptEdits || p.Mode == api.ModeAuto) && within(p.Dir, path) && !p.runByGit(path):
		j.byMode("the mode allows edits in the project")
	default:
		j.ask(p.describeWrite(path), p.proposePath(tool, path))
	}
}

// namesGit reports whether a rule covers git's own files too. A pattern that does not
// mention them, such as src/**, does not.
func (r Rule) namesGit() bool { return r.pattern == "" || gitPart.MatchString(r.pattern) }

// settled decides a part that no rule denies, by the mode bypass or by a rule that asks or
// allows. It returns false if none of them applies.
func (p Policy) settled(j *judgement, tool string, fits func(Rule) bool) bool {
	asks, asked := match(p.Rules.Ask, tool, fits)
	rule, ruled := match(p.Rules.Allow, tool, fits)
	switch {
	case p.Mode == api.ModeBypass:
		j.byMode("the mode bypass never asks")
	case asked:
		j.ask(fmt.Sprintf("the rule %s asks", asks), "")
	case ruled:
		j.byRule(rule)
	default:
		return false
	}
	return true
}

// judgeOther judges tools that read, fetch, or come from a third party.
func (p Policy) judgeOther(r Request) Verdict {
	risk := api.Risk{Level: api.RiskLow, Reasons: []string{}}
	host := hostOf(r.URL)
	if r.Writes && !r.Note {
		what := r.Tool + " changes something or uses the network"
		if host != "" {
			what = "it connects to " + host
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
	switch {
	case p.Mode == api.ModePlan && r.Writes && r.URL == "":
		return denied(textPlan, risk)
	case p.settled(j, r.Tool, fits):
	case !r.Writes:
		j.add(Allow, "it only reads")
	case r.Note:
		j.add(Allow, "it only saves a note")
	case p.Mode == api.ModeAuto && r.Foreign && !r.ReadOnly:
		j.ask("its server does not declare it read-only, so it may change anything", proposeOther(r, host))
	case p.Mode == api.ModeAuto:
		j.byMode("the mode auto allows what is not risky")
	default:
		j.ask(fmt.Sprintf("%s asks before it is used", r.Tool), proposeOther(r, host))
	}
	return j.done()
}

// hostOf returns the host of an address, or "" if it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// ruleOnTool applies the rules that deny or ask for all calls of a tool. A rule that allows
// the tool does not allow the command that the tool runs.
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

// stricter returns the stricter of v and the verdict of a rule.
func stricter(v, ruled Verdict) Verdict {
	if ruled.Action == Deny && v.Action != Deny || ruled.Action == Ask && v.Action == Allow {
		v.Action, v.Reason, v.Propose = ruled.Action, ruled.Reason, nil
		v.Rules, v.ByMode = nil, false
	}
	return v
}

// strictest returns the stricter of two verdicts about one call. What both allow is allowed by the
// rules of both. No rule is proposed: it would be about one of the tools only.
func strictest(a, b Verdict) Verdict {
	if b.Action > a.Action {
		a, b = b, a
	}
	if a.Action == b.Action {
		a.Rules, a.ByMode = slices.Concat(a.Rules, b.Rules), a.ByMode || b.ByMode
	}
	a.Propose = nil
	return a
}

// proposeOther returns the rule that would allow the call: for an address its host, for a
// tool without a subject the tool itself.
func proposeOther(r Request, host string) string {
	switch {
	case r.Subject == "":
		return r.Tool
	case r.Subject == subjectURL && hostForm.MatchString(host):
		return r.Tool + "(domain:" + host + ")"
	}
	return ""
}
