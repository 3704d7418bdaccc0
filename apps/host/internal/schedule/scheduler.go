package schedule

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Times of the scheduler.
const (
	// lookEvery is the longest time between two looks at the clock: timers stand still while
	// the machine sleeps.
	lookEvery = 30 * time.Second
	// punctual is how late a run may begin without counting as missed.
	punctual = 2 * time.Minute
	// defaultWindow is how late a missed run may begin.
	defaultWindow = 12 * time.Hour
	// correction is how far the clock must be behind a time that was handled before that time
	// is forgotten. A clock that is set back by less repeats nothing.
	correction = 25 * time.Hour
)

// Sessions starts runs and knows what became of them. Its methods may wait.
type Sessions interface {
	// Start creates the session of a run and sends its prompt. Repeating it changes nothing. A
	// *api.Error is final.
	Start(context.Context, Start) (sessionID string, err error)
	// Look returns how far a run is.
	Look(ctx context.Context, sessionID, runID string) (Progress, error)
	// Cancel cancels the turn of a run, if it runs.
	Cancel(ctx context.Context, sessionID, runID string) error
	// Done notes that a run has ended.
	Done(sessionID string, spec api.ScheduleSpec)
}

// Start is what a run does.
type Start struct {
	ScheduleID, ProjectID, RunID, Author string
	Spec                                 api.ScheduleSpec
	Prompt                               string
	Outside                              bool
}

// Progress is how far a run is.
type Progress struct {
	Pending bool   // it has not ended
	Waiting bool   // for a person
	Reason  string // why it failed or was canceled
	// State is how it ended; "" if it is pending, or if that is not known.
	State api.ScheduleRunState
}

// Options are the parts that a Scheduler works with. All are required.
type Options struct {
	Logger   *slog.Logger
	Folder   string // for the files of the schedules
	Sessions Sessions
	// Changed is called after the schedules of a project, or their runs, changed.
	Changed func(projectID string)
	// Project returns the folder of a project.
	Project func(id string) (string, error)
	// GitHub returns the answer of GitHub's REST API to a GET.
	GitHub func(ctx context.Context, path string) ([]byte, error)
	Now    func() time.Time
	// After is time.After except in tests.
	After func(time.Duration) <-chan time.Time
}

// Scheduler owns the schedules of a home.
type Scheduler struct {
	Options
	files    files
	commands chan func()
	done     chan struct{} // closed when Run has returned
	observed observed

	// Owned by Run.
	ctx      context.Context
	work     sync.WaitGroup
	records  map[string]record
	problems map[string]string // why schedules do not run, for people
	probing  map[string]bool   // runs that are being looked at; true: once more
	// launching are the runs whose session is being created.
	launching map[string]bool
	// Of schedules with events from outside, by id.
	rates    map[string][]time.Time         // when requests came in the last minute
	polls    map[string]time.Time           // when to look next
	polling  map[string]bool                // a look has begun
	failures map[string]int                 // looks that failed, in a row
	settling map[string]map[string]seenFile // files at the last look
	looked   time.Time                      // at the clock
}

// New loads the schedules. Run runs them.
func New(o Options) (*Scheduler, error) {
	s := &Scheduler{
		Options: o, files: files{o.Folder}, commands: make(chan func()), done: make(chan struct{}), probing: map[string]bool{}, launching: map[string]bool{}, problems: map[string]string{},
		rates: map[string][]time.Time{}, polls: map[string]time.Time{}, polling: map[string]bool{}, failures: map[string]int{}, settling: map[string]map[string]seenFile{},
		observed: observed{wake: make(chan struct{}, 1), interest: map[string]bool{}, busy: map[string]bool{}, dirty: map[string]bool{}},
	}
	var err error
	if s.records, err = s.files.load(); err != nil {
		return nil, err
	}
	s.follow()
	return s, nil
}

