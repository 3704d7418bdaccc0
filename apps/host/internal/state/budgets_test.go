package state_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// clock is a time that a test sets.
type clock struct{ now time.Time }

func (c *clock) read() time.Time { return c.now }

func loadBudgets(t *testing.T, path string, config state.Budgets, c *clock) *state.BudgetStore {
	t.Helper()
	b, err := state.LoadBudgets(path, config, c.read)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTheUseOfADaySurvivesARestart and ends with the day of the machine, with what was added
// to it. What was added to a session stays.
func TestTheUseOfADaySurvivesARestart(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "budgets.json"), &clock{time.Date(2026, 3, 1, 23, 59, 0, 0, time.Local)}
	config := state.Budgets{SessionTokens: 100, ProjectCost: 2, DayCost: 5}
	b := loadBudgets(t, path, config, c)
	for _, project := range []string{"a", "b"} {
		if err := b.Spend(project, state.Spent{Cost: 2.5, Tokens: 10, Unpriced: 3}); err != nil {
			t.Fatal(err)
		}
	}
	for _, lift := range []api.LiftBudgetRequest{
		{Scope: api.BudgetDay, Cost: 1}, {Scope: api.BudgetProject, ID: "a"}, {Scope: api.BudgetSession, ID: "s", Tokens: 50},
	} {
		if err := b.Lift(lift); err != nil {
			t.Fatal(err)
		}
	}
	b = loadBudgets(t, path, config, c)
	list := b.Of("s", "a", state.Spent{Tokens: 149})
	want := []api.Budget{
		{Scope: "session", ID: "s", Tokens: 100, ExtraTokens: 50, UsedTokens: 149, Source: "config.toml"},
		{Scope: "project", ID: "a", Cost: 2, Lifted: true, UsedCost: 2.5, UsedTokens: 10, UnpricedTokens: 3, Source: "config.toml"},
		{Scope: "day", Cost: 5, ExtraCost: 1, UsedCost: 5, UsedTokens: 20, UnpricedTokens: 6, Source: "config.toml"},
	}
	for i := range want {
		if list[i] != want[i] {
			t.Errorf("got  %+v\nwant %+v", list[i], want[i])
		}
	}
	if over := b.Of("", "b", state.Spent{}); !over[0].Exceeded {
		t.Errorf("got %+v", over)
	}
	c.now = c.now.Add(2 * time.Minute)
	list = b.Of("s", "a", state.Spent{Tokens: 150})
	if !list[0].Exceeded || list[1].Lifted || list[1].UsedCost != 0 || list[2].ExtraCost != 0 || list[2].UsedTokens != 0 {
		t.Errorf("the next day: %+v", list)
	}
}

// TestAClockThatGoesBackOverMidnight gives no limit of a day twice, nor takes away what people
// added. One that was wrong by years limits only the day that it is.
func TestAClockThatGoesBackOverMidnight(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "budgets.json"), &clock{time.Date(2026, 3, 2, 0, 3, 0, 0, time.Local)}
	config := state.Budgets{DayCost: 5}
	b := loadBudgets(t, path, config, c)
	if err := b.Spend("a", state.Spent{Cost: 5}); err != nil {
		t.Fatal(err)
	}
	want := func(at time.Time, used, extra float64) {
		t.Helper()
		c.now = at
		b = loadBudgets(t, path, config, c)
		if got := b.Of("", "", state.Spent{})[0]; got.UsedCost != used || got.ExtraCost != extra || got.Exceeded != (used >= 5+extra) {
			t.Errorf("%s: %+v", at, got)
		}
	}
	right := c.now
	want(right, 5, 0)
	want(right.Add(-5*time.Minute), 5, 0)
	if err := b.Lift(api.LiftBudgetRequest{Scope: api.BudgetDay, Cost: 1}); err != nil {
		t.Fatal(err)
	}
	want(right.Add(-5*time.Minute), 5, 1)
	want(right, 5, 1)
	want(right.AddDate(0, 0, 1), 0, 0)
	want(right.AddDate(-1, 0, 0), 0, 0)
}

// TestALimitReplacesThatOfTheConfiguration until it is reset; 0 is none.
func TestALimitReplacesThatOfTheConfiguration(t *testing.T) {
	path, c := filepath.Join(t.TempDir(), "budgets.json"), &clock{time.Now()}
	b := loadBudgets(t, path, state.Budgets{DayTokens: 10}, c)
	if err := b.Spend("a", state.Spent{Tokens: 10}); err != nil {
		t.Fatal(err)
	}
	day := func() api.Budget { return b.Of("", "", state.Spent{})[0] }
	if !day().Exceeded {
		t.Errorf("got %+v", day())
	}
	for _, tc := range []struct {
		request api.SetBudgetRequest
		over    bool
		source  string
	}{
		{api.SetBudgetRequest{Scope: api.BudgetDay, Tokens: 11}, false, "budgets.json"},
		{api.SetBudgetRequest{Scope: api.BudgetDay, Tokens: 9, Cost: 1}, true, "budgets.json"},
		{api.SetBudgetRequest{Scope: api.BudgetDay}, false, "budgets.json"},
		{api.SetBudgetRequest{Scope: api.BudgetDay, Reset: true}, true, "config.toml"},
	} {
		if err := b.Set(tc.request); err != nil {
			t.Fatal(err)
		}
		b = loadBudgets(t, path, state.Budgets{DayTokens: 10}, c)
		if got := day(); got.Exceeded != tc.over || got.Source != tc.source {
			t.Errorf("%+v: %+v", tc.request, got)
		}
	}
}
