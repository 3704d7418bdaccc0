package sessions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	hoststate "github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func budgets(t *testing.T, f *fixture, config hoststate.Budgets) *hoststate.BudgetStore {
	t.Helper()
	b, err := hoststate.LoadBudgets(filepath.Join(f.dir, "budgets.json"), config, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	f.deps.Budgets = b
	return b
}

// TestATurnStopsAtABudget before the call that would go beyond it, says how to continue, and
// continues once a person has added to the budget, also after a restart.
func TestATurnStopsAtABudget(t *testing.T) {
	for scope, config := range map[api.BudgetScope]hoststate.Budgets{
		api.BudgetSession: {SessionCost: 0.5},
		api.BudgetProject: {ProjectTokens: 220},
		api.BudgetDay:     {DayCost: 0.5, DayTokens: 1000},
	} {
		script := modeltest.New(
			modeltest.Calls(modeltest.Call("c1", "echo", `{"a":1}`)), modeltest.Calls(modeltest.Call("c2", "echo", `{"a":2}`)), modeltest.Say("done"))
		f := newFixture(t, nil, echoTool{agent.RiskRead})
		f.deps.Models = oneModel{metered{script, usage(100, 10, 0, 0, 0.25), session.Usage{}}}
		budgets(t, f, config)
		m := f.manager(t)
		s, w := f.create(t, m), newWatcher()
		id := m.List("")[0].ID
		subscribe(t, s, w)
		send(t, s, "k1", "go")
		w.wait(func() bool { return w.ended == 1 })
		if got := lastTurn(w).Error; !strings.HasPrefix(got, "The budget of ") || !strings.Contains(got, "`scorel budget lift") || len(script.Requests()) != 2 {
			t.Errorf("%s: %q after %d calls", scope, got, len(script.Requests()))
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		b := budgets(t, f, config)
		m = f.manager(t)
		s, w = open(t, m, id), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k2", "continue")
		w.wait(func() bool { return w.ended == 1 })
		if len(script.Requests()) != 2 {
			t.Errorf("%s: a restart reset the budget", scope)
		}
		lift := api.LiftBudgetRequest{Scope: scope, Cost: 0.25, Tokens: 110}
		if scope != api.BudgetDay {
			lift.ID = map[api.BudgetScope]string{api.BudgetSession: id, api.BudgetProject: f.project.ID}[scope]
		}
		if err := b.Lift(lift); err != nil {
			t.Fatal(err)
		}
		send(t, s, "k3", "continue")
		w.wait(func() bool { return w.ended == 2 })
		if len(script.Requests()) != 3 {
			t.Errorf("%s: %d calls after it was lifted", scope, len(script.Requests()))
		}
	}
}

// TestNoSummaryBeyondABudget: what a host summarizes by itself stops at a budget too.
func TestNoSummaryBeyondABudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("word ", 400)
		f := newFixture(t, nil)
		f.deps.Models = windowed{oneModel{metered{modeltest.New(modeltest.Say(long), modeltest.Say(long)), usage(1000, 10, 0, 0, 0), session.Usage{}}}}
		model := &summarizer{writing: func(int64) {}}
		f.deps.Summaries = sessions.Summaries{Share: 0.8, Model: model}
		budgets(t, f, hoststate.Budgets{SessionTokens: 1000})
		m := f.manager(t)
		s, w := f.create(t, m), newWatcher()
		subscribe(t, s, w)
		for i, key := range []string{"k1", "k2"} {
			send(t, s, key, "go")
			w.wait(func() bool { return w.ended == i+1 })
		}
		synctest.Wait()
		if got := lastTurn(w).Error; !strings.HasPrefix(got, "The budget of ") || model.calls.Load() != 0 {
			t.Errorf("the last turn ended with %q, and %d summaries were written", got, model.calls.Load())
		}
	})
}

// TestADeletedSessionLeavesNoBudget: what people set for it is not kept, and that of others is.
func TestADeletedSessionLeavesNoBudget(t *testing.T) {
	f := newFixture(t, modeltest.New())
	b := budgets(t, f, hoststate.Budgets{})
	m := f.manager(t)
	f.create(t, m)
	id := m.List("")[0].ID
	for _, session := range []string{id, "other"} {
		if err := b.Set(api.SetBudgetRequest{Scope: api.BudgetSession, ID: session, Cost: 1}); err != nil {
			t.Fatal(err)
		}
		if err := b.Lift(api.LiftBudgetRequest{Scope: api.BudgetSession, ID: session, Cost: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(f.dir, "budgets.json"))
	if err != nil || strings.Contains(string(data), id) || strings.Count(string(data), "other") != 2 {
		t.Errorf("what is kept: %s, %v", data, err)
	}
}

// TestSubagentsCountTowardsTheirSession: they stop at its budget.
func TestSubagentsCountTowardsTheirSession(t *testing.T) {
	script := modeltest.New(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"))
	f := newFixture(t, nil)
	f.deps.Models = oneModel{metered{script, usage(60, 0, 0, 0, 0), session.Usage{}}}
	budgets(t, f, hoststate.Budgets{SessionTokens: 120})
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	id := m.List("")[0].ID
	send(t, s, "k1", "go")
	w.wait(func() bool { return w.ended == 1 })
	for i := range 2 {
		kid, err := m.CreateChild(t.Context(), s, sessions.ChildSpec{Key: fmt.Sprint("kid", i), Model: "main", Record: session.ChildRecord{Title: "kid"}})
		if err != nil {
			t.Fatal(err)
		}
		kw := newWatcher()
		subscribe(t, kid, kw)
		send(t, kid, fmt.Sprintf("t%d", i), "task")
		kw.wait(func() bool { return kw.ended == 1 })
	}
	list, err := m.Budgets(id)
	if err != nil || list[0].UsedTokens != 120 || list[0].UnpricedTokens != 120 || !list[0].Exceeded || len(script.Requests()) != 2 {
		t.Errorf("%+v %v after %d calls", list, err, len(script.Requests()))
	}
}

// TestSessionsAtOnceOvershootByWhatRuns: a call that has begun is not stopped, and none begins
// after it.
func TestSessionsAtOnceOvershootByWhatRuns(t *testing.T) {
	const at = 4
	var steps []modeltest.Step
	for range at * 2 {
		steps = append(steps, modeltest.Calls(modeltest.Call("c", "echo", `{}`)))
	}
	script := modeltest.New(steps...)
	f := newFixture(t, nil, echoTool{agent.RiskRead})
	f.deps.Models = oneModel{metered{script, usage(100, 0, 0, 0, 0), session.Usage{}}}
	budgets(t, f, hoststate.Budgets{DayTokens: 200})
	m := f.manager(t)
	var watchers []*watcher
	for i := range at {
		summary, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: fmt.Sprint(i)})
		if err != nil {
			t.Fatal(err)
		}
		s, w := open(t, m, summary.ID), newWatcher()
		subscribe(t, s, w)
		send(t, s, "k", "go")
		watchers = append(watchers, w)
	}
	for _, w := range watchers {
		w.wait(func() bool { return w.ended == 1 })
	}
	if n := len(script.Requests()); n < 2 || n > 1+at {
		t.Errorf("%d calls", n)
	}
}
