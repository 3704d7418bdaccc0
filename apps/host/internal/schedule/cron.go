package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a database of time zones

	"github.com/adhocore/gronx"
)

// cron is a cron expression in a time zone. Its fields are compared with wall clocks of the
// zone. A time that does not exist, because clocks are set forward, becomes the next minute
// that does; a time that occurs twice counts once, when it occurs first.
type cron struct {
	expr string
	zone *time.Location
}

// names of expressions that people use instead of five fields.
const cronNames = "@yearly @annually @monthly @weekly @daily @hourly"

// parseCron reads an expression of five fields, or one of cronNames. zone is an IANA name, or
// "" for that of the machine.
func parseCron(expr, zone string) (cron, error) {
	location, err := loadZone(zone)
	if err != nil {
		return cron{}, err
	}
	expr = strings.Join(strings.Fields(expr), " ")
	if strings.HasPrefix(expr, "@") {
		if !strings.Contains(" "+cronNames+" ", " "+expr+" ") {
			return cron{}, fmt.Errorf("unknown cron expression %.64q: use five fields, or one of %s", expr, cronNames)
		}
	} else if n := len(strings.Fields(expr)); n != 5 {
		return cron{}, fmt.Errorf("the cron expression %.64q has %d fields: it needs five, for minute, hour, day of month, month and day of week", expr, n)
	}
	g := gronx.New()
	if !g.IsValid(expr) {
		return cron{}, fmt.Errorf("the cron expression %.64q is not valid: \"0 3 * * 1-5\" means at 3:00 on workdays", expr)
	}
	c := cron{expr, location}
	if _, err := c.wallAfter(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		return cron{}, fmt.Errorf("the cron expression %.64q never matches a date", expr)
	}
	return c, nil
}

func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, fmt.Errorf("unknown time zone %.64q: use an IANA name such as Europe/Berlin or UTC", name)
	}
	return location, nil
}

// wallAfter returns the next match after a wall clock. Both are given in UTC, where each wall
// clock exists once.
func (c cron) wallAfter(wall time.Time) (time.Time, error) {
	next, err := gronx.NextTickAfter(c.expr, wall, false)
	if err == nil && !next.After(wall) {
		err = errors.New("no later match")
	}
	return next, err
}

// maxRepeated bounds the wall clocks that occurred already: clocks are set back by three hours
// at most, with one match per minute.
const maxRepeated = 4 * 60

// next returns the first time of the schedule after t; false if there is none.
func (c cron) next(t time.Time) (time.Time, bool) {
	wall := wallOf(t.In(c.zone))
	for range maxRepeated {
		var err error
		if wall, err = c.wallAfter(wall); err != nil {
			return time.Time{}, false
		}
		if at := c.instant(wall); at.After(t) {
			return at, true
		}
	}
	return time.Time{}, false
}

// last returns the last time of the schedule that is after from and not after to. The caller
// knows that there is one.
func (c cron) last(from, to time.Time) time.Time {
	low, high := from, to // a match follows low, and none that is due follows high
	for high.Sub(low) > time.Minute {
		middle := low.Add(high.Sub(low) / 2)
		if at, ok := c.next(middle); ok && !at.After(to) {
			low = middle
		} else {
			high = middle
		}
	}
	at, _ := c.next(low)
	return at
}

// wallOf returns the wall clock of t as a time in UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// instant returns when a wall clock first occurs in the zone. If it does not occur, it returns
// the first minute after it that does.
func (c cron) instant(wall time.Time) time.Time {
	// Between two days before and two days after it, the zone has few offsets.
	t, end := wall.Add(-48*time.Hour), wall.Add(48*time.Hour)
	for t.Before(end) {
		local := t.In(c.zone)
		_, offset := local.Zone()
		_, until := local.ZoneBounds()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if !at.Before(t) && (until.IsZero() || at.Before(until)) {
			return at
		}
		if until.IsZero() {
			break
		}
		if wallOf(until.In(c.zone)).After(wall) { // it was skipped
			return roundUp(until)
		}
		t = until
	}
	return time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), 0, 0, c.zone)
}

func roundUp(t time.Time) time.Time {
	if whole := t.Truncate(time.Minute); whole.Before(t) {
		return whole.Add(time.Minute)
	}
	return t
}
