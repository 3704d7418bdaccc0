package schedule

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTimesOfACronExpression: a time that does not exist becomes the next minute that does, and
// a time that occurs twice counts once.
func TestTimesOfACronExpression(t *testing.T) {
	for _, c := range []struct {
		name, expr, zone, from string
		want                   []string
	}{
		{"every night", "0 3 * * *", "UTC", "2026-11-01T02:00:00Z", []string{"2026-11-01T03:00:00Z", "2026-11-02T03:00:00Z"}},
		{"workdays", "30 8 * * 1-5", "Europe/Berlin", "2026-11-20T08:00:00Z", []string{"2026-11-23T07:30:00Z"}},
		{"set forward: 2:30 does not exist", "30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}},
		{"set forward: quarters fall on one minute", "*/15 2,3 * * *", "Europe/Berlin", "2026-03-29T00:50:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T01:15:00Z"}},
		{"set forward: every hour", "0 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", []string{"2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"}},
		{"set forward at midnight", "0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00Z", []string{"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"}},
		{"set back: 2:30 occurs twice", "30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}},
		{"set back: between both", "30 2 * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", []string{"2026-10-26T01:30:00Z"}},
		{"set back: quarters run once", "*/15 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", []string{"2026-10-25T00:45:00Z", "2026-10-25T02:00:00Z"}},
		{"west of UTC", "30 2 * * *", "America/New_York", "2026-11-20T05:00:00Z", []string{"2026-11-20T07:30:00Z"}},
		{"west of UTC, set forward", "30 2 * * *", "America/New_York", "2026-03-08T05:00:00Z", []string{"2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"}},
		{"west of UTC, set back", "30 1 * * *", "America/New_York", "2026-11-01T04:00:00Z", []string{"2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"}},
		{"half an hour", "0 2 * * *", "Australia/Lord_Howe", "2026-10-03T10:00:00Z", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:00:00Z"}},
		{"a date that is rare", "0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", []string{"2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"}},
		{"names", "@daily", "UTC", "2026-01-01T00:00:00Z", []string{"2026-01-02T00:00:00Z"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := parseCron(c.expr, c.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, c.from)
			if err != nil {
				t.Fatal(err)
			}
			from := at
			for _, want := range c.want {
				next, ok := parsed.next(at)
				if got := next.UTC().Format(time.RFC3339); !ok || got != want {
					t.Fatalf("after %s comes %s, want %s", at.UTC().Format(time.RFC3339), got, want)
				}
				if last := parsed.last(from, next); !last.Equal(next) {
					t.Errorf("the last one until %s is %s", next, last)
				}
				at = next
			}
		})
	}
}

// TestWrongCronExpressions: errors say what is wrong.
func TestWrongCronExpressions(t *testing.T) {
	for expr, want := range map[string]string{
		"": "has 0 fields", "0 3 * *": "has 4 fields", "0 0 3 * * *": "has 6 fields", "61 * * * *": "not valid", "a b c d e": "not valid",
		"0 0 31 2 *": "never matches", "@always": "unknown cron expression", "@everysecond": "unknown cron expression",
	} {
		if _, err := parseCron(expr, "UTC"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", expr, err, want)
		}
	}
	for _, zone := range []string{"Mars/Olympus", "Local", "../etc/passwd"} {
		if _, err := parseCron("0 3 * * *", zone); err == nil || !strings.Contains(err.Error(), "unknown time zone") {
			t.Errorf("%q: %v", zone, err)
		}
	}
}

func TestPreviewedTimesFollowTheClock(t *testing.T) {
	c, err := parseCron("30 2 * * *", "Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, at := range c.after(time.Date(2026, 3, 27, 12, 0, 0, 0, zone), 3) {
		got = append(got, time.UnixMilli(at).In(zone).Format("01-02 15:04"))
	}
	// On 29 March, clocks are set forward from 2:00 to 3:00.
	if want := []string{"03-28 02:30", "03-29 03:00", "03-30 02:30"}; !slices.Equal(got, want) {
		t.Errorf("times %v, want %v", got, want)
	}
}
