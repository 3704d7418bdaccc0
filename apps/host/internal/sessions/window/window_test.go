package window_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestRing(t *testing.T) {
	var r window.Ring
	for seq := uint64(8); seq < 12; seq++ { // the first two leave again
		r.Add(api.EventEnvelope{Seq: seq}, api.RingBytes/2)
	}
	for name, c := range map[string]struct {
		last, first uint64 // first is 0 where nothing was missed
		n           int
		complete    bool
	}{
		"all is seen":         {11, 0, 0, true},
		"the last is missing": {10, 11, 1, true},
		"all there is":        {9, 10, 2, true},
		"one has left":        {8, 0, 0, false},
		"none was seen":       {0, 0, 0, false},
		"of another session":  {12, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			events, complete := r.After(c.last, 12)
			if complete != c.complete || len(events) != c.n || c.n > 0 && events[0].Seq != c.first {
				t.Errorf("%+v, complete %t", events, complete)
			}
		})
	}
}

// entries makes n of them, with seqs from 1, each with a line of about size bytes.
func entries(t *testing.T, n, size int) (all []session.Entry) {
	t.Helper()
	for i := range n {
		line := fmt.Sprintf(`{"type":"custom","customType":"x","id":"e%d","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","data":%q,"seq":%d}`, i, strings.Repeat("x", size), i+1)
		entry, err := session.ParseEntry([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entry)
	}
	return all
}

func TestLast(t *testing.T) {
	for name, c := range map[string]struct {
		n, size, limit int
		sent           int
		before         uint64
	}{
		"none":                        {0, 1, 5, 0, 0},
		"all":                         {5, 1, 5, 5, 0},
		"the limit":                   {5, 1, 3, 3, 3},
		"the bytes":                   {5, api.WindowBytes/2 - 1000, 5, 2, 4},
		"one whatever its size":       {2, api.WindowBytes - 100, 5, 1, 2},
		"too long ones weigh nothing": {5, api.MaxEntryBytes, 5, 5, 0},
	} {
		t.Run(name, func(t *testing.T) {
			sent, before := window.NewView().Last(entries(t, c.n, c.size), c.limit)
			if len(sent) != c.sent || before != c.before {
				t.Fatalf("%d entries, before %d", len(sent), before)
			}
			for _, entry := range sent {
				if len(entry.Raw) > api.MaxEntryBytes {
					t.Errorf("entry %s has %d bytes", entry.ID, len(entry.Raw))
				}
			}
		})
	}
}
