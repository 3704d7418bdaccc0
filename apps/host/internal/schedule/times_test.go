package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestARunAtItsTime: a schedule runs at its times, once each, and the end of the run is stored.
func TestARunAtItsTime(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("nightly", daily("UTC"))
	w.at("2026-11-23T02:59:59Z")
	w.want(id)
	w.at("2026-11-23T03:00:00Z")
	runs := w.want(id, api.RunRunning)
	w.at("2026-11-23T03:00:10Z")
	w.ends(runs[0].ID, Progress{State: api.RunSucceeded})
	runs = w.want(id, api.RunSucceeded)
	if runs[0].Cause != api.CauseTime || runs[0].SessionID == "" || runs[0].EndedAt == 0 {
		t.Errorf("the run is %+v", runs[0])
	}
	w.at("2026-11-24T03:00:01Z")
	w.want(id, api.RunRunning, api.RunSucceeded)
}

// TestSleep: what was due while the machine slept, or the host was off, runs once, unless it is
// too late or the schedule skips it.
func TestSleep(t *testing.T) {
	for name, restart := range map[string]bool{"asleep": false, "off": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "2026-11-23T02:00:00Z")
			wake := func(at string) {
				if w.setClock(at); restart {
					w.restart()
				}
				w.at(at)
			}
			made := w.add("made up", daily("UTC"))
			spec := daily("UTC")
			spec.Missed = api.MissedSkip
			skips := w.add("skips", spec)
			spec = daily("UTC")
			spec.WindowSeconds = 3600
			late := w.add("late", spec)
			once := w.add("once", api.ScheduleSpec{When: api.ScheduleWhen{At: w.clock().UnixMilli() + 1000}})
			wake("2026-11-26T08:00:00Z") // three nights later
			runs := w.want(made, api.RunRunning)
			if runs[0].Cause != api.CauseMissed {
				t.Errorf("the cause is %s", runs[0].Cause)
			}
			if runs := w.want(skips, api.RunSkipped); !strings.Contains(runs[0].Reason, "off or asleep") {
				t.Errorf("the reason is %q", runs[0].Reason)
			}
			if runs := w.want(late, api.RunSkipped); !strings.Contains(runs[0].Reason, "longer than 1h") {
				t.Errorf("the reason is %q", runs[0].Reason)
			}
			w.want(once, api.RunSkipped)
			wake("2026-11-26T08:00:40Z")
			w.want(made, api.RunRunning)
			w.want(skips, api.RunSkipped)
		})
	}
}

// TestTheClockJumps: a clock that is set forward runs a time once, and one that is set back
// repeats nothing. A clock that was wrong by more than a day is corrected.
func TestTheClockJumps(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("nightly", daily("UTC"))
	w.at("2026-11-23T04:30:00Z") // set forward by two hours
	first := w.want(id, api.RunRunning)
	w.ends(first[0].ID, Progress{State: api.RunSucceeded})
	w.want(id, api.RunSucceeded)
	w.at("2026-11-23T02:30:00Z") // set back
	w.at("2026-11-23T03:00:00Z") // for the second time
	w.want(id, api.RunSucceeded)
	w.at("2026-11-24T03:00:00Z")
	second := w.want(id, api.RunRunning, api.RunSucceeded)
	w.ends(second[0].ID, Progress{State: api.RunSucceeded})
	w.want(id, api.RunSucceeded, api.RunSucceeded)
	w.at("2031-01-01T03:00:00Z") // wrong by years
	third := w.want(id, api.RunRunning, api.RunSucceeded, api.RunSucceeded)
	w.ends(third[0].ID, Progress{State: api.RunSucceeded})
	w.want(id, api.RunSucceeded, api.RunSucceeded, api.RunSucceeded)
	w.at("2026-11-24T03:10:00Z") // and right again
	w.want(id, api.RunSucceeded, api.RunSucceeded, api.RunSucceeded)
	w.at("2026-11-25T03:00:00Z")
	w.want(id, api.RunRunning, api.RunSucceeded, api.RunSucceeded, api.RunSucceeded)
}

