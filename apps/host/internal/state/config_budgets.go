package state

import (
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Budgets are the limits of config.toml; 0 is none. Costs are in US dollars.
type Budgets struct {
	SessionCost   float64 `toml:"session_cost"`
	SessionTokens int64   `toml:"session_tokens"`
	ProjectCost   float64 `toml:"project_cost"` // per day
	ProjectTokens int64   `toml:"project_tokens"`
	DayCost       float64 `toml:"day_cost"`
	DayTokens     int64   `toml:"day_tokens"`
}

func budgetKeys() []string {
	return []string{"session_cost", "session_tokens", "project_cost", "project_tokens", "day_cost", "day_tokens"}
}

func (b Budgets) check() error {
	for _, cost := range []float64{b.SessionCost, b.ProjectCost, b.DayCost} {
		if !(cost >= 0 && cost <= api.MaxCost) { // also rejects NaN
			return fmt.Errorf("budgets: a cost is in US dollars, at most %d, and must not be negative", int64(api.MaxCost))
		}
	}
	if min(b.SessionTokens, b.ProjectTokens, b.DayTokens) < 0 {
		return errors.New("budgets: a number of tokens must not be negative")
	}
	return nil
}
