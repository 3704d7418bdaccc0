// Package window selects the part of a session that is sent at once: the entries that fit one
// answer, and the missed events. All limits are those of package api.
package window

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Last returns the last entries of a list that fit one answer, as they are sent: at most limit,
// and at least one. before is the seq at which the previous window ends; 0 if there is none.
func (v *View) Last(entries []session.Entry, limit int) (sent []session.Entry, before uint64) {
	size, first := 0, len(entries)
	for first > 0 && len(entries)-first < limit {
		length := v.sentSize(entries[first-1])
		if first < len(entries) && size+length > api.WindowBytes {
			break
		}
		size += length
		first--
	}
	if first > 0 && first < len(entries) {
		before = entries[first].Seq
	}
	return v.AllSendable(entries[first:]), before
}

// Around returns the entries around an index that fit one answer: half of limit before it and
// the rest after it. The result is entries[first:last].
func (v *View) Around(entries []session.Entry, at, limit int) (first, last int) {
	sent, _ := v.Last(entries[:at+1], limit/2+1)
	// Entries that cannot be parsed are left out of sent, so the window may begin later.
	first = at + 1 - len(sent)
	size := 0
	for _, e := range entries[first : at+1] {
		size += v.sentSize(e)
	}
	for last = at + 1; last < len(entries) && last-first < limit; last++ {
		if size += v.sentSize(entries[last]); size > api.WindowBytes {
			break
		}
	}
	return first, last
}

// End returns the index after the entries from first that fit one answer: at most limit, and at
// least one if there is one.
func (v *View) End(entries []session.Entry, first, limit int) int {
	last, size := first, 0
	for last < len(entries) && last-first < limit {
		if size += v.sentSize(entries[last]); last > first && size > api.WindowBytes {
			break
		}
		last++
	}
	return last
}

// FirstAfter returns the index of the first entry with a larger seq, or the number of entries
// if there is none.
func FirstAfter(entries []session.Entry, seq uint64) int {
	i, found := slices.BinarySearchFunc(entries, seq, func(e session.Entry, seq uint64) int {
		switch {
		case e.Seq < seq:
			return -1
		case e.Seq > seq:
			return 1
		}
		return 0
	})
	if found {
		i++
	}
	return i
}

// sentSize returns how many bytes of an answer an entry takes.
func (v *View) sentSize(e session.Entry) int {
	size := len(v.withoutImages(e).Raw)
	if size > api.MaxEntryBytes {
		return 0 // its replacement is short
	}
	return size
}
