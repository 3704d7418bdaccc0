package compact_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/packages/protocol/session"
)

// The end of a session says as much of its size as all of it, whatever compactions,
// edits, branches and failed answers are in it.
func TestTokensFromTheEnd(t *testing.T) {
	for seed := range uint64(120) {
		random := rand.New(rand.NewPCG(seed, 3))
		w := log(t)
		for range 2 + random.IntN(25) {
			grow(t, w, random)
			if got, want := compact.Tokens(w.Tree()), compact.TokensFromScratch(w.Tree()); got != want {
				t.Fatalf("seed %d, %d entries: %d tokens, from all of it %d", seed, len(w.Tree().Entries()), got, want)
			}
		}
	}
}

// grow adds one entry of any kind.
func grow(t *testing.T, w *session.Writer, random *rand.Rand) {
	t.Helper()
	entries := w.Tree().Entries()
	stamp := session.Stamp{ID: fmt.Sprintf("e%d", len(entries)), Timestamp: "2026-01-02T03:04:05.678Z"}
	var err error
	switch n := random.IntN(13); {
	case n < 5:
		add(t, w, fmt.Sprintf("%s:%d", []string{"user", "agent", "call", "result", "note"}[n], random.IntN(400)))
	case n < 9 || len(entries) == 0:
		m := session.Message{
			Role: session.RoleAssistant, Content: session.Content{session.Text("answer")}, Timestamp: 1,
			Usage: &session.Usage{Input: random.IntN(3) * 500}, StopReason: []session.StopReason{session.StopEnd, session.StopError}[random.IntN(2)],
		}
		var raw []byte
		if raw, err = session.Encode(m); err == nil {
			_, err = w.Message(stamp, raw)
		}
	case n < 10:
		_, err = w.Compaction(stamp, session.Compaction{Summary: "what was", FirstKeptEntryID: entries[random.IntN(len(entries))].ID, TokensBefore: 7})
	case n < 11 && anyMessage(w.Tree(), random) != "":
		stamp.Extra = fmt.Appendf(nil, `{"targetId":%q,"replacement":{"content":"shorter"}}`, anyMessage(w.Tree(), random))
		_, err = w.Other(stamp, session.TypeContextEdit)
	case n < 12:
		_, err = w.SessionInfo(stamp, "x")
	default:
		err = w.Tree().Branch(entries[random.IntN(len(entries))].ID)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// anyMessage is the id of a message that the model sees, or "".
func anyMessage(tree *session.Tree, random *rand.Rand) (id string) {
	for e := range tree.Up() {
		if e.Role() != "" && (id == "" || random.IntN(3) == 0) {
			id = e.ID
		}
	}
	return id
}
