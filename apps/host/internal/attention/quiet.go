package attention

import (
	"time"
	_ "time/tzdata" // machines without a database of time zones

	"github.com/scorel/scorel/packages/protocol/api"
)

// checkQuiet returns why quiet hours cannot be used.
func checkQuiet(q api.PushQuiet) error {
	if q == (api.PushQuiet{}) {
		return nil
	}
	from, errFrom := minutes(q.From)
	to, errTo := minutes(q.To)
	if errFrom != nil || errTo != nil {
		return api.Errorf(api.KindBadRequest, "quiet hours need two times such as 22:00 and 07:30")
	}
	if from == to {
		return api.Errorf(api.KindBadRequest, "quiet hours begin and end at the same time: use the level none to turn notifications off")
	}
	if _, err := time.LoadLocation(q.Zone); err != nil || q.Zone == "" || q.Zone == "Local" {
		return api.Errorf(api.KindBadRequest, "the time zone %.64q is unknown: use a name such as Europe/Berlin", q.Zone)
	}
	return nil
}

// minutes reads a time of day as minutes since midnight.
func minutes(s string) (int, error) {
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err
}

// quietUntil returns when quiet hours end that include now; the zero time if none do. A time of
// day that a change of the clock skips, or has twice, is read as the time zone's rules say.
func quietUntil(q *api.PushQuiet, now time.Time) time.Time {
	if q == nil || *q == (api.PushQuiet{}) || checkQuiet(*q) != nil {
		return time.Time{}
	}
	zone, _ := time.LoadLocation(q.Zone) // checked
	from, _ := minutes(q.From)
	to, _ := minutes(q.To)
	local := now.In(zone)
	at := func(day, minute int) time.Time {
		return time.Date(local.Year(), local.Month(), local.Day()+day, 0, minute, 0, 0, zone)
	}
	for day := -1; day <= 0; day++ { // those that began yesterday, and today
		begin, end := at(day, from), at(day, to)
		if to < from {
			end = at(day+1, to)
		}
		if !now.Before(begin) && now.Before(end) {
			return end
		}
	}
	return time.Time{}
}
