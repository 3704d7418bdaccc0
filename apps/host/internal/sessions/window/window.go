// Package window cuts what an entry of the network is sent at once out of a session: the
// part of its log that fits one answer, and the events that it missed. All bounds are those
// of package api.
package window

import (
	"slices"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Last returns the last entries of a list that fit one answer, as they are sent:
// at most limit of them, and at least one. before is the seq that the next window
// ends at; 0 where nothing lies before this one.
func Last(entries []session.Entry, limit int) (sent []session.Entry, before uint64) {
	size, first := 0, len(entries)
	for first > 0 && len(entries)-first < limit {
		length := sentSize(entries[first-1])
		if first < len(entries) && size+length > api.WindowBytes {
			break
		}
		size += length
		first--
	}
	if first > 0 && first < len(entries) {
		before = entries[first].Seq
	}
	return AllSendable(entries[first:]), before
}

// Around returns the part around the entry at an index that fits one answer: half of limit
// before it, and what is left of limit behind it. It is entries[first:last].
func Around(entries []session.Entry, at, limit int) (first, last int) {
	sent, _ := Last(entries[:at+1], limit/2+1)
	// What is no entry is left out of sent, so that it may begin later than it must.
	first = at + 1 - len(sent)
	size := 0
	for _, e := range entries[first : at+1] {
		size += sentSize(e)
	}
	for last = at + 1; last < len(entries) && last-first < limit; last++ {
		if size += sentSize(entries[last]); size > api.WindowBytes {
			break
		}
	}
	return first, last
}

// End returns the index behind the entries from first on that fit one answer: at most limit
// of them, and at least one, where there is one.
func End(entries []session.Entry, first, limit int) int {
	last, size := first, 0
	for last < len(entries) && last-first < limit {
		if size += sentSize(entries[last]); last > first && size > api.WindowBytes {
			break
		}
		last++
	}
	return last
}

// FirstAfter returns the index of the first entry with a larger seq, or
// their number where there is none.
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

// sentSize is how much of an answer an entry takes.
func sentSize(e session.Entry) int {
	if len(e.Raw) > api.MaxEntryBytes {
		return 0 // what stands for it is short
	}
	return len(e.Raw)
}
