package sessionapi

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (s *Sessions) getBudgets(_ context.Context, _ *dispatch.Conn, r api.GetBudgetsRequest) (response api.BudgetsResponse, err error) {
	if r.SessionID != "" {
		response.Budgets, err = s.manager.Budgets(r.SessionID)
		return response, err
	}
	if r.ProjectID != "" {
		if _, err := s.projects.Find(r.ProjectID); err != nil {
			return response, err
		}
	}
	response.Budgets = s.budgets.Of("", r.ProjectID, state.Spent{})
	return response, nil
}

// setBudget needs what loosening a permission does: who sets a limit can remove it.
func (s *Sessions) setBudget(_ context.Context, c *dispatch.Conn, r api.SetBudgetRequest) (response api.BudgetResponse, err error) {
	if err := s.checkBudget(c, r.Scope, r.ID, r.Cost, r.Tokens); err != nil {
		return response, err
	}
	if r.Reset && (r.Cost != 0 || r.Tokens != 0) {
		return response, api.Errorf(api.KindBadRequest, "reset takes no limits: give one or the other")
	}
	if err := s.budgets.Set(r); err != nil {
		return response, err
	}
	return s.budgetAfter(c, r.Scope, r.ID)
}

func (s *Sessions) liftBudget(_ context.Context, c *dispatch.Conn, r api.LiftBudgetRequest) (response api.BudgetResponse, err error) {
	if err := s.checkBudget(c, r.Scope, r.ID, r.Cost, r.Tokens); err != nil {
		return response, err
	}
	if err := s.budgets.Lift(r); err != nil {
		return response, err
	}
	return s.budgetAfter(c, r.Scope, r.ID)
}

func (s *Sessions) checkBudget(c *dispatch.Conn, scope api.BudgetScope, id string, cost float64, tokens int64) error {
	if err := c.CheckMayLoosen(); err != nil {
		return err
	}
	if !(cost >= 0 && cost <= api.MaxCost) || tokens < 0 { // also rejects NaN
		return api.Errorf(api.KindBadRequest, "the cost is in US dollars, at most %d, and neither it nor the tokens may be negative", int64(api.MaxCost))
	}
	switch scope {
	case api.BudgetSession:
		summary, err := s.manager.Budgets(id)
		if err == nil && summary[0].ID != id {
			err = api.Errorf(api.KindBadRequest, "the session of a subagent has the budget of the session %s: name that", summary[0].ID)
		}
		return err
	case api.BudgetProject:
		_, err := s.projects.Find(id)
		return err
	case api.BudgetDay:
		if id == "" {
			return nil
		}
		return api.Errorf(api.KindBadRequest, "the budget of the day has no id: leave it out")
	}
	return api.Errorf(api.KindBadRequest, "unknown scope %.64q: use session, project or day", scope)
}

func (s *Sessions) budgetAfter(c *dispatch.Conn, scope api.BudgetScope, id string) (response api.BudgetResponse, err error) {
	list := s.budgets.Of("", id, state.Spent{})
	if scope == api.BudgetSession {
		list, err = s.manager.Budgets(id)
	}
	for _, b := range list {
		if b.Scope == scope {
			response.Budget = b
		}
	}
	s.log.Info("a budget was changed", "scope", scope, "id", id, "client", c.ClientID())
	return response, err
}
