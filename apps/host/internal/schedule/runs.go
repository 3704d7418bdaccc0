package schedule

import (
	"context"
	"errors"

	"github.com/scorel/scorel/packages/protocol/api"
)

// startNext starts the run that waits longest, unless one has not ended. It is stored before
// its session is created.
func (s *Scheduler) startNext(id string) {
	r := s.records[id]
	if r.active() != nil || len(r.Queue) == 0 {
		return
	}
	one := r.Queue[0]
	one.State, one.StartedAt = api.RunStarting, s.Now().UnixMilli()
	if s.change(id, func(r *record) {
		r.Queue = r.Queue[1:]
		r.put(one)
	}) {
		s.launch(id, one)
	}
}

// launch creates the session of a run, which may have been done before the host ended.
func (s *Scheduler) launch(id string, one run) {
	if s.launching[one.ID] {
		return
	}
	s.launching[one.ID] = true
	r := s.records[id]
	start := Start{
		ScheduleID: id, ProjectID: r.ProjectID, RunID: one.ID, Author: r.Author, Spec: r.Spec,
		Prompt: promptOf(r.Spec.Prompt, one), Outside: one.Text != "",
	}
	s.goTo(func(ctx context.Context) func() {
		sessionID, err := s.Sessions.Start(ctx, start)
		return func() { s.launched(ctx, id, one.ID, sessionID, err) }
	})
}

// launched notes what became of the start of a run. If that cannot be stored, the next sweep
// starts it again, which changes nothing.
func (s *Scheduler) launched(ctx context.Context, id, runID, sessionID string, err error) {
	delete(s.launching, runID)
	if ctx.Err() != nil { // the next host starts it
		return
	}
	if err != nil {
		s.finish(id, runID, api.RunFailed, "It could not start: "+err.Error())
		return
	}
	s.changeRun(id, runID, func(one *run) { one.SessionID, one.State = sessionID, api.RunRunning })
	s.probe(id, runID, false)
}

// changeRun changes a run that has not ended.
func (s *Scheduler) changeRun(id, runID string, do func(*run)) bool {
	r := s.records[id]
	if one := r.run(runID); one == nil || one.State.Ended() {
		return false
	}
	return s.change(id, func(r *record) { do(r.run(runID)) })
}

// probe looks how far a run is. lost says that a run which neither runs nor has ended is lost:
// the host ended in the middle of it.
func (s *Scheduler) probe(id, runID string, lost bool) {
	r := s.records[id]
	one := r.run(runID)
	if one == nil || one.State.Ended() || one.SessionID == "" {
		return
	}
	if _, probing := s.probing[runID]; probing {
		s.probing[runID] = true
		return
	}
	s.probing[runID] = false
	sessionID := one.SessionID
	s.goTo(func(ctx context.Context) func() {
		progress, err := s.Sessions.Look(ctx, sessionID, runID)
		return func() {
			again := s.probing[runID]
			delete(s.probing, runID)
			s.progressed(id, runID, progress, err, lost)
			if again {
				s.probe(id, runID, false)
			}
		}
	})
}

// progressed notes how far a run is.
func (s *Scheduler) progressed(id, runID string, p Progress, err error, lost bool) {
	r := s.records[id]
	one := r.run(runID)
	var refused *api.Error
	switch {
	case one == nil || one.State.Ended():
	case errors.As(err, &refused) && refused.Kind == api.KindNotFound:
		s.finish(id, runID, api.RunFailed, "Its session was deleted, or moved to another machine.")
	case err != nil:
		s.Logger.Warn("looking at the run of a schedule", "schedule", id, "run", runID, "error", err)
	case p.State != "":
		s.finish(id, runID, p.State, p.Reason)
	case !p.Pending && lost:
		s.finish(id, runID, api.RunFailed, "The host ended in the middle of it.")
	case p.Waiting && r.Spec.OnApproval == api.ScheduleEnd:
		s.end(id, runID, "It needed a person, and its schedule ends such runs.")
	case p.Waiting != (one.State == api.RunWaiting):
		s.changeRun(id, runID, func(one *run) {
			if one.State = api.RunRunning; p.Waiting {
				one.State = api.RunWaiting
			}
		})
	}
}

// end cancels a run. The reason is stored first.
func (s *Scheduler) end(id, runID, reason string) {
	r := s.records[id]
	one := r.run(runID)
	if one == nil || one.Ending != "" || !s.changeRun(id, runID, func(one *run) { one.Ending = reason }) {
		return
	}
	s.cancel(id, runID)
}

// cancel cancels the turn of a run that is to end. If that fails, the next sweep tries again.
func (s *Scheduler) cancel(id, runID string) {
	r := s.records[id]
	sessionID := r.run(runID).SessionID
	s.goTo(func(ctx context.Context) func() {
		err := s.Sessions.Cancel(ctx, sessionID, runID)
		return func() {
			if err != nil {
				s.Logger.Warn("ending the run of a schedule", "schedule", id, "run", runID, "error", err)
				return
			}
			s.probe(id, runID, false)
		}
	})
}

// finish stores how a run ended, and starts what comes after it.
func (s *Scheduler) finish(id, runID string, state api.ScheduleRunState, reason string) {
	r := s.records[id]
	one := r.run(runID)
	if one == nil || one.State.Ended() {
		return
	}
	if one.Ending != "" && state == api.RunCanceled {
		state, reason = api.RunFailed, one.Ending
	}
	s.fireAfter(r, runID, state) // first: if the host ends between both, the event's key keeps it from counting twice
	now := s.Now().UnixMilli()
	if s.changeRun(id, runID, func(one *run) {
		one.State, one.Reason, one.EndedAt, one.Text, one.Ending = state, reason, now, "", ""
	}) {
		if one.SessionID != "" {
			s.Sessions.Done(one.SessionID, r.Spec)
		}
		s.startNext(id)
	}
}

// fireAfter runs the schedules that follow the runs of another.
func (s *Scheduler) fireAfter(r record, runID string, state api.ScheduleRunState) {
	for _, id := range s.ids() {
		other := s.records[id]
		after := other.Spec.When.After
		if after == nil || after.ScheduleID != r.ID || !other.Enabled || other.ProjectID != r.ProjectID {
			continue
		}
		succeeded := state == api.RunSucceeded
		switch after.Outcome {
		case api.OutcomeFailed:
			if succeeded {
				continue
			}
		case api.OutcomeEnded:
		default:
			if !succeeded {
				continue
			}
		}
		s.fire(id, newRun(api.CauseRun, "run:"+runID, s.Now().UnixMilli()))
	}
}