// Run runs schedules until ctx ends, and waits for what it has begun. Runs continue without
// it: they are sessions.
func (s *Scheduler) Run(ctx context.Context) {
	defer close(s.done)
	defer s.work.Wait()
	s.ctx, s.looked = ctx, s.Now()
	s.resume()
	for {
		wait := s.tick()
		select {
		case <-ctx.Done():
			return
		case do := <-s.commands:
			do()
		case <-s.observed.wake:
			s.react(s.observed.take())
		case <-s.After(wait):
			s.sweep()
		}
	}
}

// do runs fn in the scheduler's goroutine and waits for it.
func (s *Scheduler) do(ctx context.Context, fn func()) error {
	ran := make(chan struct{})
	select {
	case s.commands <- func() { fn(); close(ran) }:
		<-ran
		return nil
	case <-s.done:
		return api.Errorf(api.KindUnavailable, "the host is shutting down: try again in a moment")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// goTo runs work in a goroutine, and then its result in the scheduler's.
func (s *Scheduler) goTo(work func(context.Context) func()) {
	ctx := s.ctx
	s.work.Go(func() {
		then := work(ctx)
		select {
		case s.commands <- then:
		case <-ctx.Done():
		}
	})
}

// change stores a changed schedule, or leaves everything as it was; false then.
func (s *Scheduler) change(id string, do func(*record)) bool {
	return s.changeOr(id, do) == nil
}

func (s *Scheduler) changeOr(id string, do func(*record)) error {
	before, known := s.records[id]
	if !known {
		return unknown(id)
	}
	after := before.clone()
	do(&after)
	if err := s.files.save(after); err != nil {
		s.Logger.Error("storing a schedule; the change is dropped", "schedule", id, "error", err)
		return err
	}
	s.records[id] = after
	s.follow()
	s.Changed(after.ProjectID)
	return nil
}

// follow says which sessions are of interest.
func (s *Scheduler) follow() {
	interest := map[string]bool{}
	for _, r := range s.records {
		if a := r.active(); a != nil && a.SessionID != "" {
			interest[a.SessionID] = true
		}
		if after := r.Spec.When.After; after != nil && after.SessionID != "" && r.Enabled {
			interest[after.SessionID] = true
		}
	}
	s.observed.follow(interest)
}

// ids returns the ids of all schedules in one order.
func (s *Scheduler) ids() []string { return keysOf(s.records) }

// resume continues with the runs that had not ended when the host did.
func (s *Scheduler) resume() {
	for _, id := range s.ids() {
		r := s.records[id]
		switch a := r.active(); {
		case a == nil:
			s.startNext(id)
		case a.State == api.RunStarting:
			s.launch(id, *a)
		default:
			s.again(id, *a, true)
		}
	}
}

// again looks at a run that has a session, and cancels it once more if it is to end.
func (s *Scheduler) again(id string, a run, lost bool) {
	s.probe(id, a.ID, lost)
	if a.Ending != "" {
		s.cancel(id, a.ID)
	}
}

// sweep looks at all runs, in case a change of one was missed.
func (s *Scheduler) sweep() {
	for _, id := range s.ids() {
		r := s.records[id]
		switch a := r.active(); {
		case a == nil:
			s.startNext(id)
		case a.State == api.RunStarting:
			s.launch(id, *a)
		default:
			s.again(id, *a, false)
		}
	}
}

// Observe notes a change of a session. It does not block.
func (s *Scheduler) Observe(summary api.SessionSummary) { s.observed.note(summary) }

// Gone notes that a session was deleted.
func (s *Scheduler) Gone(sessionID string) { s.observed.note(api.SessionSummary{ID: sessionID}) }

// react handles changes of sessions.
func (s *Scheduler) react(changed map[string]bool) {
	for _, id := range s.ids() {
		r := s.records[id]
		if a := r.active(); a != nil && a.SessionID != "" {
			if _, ok := changed[a.SessionID]; ok {
				s.probe(id, a.ID, false)
			}
		}
		if after := r.Spec.When.After; after != nil && after.SessionID != "" && changed[after.SessionID] && r.Enabled {
			s.fire(id, newRun(api.CauseSession, "", s.Now().UnixMilli()))
		}
	}
}
