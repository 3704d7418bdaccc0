package api

// BudgetScope is what a budget limits.
type BudgetScope string

const (
	BudgetSession BudgetScope = "session" // one session with its subagents, from its beginning
	BudgetProject BudgetScope = "project" // the sessions of one project, per day
	BudgetDay     BudgetScope = "day"     // all sessions of the host, per day
)

// MaxCost limits the cost of a budget and of a schedule, in US dollars.
const MaxCost = 1e9

type (
	// Budget is a limit and how much of it is used. Costs are in US dollars.
	Budget struct {
		Scope BudgetScope `json:"scope"`
		ID    string      `json:"id,omitempty"` // of the session or project
		// Cost and Tokens are the limits; 0 is none. A turn stops at the first one that is
		// reached.
		Cost   float64 `json:"cost"`
		Tokens int64   `json:"tokens"`
		// ExtraCost and ExtraTokens are what people added: for the session, or until the end
		// of the day.
		ExtraCost   float64 `json:"extraCost,omitempty"`
		ExtraTokens int64   `json:"extraTokens,omitempty"`
		// Lifted says that the limits do not apply: for the session, or until the end of the
		// day.
		Lifted     bool    `json:"lifted,omitempty"`
		UsedCost   float64 `json:"usedCost"`
		UsedTokens int64   `json:"usedTokens"`
		// UnpricedTokens are used tokens of models without a price, which cost nothing here.
		UnpricedTokens int64 `json:"unpricedTokens,omitempty"`
		// Source is where the limits come from: "config.toml" or "budgets.json"; "" if there
		// are none.
		Source string `json:"source,omitempty"`
		// Exceeded says that no turn continues.
		Exceeded bool `json:"exceeded,omitempty"`
	}

	// GetBudgetsRequest asks for the budget of the day, and those of a session with its
	// project, or of a project.
	GetBudgetsRequest struct {
		SessionID string `json:"sessionId,omitempty" req:"max=256"`
		ProjectID string `json:"projectId,omitempty" req:"max=256"`
	}
	BudgetsResponse struct {
		Budgets []Budget `json:"budgets"`
	}
	// SetBudgetRequest sets the limits of one session or project, or of the day, instead of
	// those in config.toml. A limit of zero is none. With Reset those of config.toml apply again.
	SetBudgetRequest struct {
		Scope  BudgetScope `json:"scope" req:"min=1,max=64"`
		ID     string      `json:"id,omitempty" req:"max=256"`
		Cost   float64     `json:"cost,omitempty"`
		Tokens int64       `json:"tokens,omitempty"`
		Reset  bool        `json:"reset,omitempty"`
	}
	// LiftBudgetRequest adds to a budget, or without an amount lifts it: for the session, or
	// until the end of the day.
	LiftBudgetRequest struct {
		Scope  BudgetScope `json:"scope" req:"min=1,max=64"`
		ID     string      `json:"id,omitempty" req:"max=256"`
		Cost   float64     `json:"cost,omitempty"`
		Tokens int64       `json:"tokens,omitempty"`
	}
	BudgetResponse struct {
		Budget Budget `json:"budget"`
	}
)
