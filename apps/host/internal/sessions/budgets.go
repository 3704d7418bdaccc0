package sessions

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// spending counts what sessions use, and compares it with what people allow them.
type spending struct {
	sessions *registry
	budgets  *state.BudgetStore // nil sets no limits
	logger   *slog.Logger
}

// spentOf is a usage as budgets count it.
func spentOf(u api.TokenUsage) state.Spent {
	s := state.Spent{Cost: u.Cost, Tokens: int64(u.Input + u.Output + u.CacheRead + u.CacheWrite)}
	if u.Cost == 0 {
		s.Unpriced = s.Tokens
	}
	return s
}

// spend counts what a session has used since its last summary.
func (b *spending) spend(old, now api.SessionSummary) {
	if b.budgets == nil {
		return
	}
	was, is := plusAll(old.Usage, old.Auxiliary), plusAll(now.Usage, now.Auxiliary)
	used := spentOf(api.TokenUsage{
		Input: is.Input - was.Input, Output: is.Output - was.Output, CacheRead: is.CacheRead - was.CacheRead,
		CacheWrite: is.CacheWrite - was.CacheWrite, Cost: is.Cost - was.Cost,
	})
	if err := b.budgets.Spend(now.ProjectID, used); err != nil {
		b.logger.Error("storing what was used today; it counts until the host ends", "error", err)
	}
}

// Budgets returns the budgets of a session with its project and the day. A subagent's session
// has those of the session that it belongs to.
func (b *spending) Budgets(sessionID string) ([]api.Budget, error) {
	b.sessions.mu.Lock()
	defer b.sessions.mu.Unlock()
	k := b.sessions.known[sessionID]
	if k == nil {
		return nil, api.Errorf(api.KindNotFound, "there is no session %.64q", sessionID)
	}
	for range len(b.sessions.known) { // whatever a damaged file says
		parent := b.sessions.known[k.header.ChildOf]
		if parent == nil {
			break
		}
		k = parent
	}
	s := b.sessions.accounted(k.summary)
	return b.budgets.Of(s.ID, s.ProjectID, spentOf(plusAll(s.Usage, s.Auxiliary, s.Delegated))), nil
}

// afford implements others: it returns why no model may be called for a session, or nil.
func (b *spending) afford(sessionID string) error {
	if b.budgets == nil {
		return nil
	}
	budgets, err := b.Budgets(sessionID)
	if err != nil {
		return err
	}
	for _, budget := range budgets {
		if budget.Exceeded {
			return errors.New(exceeded(budget))
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