// TestAClockThatWasAheadLosesNoRun: times that ran too early run again when they really come, once.
func TestAClockThatWasAheadLosesNoRun(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("nightly", daily("UTC"))
	var want []api.ScheduleRunState
	runs := func(at string) {
		t.Helper()
		w.at(at)
		one := w.want(id, append([]api.ScheduleRunState{api.RunRunning}, want...)...)
		w.ends(one[0].ID, Progress{State: api.RunSucceeded})
		want = append(want, api.RunSucceeded)
		w.want(id, want...)
	}
	rests := func(at string) {
		t.Helper()
		w.at(at)
		w.want(id, want...)
	}
	runs("2026-11-26T03:00:30Z") // three days ahead
	rests("2026-11-23T02:30:00Z")
	for _, day := range []string{"23", "24", "25", "26", "27"} {
		runs("2026-11-" + day + "T03:00:00Z")
		rests("2026-11-" + day + "T03:01:00Z")
	}
	rests("2026-11-27T02:30:00Z") // set back: it ran, also if it is enabled again
	for _, enabled := range []bool{false, true} {
		w.inside(func() { w.change(id, func(r *record) { r.enable(enabled, w.clock().UnixMilli()) }) })
	}
	rests("2026-11-27T03:00:00Z")
	runs("2026-11-28T03:00:00Z")
}

// TestAOneTimeScheduleRunsAgain: one that ran while the clock was ahead can be enabled again.
func TestAOneTimeScheduleRunsAgain(t *testing.T) {
	w := newWorld(t, "2026-11-23T02:00:00Z")
	id := w.add("once", api.ScheduleSpec{When: api.ScheduleWhen{At: w.clock().Add(time.Hour).UnixMilli()}})
	w.at("2026-11-23T03:00:00Z") // an hour ahead
	one := w.want(id, api.RunRunning)
	w.ends(one[0].ID, Progress{State: api.RunSucceeded})
	w.want(id, api.RunSucceeded)
	w.at("2026-11-23T02:01:00Z")
	w.inside(func() { w.change(id, func(r *record) { r.enable(true, w.clock().UnixMilli()) }) })
	w.at("2026-11-23T03:00:00Z")
	w.want(id, api.RunRunning, api.RunSucceeded)
}

// TestDaylightSaving: in the night in which clocks are set forward a time that is skipped runs
// at the next minute, and in the night in which they are set back a time runs once.
func TestDaylightSaving(t *testing.T) {
	for _, c := range []struct{ name, before, at, later, between string }{
		{"forward", "2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z", "2026-03-29T02:30:00Z"},
		{"back", "2026-10-25T00:29:59Z", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z", "2026-10-25T01:30:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, c.before)
			id := w.add("at half past two", api.ScheduleSpec{When: api.ScheduleWhen{Cron: "30 2 * * *", Zone: "Europe/Berlin"}})
			w.at(c.before)
			w.want(id)
			w.at(c.at)
			runs := w.want(id, api.RunRunning)
			w.ends(runs[0].ID, Progress{State: api.RunSucceeded})
			w.want(id, api.RunSucceeded)
			w.at(c.between)
			w.want(id, api.RunSucceeded)
			w.at(c.later)
			w.want(id, api.RunRunning, api.RunSucceeded)
		})
	}
}

// TestOverlap: a run that is due while another one runs is skipped, or one of them waits.
func TestOverlap(t *testing.T) {
	w := newWorld(t, "2026-11-23T00:00:30Z")
	spec := api.ScheduleSpec{When: api.ScheduleWhen{Cron: "* * * * *", Zone: "UTC"}}
	skips := w.add("skips", spec)
	spec.Overlap = api.OverlapQueue
	queues := w.add("queues", spec)
	w.at("2026-11-23T00:01:00Z")
	w.want(skips, api.RunRunning)
	first := w.want(queues, api.RunRunning)
	w.at("2026-11-23T00:02:00Z")
	w.want(skips, api.RunSkipped, api.RunRunning)
	w.want(queues, api.RunQueued, api.RunRunning)
	w.at("2026-11-23T00:03:00Z")
	w.want(queues, api.RunQueued, api.RunSkipped, api.RunRunning)
	w.ends(first[0].ID, Progress{State: api.RunSucceeded})
	w.want(queues, api.RunRunning, api.RunSkipped, api.RunSucceeded)
}
