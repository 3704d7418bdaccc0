package schedule

import (
	"cmp"
	"context"
	"fmt"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Keys of the metadata of sessions that are runs.
const (
	MetaSchedule = "schedule"
	MetaRun      = "scheduleRun"
)

// Runs starts runs as sessions of the host. It implements Sessions. All fields are required.
type Runs struct {
	Manager  *sessions.Manager
	Projects *state.Projects
	Budgets  *state.BudgetStore
	// Author returns the highest mode that a client may use in a project now, or why it may
	// not send prompts there any more.
	Author func(clientID, projectID string) (api.Mode, error)
}

// Start implements Sessions.
func (a *Runs) Start(ctx context.Context, s Start) (string, error) {
	most, err := a.Author(s.Author, s.ProjectID)
	if err != nil {
		return "", err
	}
	project, err := a.Projects.Find(s.ProjectID)
	if err != nil {
		return "", err
	}
	if project.Missing {
		return "", api.Errorf(api.KindInvalidPath, "the folder %s is missing", project.Path)
	}
	if s.Outside && !s.Spec.AllowUnattended {
		most = permission.Lower(most, api.ModeAsk)
	}
	summary, err := a.Manager.Create(ctx, project, s.Author, api.CreateSessionRequest{
		ProjectID: s.ProjectID, ClientKey: s.RunID, Model: s.Spec.Model, Agent: s.Spec.Agent, Worktree: s.Spec.Worktree,
	})
	if err != nil {
		return "", err
	}
	if err := a.begin(ctx, s, summary, most); err != nil {
		a.discardEmpty(ctx, summary.ID)
		return "", err
	}
	return summary.ID, nil
}

// begin sets up a session and sends its prompt. Only the first attempt changes anything.
func (a *Runs) begin(ctx context.Context, s Start, summary api.SessionSummary, most api.Mode) error {
	opened, err := a.Manager.Open(summary.ID)
	if err != nil {
		return err
	}
	if summary.MessageCount == 0 {
		if err := opened.MarkScheduled(ctx, s.Author, session.ScheduleRecord{ScheduleID: s.ScheduleID, RunID: s.RunID, Outside: s.Outside}); err != nil {
			return err
		}
		if err := opened.SetMode(ctx, s.Author, permission.Lower(modeOf(s.Spec), most)); err != nil {
			return err
		}
		title := s.Spec.Name + " (scheduled)"
		meta := map[string]string{MetaSchedule: s.ScheduleID, MetaRun: s.RunID}
		if _, err := opened.Update(ctx, s.Author, api.UpdateSessionRequest{SessionID: summary.ID, Title: &title, Meta: meta}); err != nil {
			return err
		}
		if err := a.limit(summary.ID, s.Spec); err != nil {
			return err
		}
	}
	_, err = opened.SendPromptUpTo(ctx, s.Author, most, api.SendPromptRequest{SessionID: summary.ID, ClientKey: s.RunID, Text: s.Prompt})
	return err
}

// limit gives the session of a run its budget. The limits of config.toml still apply.
func (a *Runs) limit(sessionID string, spec api.ScheduleSpec) error {
	if spec.Cost == 0 && spec.Tokens == 0 {
		return nil
	}
	set := a.limitOf(sessionID, spec)
	if err := a.Budgets.Set(set); err != nil {
		return fmt.Errorf("schedule: setting the budget of a run: %w", err)
	}
	return nil
}

func (a *Runs) limitOf(sessionID string, spec api.ScheduleSpec) api.SetBudgetRequest {
	have := a.Budgets.Of(sessionID, "", state.Spent{})[0]
	return api.SetBudgetRequest{Scope: api.BudgetSession, ID: sessionID, Cost: lower(spec.Cost, have.Cost), Tokens: lower(spec.Tokens, have.Tokens)}
}

// lower returns the lower of two limits; 0 is none.
func lower[T int64 | float64](a, b T) T {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Done removes the budget of a run, so that a person who continues its session has the usual
// one. A budget that a person has set meanwhile stays.
func (a *Runs) Done(sessionID string, spec api.ScheduleSpec) {
	if spec.Cost == 0 && spec.Tokens == 0 {
		return
	}
	have, set := a.Budgets.Of(sessionID, "", state.Spent{})[0], a.limitOf(sessionID, spec)
	if have.Cost == set.Cost && have.Tokens == set.Tokens {
		_ = a.Budgets.Set(api.SetBudgetRequest{Scope: api.BudgetSession, ID: sessionID, Reset: true}) // what stays is a lower limit
	}
}

// discardEmpty deletes the session of a run whose prompt was refused.
func (a *Runs) discardEmpty(ctx context.Context, id string) {
	if ctx.Err() != nil { // the next host continues
		return
	}
	opened, err := a.Manager.Open(id)
	if err != nil {
		return
	}
	if summary, err := opened.Summary(ctx); err == nil && summary.MessageCount == 0 && !summary.Running {
		_, _ = a.Manager.Delete(ctx, id) // what stays is an empty session
	}
}

// Look implements Sessions.
func (a *Runs) Look(ctx context.Context, sessionID, runID string) (p Progress, err error) {
	opened, err := a.Manager.Open(sessionID)
	if err != nil {
		return p, err
	}
	o, err := opened.Outcome(ctx, runID)
	if err != nil {
		return p, err
	}
	p = Progress{Pending: o.Pending, Waiting: o.Waiting, Reason: o.Error}
	if !o.Ended {
		return p, nil
	}
	switch o.StopReason {
	case session.StopError:
		p.State, p.Reason = api.RunFailed, cmp.Or(o.Error, "The turn failed.")
	case session.StopAborted:
		if p.State = api.RunCanceled; o.HostEnded {
			p.State, p.Reason = api.RunFailed, "The host ended in the middle of it."
		}
	default:
		p.State, p.Reason = api.RunSucceeded, ""
	}
	return p, nil
}

// Cancel implements Sessions.
func (a *Runs) Cancel(ctx context.Context, sessionID, runID string) error {
	opened, err := a.Manager.Open(sessionID)
	if err != nil {
		return err
	}
	o, err := opened.Outcome(ctx, runID)
	if err != nil || o.TurnID == "" {
		return err
	}
	_, err = opened.CancelTurn(ctx, o.TurnID)
	return err
}
