package api

// MaxKeptRules limits the rules that a host stores per kind and project, or per
// kind for all projects.
const MaxKeptRules = 500

// RuleKind is the effect of a rule on the calls that it matches.
type RuleKind string

const (
	RuleAllow RuleKind = "allow"
	RuleAsk   RuleKind = "ask"
	RuleDeny  RuleKind = "deny"
)

// RuleKinds lists the kinds, strongest first.
func RuleKinds() []RuleKind { return []RuleKind{RuleDeny, RuleAsk, RuleAllow} }

// RuleScope is where a rule applies.
type RuleScope string

const (
	ScopeProject RuleScope = "project" // in one project
	ScopeUser    RuleScope = "user"    // in every project of the host
)

// Where a rule is stored.
const (
	// RulesConfig is the user's own file, which no request changes.
	RulesConfig = "config.toml"
	// RulesKept holds rules that people added by answering "always" or that
	// add_rule added.
	RulesKept = "permissions.json"
)

// PermissionRule is a rule that tool calls are judged by.
type PermissionRule struct {
	Rule      string    `json:"rule"`                // as it is written
	Kind      RuleKind  `json:"kind"`                // "allow", "ask" or "deny"
	Scope     RuleScope `json:"scope"`               // "project", or "user" for every project
	ProjectID string    `json:"projectId,omitempty"` // for the scope "project"
	// Source is RulesConfig or RulesKept; only rules of RulesKept can be removed.
	Source string `json:"source"`
	// Problem is why the rule has no effect, such as a missing tool; "" if it
	// applies.
	Problem string `json:"problem,omitempty"`
}

type (
	// ListRulesRequest requests the rules that apply in a project; "" means rules
	// for all projects.
	ListRulesRequest struct {
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
	}
	// ListRulesResponse lists rules of projects before those of the user, and deny
	// rules first within each.
	ListRulesResponse struct {
		Rules []PermissionRule `json:"rules"`
	}
	// RuleRequest names a rule of RulesKept. Adding or removing it twice changes
	// nothing.
	RuleRequest struct {
		Rule      string   `json:"rule" req:"min=1,max=4096"`
		Kind      RuleKind `json:"kind" req:"min=1,max=64"`
		ProjectID string   `json:"projectId,omitempty" req:"max=256"` // "" means every project: the scope "user"
		// Confirm repeats the rule if it allows programs to run others, to write
		// anywhere, or every call of a tool. It confirms that a person was asked and
		// wants it.
		Confirm string `json:"confirm,omitempty" req:"max=4096"`
	}
	AddRuleResponse struct {
		Rule PermissionRule `json:"rule"`
	}
	RemoveRuleResponse struct {
		// Removed is false if there was no such rule.
		Removed bool `json:"removed"`
	}
)
