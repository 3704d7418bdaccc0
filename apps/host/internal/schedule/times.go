package schedule

import (
	"fmt"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// tick starts what is due and returns how long nothing else is.
func (s *Scheduler) tick() time.Duration {
	now := s.Now()
	// What the clock shows more than this passed while the machine slept, or was set.
	passed := min(max(now.Sub(s.looked), 0), 2*lookEvery)
	s.looked = now
	wait := lookEvery
	for _, id := range s.ids() {
		s.due(id, now)
		if next, ok := nextOf(s.records[id]); ok {
			wait = min(wait, max(next.Sub(now), 0))
		}
		if left, limited := s.spend(id, passed); limited {
			wait = min(wait, left)
		}
		if pause, polls := s.poll(id, now); polls {
			wait = min(wait, pause)
		}
	}
	return max(wait, time.Second) // also where a change cannot be stored
}

// nextOf returns when a schedule is due next; false if it is not by its time.
func nextOf(r record) (time.Time, bool) {
	when, handled := r.Spec.When, time.UnixMilli(r.Handled)
	switch {
	case !r.Enabled:
	case when.At != 0 && r.Handled < when.At:
		return time.UnixMilli(when.At), true
	case when.Cron != "":
		if c, err := parseCron(when.Cron, when.Zone); err == nil {
			return c.next(handled)
		}
	}
	return time.Time{}, false
}

// due runs a schedule whose time has come. Of several times that have passed, the last counts.
func (s *Scheduler) due(id string, now time.Time) {
	r := s.records[id]
	if time.UnixMilli(r.Handled).Sub(now) > correction {
		s.change(id, func(r *record) { r.Handled = now.UnixMilli() })
		r = s.records[id]
	}
	at, ok := nextOf(r)
	if !ok || at.After(now) {
		return
	}
	if r.Spec.When.Cron != "" {
		if c, err := parseCron(r.Spec.When.Cron, r.Spec.When.Zone); err == nil {
			at = c.last(at.Add(-time.Minute), now)
		}
	}
	late := now.Sub(at)
	// It has no key: Handled alone says which times ran. A key would stay when Handled is corrected
	// after the clock was ahead, and the run would be lost when its time really comes.
	one := newRun(api.CauseTime, "", at.UnixMilli())
	if late > punctual {
		one.Cause = api.CauseMissed
	}
	window := defaultWindow
	if r.Spec.WindowSeconds > 0 {
		window = time.Duration(r.Spec.WindowSeconds) * time.Second
	}
	switch {
	case late > punctual && r.Spec.Missed == api.MissedSkip:
		one.State, one.Reason = api.RunSkipped, "The host was off or asleep at that time."
	case late > punctual && late > window:
		one.State, one.Reason = api.RunSkipped, fmt.Sprintf("The host was off or asleep for longer than %s after that time.", window)
	}
	s.fire(id, one)
}

// fire starts a run, has it wait, or skips it, as the schedule says, and notes that its event
// was handled. It reports whether that is stored.
func (s *Scheduler) fire(id string, one run) bool {
	if r := s.records[id]; r.saw(one.Key) {
		return true
	}
	now := s.Now().UnixMilli()
	stored := s.change(id, func(r *record) {
		r.see(one.Key)
		if one.Cause == api.CauseTime || one.Cause == api.CauseMissed {
			r.Handled = max(r.Handled, one.DueAt)
			if r.Spec.When.At != 0 {
				r.Enabled = false
			}
		}
		busy := r.active() != nil || len(r.Queue) > 0
		switch {
		case one.State == api.RunSkipped:
			one.EndedAt = now
			r.put(one)
		case !busy:
			r.Queue = append(r.Queue, one)
		case r.Spec.When.Outside() || r.Spec.Overlap == api.OverlapQueue && len(r.Queue) == 0:
			r.Queue = append(r.Queue, one)
		default:
			one.State, one.Reason, one.EndedAt = api.RunSkipped, "The run before it had not ended.", now
			if r.Spec.Overlap == api.OverlapQueue {
				one.Reason = "Another run was waiting already."
			}
			r.put(one)
		}
	})
	if stored {
		s.startNext(id)
	}
	return stored
}

// full reports whether no more events can wait for a schedule.
func (r *record) full() bool { return len(r.Queue) >= maxQueue }

// spend counts the time that a run has worked, and ends one that has used up its time. It
// returns what is left.
func (s *Scheduler) spend(id string, passed time.Duration) (left time.Duration, limited bool) {
	r := s.records[id]
	a := r.active()
	limit := time.Duration(r.Spec.Seconds) * time.Second
	if a == nil || limit == 0 || a.State != api.RunRunning || a.Ending != "" {
		return 0, false
	}
	a.ActiveMs += passed.Milliseconds() // stored with the next change of the run
	if left = limit - time.Duration(a.ActiveMs)*time.Millisecond; left > 0 {
		return left, true
	}
	s.end(id, a.ID, fmt.Sprintf("It ran for longer than its limit of %s.", limit))
	return 0, false
}
