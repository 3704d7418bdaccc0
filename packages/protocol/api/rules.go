package api

// MaxKeptRules bounds the rules that a host keeps of one kind for one project, or
// for all.
const MaxKeptRules = 500

// RuleKind is what a rule says of the calls that it is about.
type RuleKind string

const (
	RuleAllow RuleKind = "allow"
	RuleAsk   RuleKind = "ask"
	RuleDeny  RuleKind = "deny"
)

// RuleKinds lists the kinds, the strongest first.
func RuleKinds() []RuleKind { return []RuleKind{RuleDeny, RuleAsk, RuleAllow} }

// RuleScope says where a rule holds.
type RuleScope string

const (
	ScopeProject RuleScope = "project" // in one project
	ScopeUser    RuleScope = "user"    // in every project of the host
)

// Where a rule is kept.
const (
	// RulesConfig is the user's own file: no request changes it.
	RulesConfig = "config.toml"
	// RulesKept holds what people allowed with "always", and what add_rule added.
	RulesKept = "permissions.json"
)

// PermissionRule is a rule that calls of tools are judged by.
type PermissionRule struct {
	Rule      string    `json:"rule"` // as it is written: bash(go test *)
	Kind      RuleKind  `json:"kind"`
	Scope     RuleScope `json:"scope"`
	ProjectID string    `json:"projectId,omitempty"` // of the scope "project"
	// Source is RulesConfig or RulesKept; only what is kept there can be removed.
	Source string `json:"source"`
	// Problem is why the rule does not count, "" when it does: a tool of it is gone.
	Problem string `json:"problem,omitempty"`
}

type (
	// ListRulesRequest asks for the rules that hold in a project; "" is those of every
	// project.
	ListRulesRequest struct {
		ProjectID string `json:"projectId,omitempty"`
	}
	// ListRulesResponse holds those of projects before those of the user, and in each
	// what denies first.
	ListRulesResponse struct {
		Rules []PermissionRule `json:"rules"`
	}
	// RuleRequest names a rule of RulesKept. Adding it twice, and removing it twice,
	// changes nothing.
	RuleRequest struct {
		Rule      string   `json:"rule"`
		Kind      RuleKind `json:"kind"`
		ProjectID string   `json:"projectId,omitempty"` // "" is every project: the scope "user"
	}
	AddRuleResponse struct {
		Rule PermissionRule `json:"rule"`
	}
	RemoveRuleResponse struct {
		// Removed is false when there was no such rule.
		Removed bool `json:"removed"`
	}
)
