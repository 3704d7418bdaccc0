package state

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Spent is what model calls used.
type Spent struct {
	Cost     float64 `json:"cost,omitempty"`
	Tokens   int64   `json:"tokens,omitempty"`
	Unpriced int64   `json:"unpriced,omitempty"` // of Tokens, those without a price
}

func (s Spent) plus(o Spent) Spent {
	return Spent{s.Cost + o.Cost, s.Tokens + o.Tokens, s.Unpriced + o.Unpriced}
}

// budgetKey names what a budget limits.
type budgetKey struct {
	Scope api.BudgetScope `json:"scope"`
	ID    string          `json:"id,omitempty"`
}

type budgetLimit struct {
	budgetKey
	Cost   float64 `json:"cost,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
}

// budgetLift is what people added to a budget. That of a session has no day.
type budgetLift struct {
	budgetLimit
	Day string `json:"day,omitempty"`
	All bool   `json:"all,omitempty"`
}

type budgetFile struct {
	Day    string           `json:"day,omitempty"`   // of Spent, by the time zone of the machine
	Spent  map[string]Spent `json:"spent,omitempty"` // by project
	Limits []budgetLimit    `json:"limits,omitempty"`
	Lifts  []budgetLift     `json:"lifts,omitempty"`
}

// maxBudgets bounds the limits and the lifts in the file.
const maxBudgets = 10_000

// BudgetStore has the limits that people set, what they added, and what was used today. Use is
// stored before another call may begin.
type BudgetStore struct {
	path   string
	config Budgets
	now    func() time.Time

	mu   sync.Mutex
	file budgetFile
}

// LoadBudgets reads the budgets from path. now is time.Now except in tests.
func LoadBudgets(path string, config Budgets, now func() time.Time) (*BudgetStore, error) {
	b := &BudgetStore{path: path, config: config, now: now}
	return b, readJSON(path, &b.file)
}

func (b *BudgetStore) today() string { return b.now().Local().Format(time.DateOnly) }

// Spend adds to what a project used today. The error says that it could not be stored; it
// counts until the host ends.
func (b *BudgetStore) Spend(projectID string, used Spent) error {
	if used.Cost <= 0 && used.Tokens <= 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll()
	if b.file.Spent == nil {
		b.file.Spent = map[string]Spent{}
	}
	b.file.Spent[projectID] = b.file.Spent[projectID].plus(used)
	return writeJSON(b.path, b.file)
}

// longestDay is a day on which clocks are set back.
const longestDay = 25 * time.Hour

// roll begins a new day. A clock that goes back over midnight does not begin the day before again,
// whose use is not known any more, unless it was wrong by more than a day. b.mu is held.
func (b *BudgetStore) roll() {
	now, today := b.now(), b.today()
	began, err := time.ParseInLocation(time.DateOnly, b.file.Day, time.Local)
	if ahead := began.Sub(now); b.file.Day == today || err == nil && ahead > 0 && ahead <= longestDay {
		return
	}
	b.file.Day, b.file.Spent = today, nil
	b.file.Lifts = slices.DeleteFunc(b.file.Lifts, func(l budgetLift) bool { return l.Day != "" && l.Day != today })
}

// Of returns the budgets that limit a session of a project: its own, that of the project and
// that of the day. Without a session, or a project, theirs are left out. used is that of the
// session.
func (b *BudgetStore) Of(sessionID, projectID string, used Spent) []api.Budget {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll()
	var list []api.Budget
	if sessionID != "" {
		list = append(list, b.budget(budgetKey{api.BudgetSession, sessionID}, used))
	}
	if projectID != "" {
		list = append(list, b.budget(budgetKey{api.BudgetProject, projectID}, b.file.Spent[projectID]))
	}
	var day Spent
	for _, spent := range b.file.Spent {
		day = day.plus(spent)
	}
	return append(list, b.budget(budgetKey{Scope: api.BudgetDay}, day))
}

// budget returns a budget with what is used of it. b.mu is held.
func (b *BudgetStore) budget(key budgetKey, used Spent) api.Budget {
	out := api.Budget{Scope: key.Scope, ID: key.ID, UsedCost: used.Cost, UsedTokens: used.Tokens, UnpricedTokens: used.Unpriced}
	switch key.Scope {
	case api.BudgetSession:
		out.Cost, out.Tokens = b.config.SessionCost, b.config.SessionTokens
	case api.BudgetProject:
		out.Cost, out.Tokens = b.config.ProjectCost, b.config.ProjectTokens
	default:
		out.Cost, out.Tokens = b.config.DayCost, b.config.DayTokens
	}
	if out.Cost > 0 || out.Tokens > 0 {
		out.Source = "config.toml"
	}
	if i := slices.IndexFunc(b.file.Limits, func(l budgetLimit) bool { return l.budgetKey == key }); i >= 0 {
		out.Cost, out.Tokens, out.Source = b.file.Limits[i].Cost, b.file.Limits[i].Tokens, "budgets.json"
	}
	for _, lift := range b.file.Lifts {
		if lift.budgetKey == key {
			out.ExtraCost, out.ExtraTokens, out.Lifted = out.ExtraCost+lift.Cost, out.ExtraTokens+lift.Tokens, out.Lifted || lift.All
		}
	}
	overCost := out.Cost > 0 && out.UsedCost >= out.Cost+out.ExtraCost
	overTokens := out.Tokens > 0 && out.UsedTokens >= out.Tokens+out.ExtraTokens
	out.Exceeded = !out.Lifted && (overCost || overTokens)
	return out
}

// Set stores the limits of one budget in place of those of config.toml. reset drops them.
func (b *BudgetStore) Set(r api.SetBudgetRequest) error {
	key := budgetKey{r.Scope, r.ID}
	return b.change(func(file *budgetFile) error {
		file.Limits = slices.DeleteFunc(slices.Clone(file.Limits), func(l budgetLimit) bool { return l.budgetKey == key })
		if r.Reset {
			return nil
		}
		if len(file.Limits) >= maxBudgets {
			return api.Errorf(api.KindTooLarge, "there are %d budgets already: reset some first", maxBudgets)
		}
		file.Limits = append(file.Limits, budgetLimit{key, r.Cost, r.Tokens})
		return nil
	})
}

// Lift adds to a budget, or without an amount lifts it.
func (b *BudgetStore) Lift(r api.LiftBudgetRequest) error {
	key, day := budgetKey{r.Scope, r.ID}, ""
	return b.change(func(file *budgetFile) error {
		if r.Scope != api.BudgetSession {
			day = file.Day
		}
		file.Lifts = slices.Clone(file.Lifts)
		i := slices.IndexFunc(file.Lifts, func(l budgetLift) bool { return l.budgetKey == key && l.Day == day })
		if i < 0 {
			if len(file.Lifts) >= maxBudgets {
				return api.Errorf(api.KindTooLarge, "%d budgets were lifted already: set their limits instead", maxBudgets)
			}
			i, file.Lifts = len(file.Lifts), append(file.Lifts, budgetLift{budgetLimit: budgetLimit{budgetKey: key}, Day: day})
		}
		file.Lifts[i].Cost += r.Cost
		file.Lifts[i].Tokens = addTokens(file.Lifts[i].Tokens, r.Tokens)
		file.Lifts[i].All = file.Lifts[i].All || r.Cost == 0 && r.Tokens == 0
		return nil
	})
}

// RemoveSession forgets what people set for a session that was deleted. Otherwise the file would
// grow with each run of a schedule that has limits, until no more fit.
func (b *BudgetStore) RemoveSession(id string) error {
	key := budgetKey{api.BudgetSession, id}
	b.mu.Lock()
	has := slices.ContainsFunc(b.file.Limits, func(l budgetLimit) bool { return l.budgetKey == key }) ||
		slices.ContainsFunc(b.file.Lifts, func(l budgetLift) bool { return l.budgetKey == key })
	b.mu.Unlock()
	if !has {
		return nil
	}
	return b.change(func(file *budgetFile) error {
		file.Limits = slices.DeleteFunc(slices.Clone(file.Limits), func(l budgetLimit) bool { return l.budgetKey == key })
		file.Lifts = slices.DeleteFunc(slices.Clone(file.Lifts), func(l budgetLift) bool { return l.budgetKey == key })
		return nil
	})
}

func addTokens(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// change stores a changed file, or leaves everything as it was.
func (b *BudgetStore) change(do func(*budgetFile) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.roll()
	next := b.file
	if err := do(&next); err != nil {
		return err
	}
	if err := writeJSON(b.path, next); err != nil {
		return err
	}
	b.file = next
	return nil
}
