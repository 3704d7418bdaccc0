package session

import (
	"math"
	"regexp"
	"strconv"
	"time"
)

// unknownDate is the date of a missing or malformed timestamp. It sorts after every
// other date and is written as null.
const unknownDate = math.MaxInt64

// rfc3339 is stricter than time.Parse, and identical to the TypeScript expression.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// parseDate returns a timestamp in Unix milliseconds. Pi and scorel write RFC 3339
// in UTC; offsets are accepted too. All other text is unknownDate.
func parseDate(text string) int64 {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !rfc3339.MatchString(text) {
		return unknownDate
	}
	return t.UnixMilli()
}

// appendDate writes a date as JSON.
func appendDate(dst []byte, ms int64) []byte {
	if ms == unknownDate {
		return append(dst, "null"...)
	}
	return strconv.AppendInt(dst, ms, 10)
}
