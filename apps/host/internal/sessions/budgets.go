package sessions

import (
	"errors"
	"fmt"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// spentOf is a usage as budgets count it.
func spentOf(u api.TokenUsage) state.Spent {
	s := state.Spent{Cost: u.Cost, Tokens: int64(u.Input + u.Output + u.CacheRead + u.CacheWrite)}
	if u.Cost == 0 {
		s.Unpriced = s.Tokens
	}
	return s
}

// spend counts what a session has used since its last summary.
func (m *Manager) spend(old, now api.SessionSummary) {
	if m.deps.Budgets == nil {
		return
	}
	was, is := plusAll(old.Usage, old.Auxiliary), plusAll(now.Usage, now.Auxiliary)
	used := spentOf(api.TokenUsage{
		Input: is.Input - was.Input, Output: is.Output - was.Output, CacheRead: is.CacheRead - was.CacheRead,
		CacheWrite: is.CacheWrite - was.CacheWrite, Cost: is.Cost - was.Cost,
	})
	if err := m.deps.Budgets.Spend(now.ProjectID, used); err != nil {
		m.deps.Logger.Error("storing what was used today; it counts until the host ends", "error", err)
	}
}

// Budgets returns the budgets of a session with its project and the day. A subagent's session
// has those of the session that it belongs to.
func (m *Manager) Budgets(sessionID string) ([]api.Budget, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.known[sessionID]
	if k == nil {
		return nil, api.Errorf(api.KindNotFound, "there is no session %.64q", sessionID)
	}
	for range len(m.known) { // whatever a damaged file says
		parent := m.known[k.header.ChildOf]
		if parent == nil {
			break
		}
		k = parent
	}
	s := m.accounted(k.summary)
	return m.deps.Budgets.Of(s.ID, s.ProjectID, spentOf(plusAll(s.Usage, s.Auxiliary, s.Delegated))), nil
}

// afford implements others: it returns why no model may be called for a session, or nil.
func (m *Manager) afford(sessionID string) error {
	if m.deps.Budgets == nil {
		return nil
	}
	budgets, err := m.Budgets(sessionID)
	if err != nil {
		return err
	}
	for _, b := range budgets {
		if b.Exceeded {
			return errors.New(exceeded(b))
		}
	}
	return nil
}

// exceeded says that a budget is used up, and how people continue.
func exceeded(b api.Budget) string {
	what, flag := "of today", ""
	switch b.Scope {
	case api.BudgetSession:
		what, flag = "of this session", " --session "+b.ID
	case api.BudgetProject:
		what, flag = "of this project for today", " --project "+b.ID
	}
	var used []string
	if most := b.Cost + b.ExtraCost; b.Cost > 0 && b.UsedCost >= most {
		used = append(used, fmt.Sprintf("$%.2f of $%.2f", b.UsedCost, most))
	}
	if most := b.Tokens + b.ExtraTokens; b.Tokens > 0 && b.UsedTokens >= most {
		used = append(used, fmt.Sprintf("%d of %d tokens", b.UsedTokens, most))
	}
	return fmt.Sprintf("The budget %s is used up: %s. To continue, run `scorel budget lift%s` on the machine, with --cost or --tokens to add an amount, and send another prompt.",
		what, strings.Join(used, " and "), flag)
}
