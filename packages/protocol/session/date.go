package session

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// maxDate is the furthest a JavaScript Date goes, in milliseconds from 1970.
const maxDate = 8.64e15

// dateOf returns what new Date(value).getTime() gives for the text of a JSON
// value, in Unix milliseconds; nil is JavaScript's undefined.
func dateOf(value []byte) float64 {
	if len(value) == 0 {
		return math.NaN()
	}
	switch value[0] {
	case '"':
		return parseDate(unquote(value))
	case 'n', 'f':
		return 0
	case 't':
		return 1
	case '{', '[':
		return math.NaN()
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || math.Abs(n) > maxDate {
		return math.NaN()
	}
	return math.Trunc(n)
}

// appendDate writes a date as JSON.stringify does: a number, or null for NaN.
func appendDate(dst []byte, ms float64) []byte {
	if math.IsNaN(ms) {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, int64(ms), 10)
}

// parseDate reads a date as JavaScript does: ISO 8601 in its forms, else what
// else is usual. A time without a zone is taken as UTC, so that a file means the
// same on every machine.
func parseDate(text string) float64 {
	if ms, ok := parseISO(strings.ToUpper(text)); ok {
		return ms
	}
	for _, layout := range []string{
		"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04",
		"2006-01-02T15:04:05.999999999-0700", "2006-01-02 15:04:05.999999999-0700",
		"2006-1-2", "2006-1-2 15:04:05", "2006/01/02 15:04:05", "2006/01/02", "01/02/2006", "Jan 2, 2006", "Jan 2, 2006 15:04:05", "2 Jan 2006",
		time.RFC1123, time.RFC1123Z, time.ANSIC, "Mon Jan 02 2006 15:04:05 GMT-0700",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return float64(t.UnixMilli())
		}
	}
	return math.NaN()
}

// isoReader reads the fields of a date.
type isoReader struct {
	text string
	bad  bool
}

// digits reads n digits.
func (r *isoReader) digits(n int) int {
	if len(r.text) < n || skipDigits([]byte(r.text), 0) < n {
		r.bad = true
		return 0
	}
	value, _ := strconv.Atoi(r.text[:n])
	r.text = r.text[n:]
	return value
}

// next tells whether c is next, and passes it.
func (r *isoReader) next(c byte) bool {
	if r.text == "" || r.text[0] != c {
		return false
	}
	r.text = r.text[1:]
	return true
}

func parseISO(text string) (float64, bool) {
	r := isoReader{text: text}
	year := r.year()
	month, day := 1, 1
	if r.next('-') {
		month = r.digits(2)
		if r.next('-') {
			day = r.digits(2)
		}
	}
	var clock float64
	if !r.bad && r.next('T') {
		clock = r.clock()
	}
	if r.bad || r.text != "" || month < 1 || month > 12 || day < 1 || day > 31 {
		return 0, false
	}
	days := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / 86400
	ms := float64(days)*86_400_000 + clock
	if math.Abs(ms) > maxDate {
		return 0, false
	}
	return ms, true
}

// year reads four digits, or a sign and six.
func (r *isoReader) year() int {
	switch {
	case r.next('+'):
		return r.digits(6)
	case r.next('-'):
		year := r.digits(6)
		r.bad = r.bad || year == 0
		return -year
	}
	return r.digits(4)
}

// clock reads a time of day with its zone, in milliseconds from the start of the
// day in UTC.
func (r *isoReader) clock() float64 {
	hour := r.digits(2)
	r.bad = r.bad || !r.next(':')
	minute := r.digits(2)
	second, ms := 0, 0
	if r.next(':') {
		second = r.digits(2)
		if r.next('.') {
			ms = r.fraction()
		}
	}
	midnight := hour == 24 && minute == 0 && second == 0 && ms == 0
	if hour > 23 && !midnight || minute > 59 || second > 59 {
		r.bad = true
	}
	return float64(((hour*60+minute-r.zone())*60+second)*1000 + ms)
}

// fraction reads any number of digits, of which three count.
func (r *isoReader) fraction() int {
	n := skipDigits([]byte(r.text), 0)
	if n == 0 {
		r.bad = true
		return 0
	}
	three := (r.text[:n] + "00")[:3]
	r.text = r.text[n:]
	ms, _ := strconv.Atoi(three)
	return ms
}

// zone reads Z, an offset or nothing, in minutes east of UTC.
func (r *isoReader) zone() int {
	sign := 1
	switch {
	case r.text == "" || r.next('Z'):
		return 0
	case r.next('-'):
		sign = -1
	case !r.next('+'):
		r.bad = true
	}
	hours := r.digits(2)
	r.bad = r.bad || !r.next(':')
	minutes := r.digits(2)
	r.bad = r.bad || hours > 23 || minutes > 59
	return sign * (hours*60 + minutes)
}
