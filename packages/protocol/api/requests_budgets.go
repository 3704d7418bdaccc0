package api

// Requests that limit what models may cost.
var (
	GetBudgets = Define[GetBudgetsRequest, BudgetsResponse]("get_budgets", GrantView, "Returns the budgets of a session or project and of the day, with what is used of them.")
	SetBudget  = Define[SetBudgetRequest, BudgetResponse]("set_budget", GrantManage, "Sets the limits of a session, a project or the day.")
	LiftBudget = Define[LiftBudgetRequest, BudgetResponse]("lift_budget", GrantManage, "Adds to a budget, or lifts it.")
)

func budgetRequests() []Spec {
	return []Spec{
		GetBudgets.Spec(),
		SetBudget.Spec(),
		LiftBudget.Spec(),
	}
}
