package schedule

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// world is a scheduler whose clock and sessions the test controls.
type world struct {
	t *testing.T
	*Scheduler
	folder  string
	stop    func()
	wake    chan time.Time
	changed chan struct{}
	looks   atomic.Int64 // how often the scheduler looked at the time

	mu      sync.Mutex
	now     time.Time
	started []Start
	project string // its folder
	get     func(context.Context, string) ([]byte, error)
	runs    map[string]Progress // by run
	hold    chan struct{}       // while it is open, no session is created
	broken  error               // why no turn can be canceled
	cancels int                 // how often that was tried
}

func newWorld(t *testing.T, at string) *world {
	w := &world{t: t, folder: t.TempDir(), project: t.TempDir(), runs: map[string]Progress{}}
	w.setClock(at)
	w.begin()
	t.Cleanup(func() { w.stop() })
	return w
}

// begin starts a host on the folder.
func (w *world) begin() {
	w.wake, w.changed = make(chan time.Time), make(chan struct{}, 1)
	s, err := New(Options{
		Logger: slog.New(slog.DiscardHandler), Folder: w.folder, Sessions: w, Now: w.clock, After: w.after,
		Changed: func(string) { w.poke() }, Project: func(string) (string, error) { return w.project, nil }, GitHub: w.get,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.Scheduler = s
	ctx, cancel := context.WithCancel(context.Background())
	go s.Run(ctx)
	w.stop = func() { cancel(); <-s.done }
}

func (w *world) poke() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// restart ends the host and starts another one.
func (w *world) restart() {
	w.stop()
	w.begin()
}

func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// setClock changes the time without the scheduler being woken.
func (w *world) setClock(at string) {
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

// at sets the clock and has the scheduler look at it. No earlier look at a run is under way
// then: its end would have the scheduler look at the new time once more.
func (w *world) at(at string) {
	for busy := true; busy; runtime.Gosched() {
		w.inside(func() { busy = len(w.probing) > 0 })
	}
	w.setClock(at)
	w.wake <- time.Time{}
	w.inside(func() {})
}

// after is called when the scheduler has looked at the time, before it waits.
func (w *world) after(time.Duration) <-chan time.Time {
	w.looks.Add(1)
	return w.wake
}

// inside runs fn in the scheduler's goroutine, and waits until the scheduler has looked at
// the time after it. A time that is set earlier would be seen by that look too.
func (w *world) inside(fn func()) {
	var before int64
	if err := w.do(context.Background(), func() { fn(); before = w.looks.Load() }); err != nil {
		w.t.Fatal(err)
	}
	for w.looks.Load() == before {
		runtime.Gosched()
	}
}

// add creates a schedule.
func (w *world) add(name string, spec api.ScheduleSpec) string {
	w.t.Helper()
	spec.Name, spec.Prompt = name, "do it"
	var id string
	w.inside(func() {
		response, err := w.create("host", api.SaveScheduleRequest{ProjectID: "prj", ClientKey: name, Spec: spec, Token: "a token of many characters"})
		if err != nil {
			w.t.Error(err)
		}
		id = response.Schedule.ID
	})
	return id
}

// states returns the states of the runs of a schedule, newest first, once they are as wanted.
func (w *world) want(id string, states ...api.ScheduleRunState) []api.ScheduleRun {
	w.t.Helper()
	for {
		var runs []api.ScheduleRun
		var got []api.ScheduleRunState
		w.inside(func() {
			r := w.records[id]
			for _, one := range slices.Backward(r.Queue) {
				runs, got = append(runs, one.ScheduleRun), append(got, one.State)
			}
			for _, one := range r.Runs {
				runs, got = append(runs, one.ScheduleRun), append(got, one.State)
			}
		})
		if slices.Equal(got, states) {
			return runs
		}
		select {
		case <-w.changed:
		case <-time.After(20 * time.Second):
			w.t.Fatalf("the runs are %v, want %v", got, states)
		}
	}
}

// ends has the session of a run end.
func (w *world) ends(runID string, p Progress) {
	w.mu.Lock()
	w.runs[runID] = p
	w.mu.Unlock()
	w.Observe(api.SessionSummary{ID: "ses-" + runID})
}

// settled waits until no look for events from outside is under way.
func (w *world) settled(id string) {
	w.t.Helper()
	for busy := true; busy; {
		w.inside(func() { busy = w.polling[id] })
		runtime.Gosched()
	}
}

// endActive has the nth run of a schedule end, and waits for it.
func (w *world) endActive(id string, n int) {
	w.t.Helper()
	for {
		var active, ended string
		w.inside(func() {
			r := w.records[id]
			if a := r.active(); a != nil && a.State == api.RunRunning {
				active = a.ID
			}
			if r.active() == nil && len(r.Runs) > 0 {
				ended = r.Runs[0].ID
			}
		})
		w.mu.Lock()
		begun := len(w.runs)
		w.mu.Unlock()
		if active != "" && begun == n {
			w.ends(active, Progress{State: api.RunSucceeded})
		}
		if begun > n || begun == n && ended != "" {
			return
		}
		select {
		case <-w.changed:
		case <-time.After(20 * time.Second):
			w.t.Fatalf("run %d has not ended", n)
		}
	}
}

// runAll looks for events until each of some, more than can wait, has begun and ended a run.
func (w *world) runAll(id string, events int) {
	w.t.Helper()
	for n := 1; n <= events; n++ {
		if n == 1 || n == maxQueue+2 { // one runs, and maxQueue wait
			w.at(fmt.Sprintf("2026-11-23T02:%02d:00Z", n))
			w.settled(id)
		}
		w.endActive(id, n)
	}
	if got := w.count(); got != events {
		w.t.Errorf("%d of %d events began a run", got, events)
	}
}

// count returns how many sessions were created.
func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.Compact(slices.Sorted(maps.Keys(w.runs))))
}

func (w *world) Start(ctx context.Context, s Start) (string, error) {
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = append(w.started, s)
	if _, known := w.runs[s.RunID]; !known {
		w.runs[s.RunID] = Progress{Pending: true}
	}
	return "ses-" + s.RunID, nil
}

func (w *world) Look(_ context.Context, _, runID string) (Progress, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, known := w.runs[runID]
	if !known {
		return p, api.Errorf(api.KindNotFound, "there is no session")
	}
	return p, nil
}

func (w *world) Cancel(_ context.Context, _, runID string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancels++; w.broken != nil {
		return w.broken
	}
	w.runs[runID] = Progress{State: api.RunCanceled}
	return nil
}

func (w *world) Done(string, api.ScheduleSpec) {}

func daily(zone string) api.ScheduleSpec {
	return api.ScheduleSpec{When: api.ScheduleWhen{Cron: "0 3 * * *", Zone: zone}}
}
