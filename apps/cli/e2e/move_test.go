//go:build unix

package e2e

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// waiting makes a session with a finished turn, one that waits for an approval, and a queue.
func waiting(t testing.TB, m *machine) string {
	t.Helper()
	id := m.newSession(t, "s-"+t.Name())
	ask(t, m.client, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "first", Text: "think"})
	m.until(t, id, "the first turn", func(l api.Live) bool { return l.Turn == nil })
	ask(t, m.client, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "asks", Text: "run touch made"})
	m.until(t, id, "the approval", func(l api.Live) bool { return len(l.Approvals) == 1 })
	for _, key := range []string{"queued-1", "queued-2"} {
		ask(t, m.client, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: key, Text: "think"})
	}
	return id
}

// TestASessionMoves moves a session with an open approval and a queue. They are answered and
// run on the other machine, once.
func TestASessionMoves(t *testing.T) {
	a, b := newPair(t)
	id := waiting(t, a)
	m := &mover{from: a, to: b, sessionID: id}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	if move := m.await(t); move.State != api.MoveDone || move.Sent != move.Total || move.Total == 0 {
		t.Fatalf("%+v", move)
	}
	_, err := client.Call(t.Context(), a.client, api.GetSnapshot, api.SessionRequest{SessionID: id})
	if refused, ok := err.(interface{ Unwrap() error }); kindOf(err) != api.KindMoved {
		t.Errorf("the machine that it left answers %v %v", refused, ok)
	}
	finish(t, b, id)
	checkWhole(t, b, id)
	p := ask(t, b.client, api.VerifySession, api.VerifySessionRequest{SessionID: id}).Proof
	if !p.Holds || len(p.Heads) != 2 || p.Heads[0].DeviceID != a.id || p.Heads[1].DeviceID != b.id {
		t.Errorf("%+v", p)
	}
}

// finish answers what waits and lets the session work off its queue.
func finish(t testing.TB, m *machine, id string) {
	t.Helper()
	m.until(t, id, "an answer that counts", func(l api.Live) bool {
		if len(l.Approvals) == 0 {
			return false
		}
		response, err := client.Call(t.Context(), m.client, api.AnswerApproval,
			api.AnswerApprovalRequest{SessionID: id, ApprovalID: l.Approvals[0].ID, Decision: api.DecisionDeny})
		if err != nil && kindOf(err) != api.KindUnavailable { // such as while the turn is being resumed
			t.Fatal(err)
		}
		return err == nil && response.Won
	})
	m.until(t, id, "the end of the queue", func(l api.Live) bool { return l.Turn == nil && len(l.Queue) == 0 })
}

// checkWhole checks that each prompt is in the log once, and each call has one result.
func checkWhole(t testing.TB, m *machine, id string) {
	t.Helper()
	lines := m.entries(t, id)
	if got := fmt.Sprint(prompts(t, lines)); got != "map[asks:1 first:1 queued-1:1 queued-2:1]" {
		t.Errorf("prompts in the log: %s", got)
	}
	results := 0
	for _, line := range lines {
		if bytes.Contains(line, []byte(`"role":"toolResult"`)) {
			results++
		}
	}
	if results != 1 {
		t.Errorf("%d results of one call", results)
	}
}

// TestAMoveSurvivesKills kills either host at every step of a move. Afterwards exactly one of
// them has the session, and it is whole.
func TestAMoveSurvivesKills(t *testing.T) {
	source := []string{"prepared 1", "started 1", "part 1", "sent 1", "checked 1", "committed 1", "confirmed 1", "done 1", "cleaned 1"}
	target := []string{"accepted 1", "received 1", "verified 1", "taken 1", "unpacked 1", "arrived 1", "installed 1", "forgotten 1"}
	for side, steps := range map[string][]string{"source": source, "target": target} {
		for _, step := range steps {
			t.Run(side+" "+step, func(t *testing.T) { killedAt(t, side, step) })
		}
	}
}

func killedAt(t *testing.T, side, step string) {
	a, b := newPair(t)
	id := waiting(t, a)
	victim := map[string]*machine{"source": a, "target": b}[side]
	victim.stop(t)
	victim.start(t, step)
	if victim == a { // the turn waits again
		a.until(t, id, "the approval", func(l api.Live) bool { return len(l.Approvals) == 1 })
	}
	m := &mover{from: a, to: b, sessionID: id}
	arranged := m.arrange(t.Context()) // it fails if the host is killed before
	victim.awaitEnd()
	victim.start(t, "")
	if arranged == nil {
		m.await(t)
	} else {
		for _, move := range ask(t, a.client, api.ListMoves, api.Empty{}).Moves {
			_, err := client.Call(t.Context(), a.client, api.CancelMove, api.MoveRequest{MoveID: move.ID})
			if err != nil && kindOf(err) != api.KindNotFound { // the host gives up a move that it had only prepared
				t.Fatal(err)
			}
		}
	}
	owners := m.owners(t)
	if len(owners) != 1 {
		t.Fatalf("%d machines have the session", len(owners))
	}
	finish(t, owners[0], id)
	checkWhole(t, owners[0], id)
	if step == "forgotten 1" {
		checkNoMover(t, b)
	}
}

// checkNoMover checks that no client is left that only moved a session here.
func checkNoMover(t *testing.T, m *machine) {
	t.Helper()
	for _, c := range ask(t, m.client, api.ListClients, api.Empty{}).Clients {
		if slices.Contains(c.Grants, api.GrantMove) {
			t.Errorf("the client %s of a move is left", c.ID)
		}
	}
}

// TestAMoveIsExpectedOnce: the same request twice at once, and a project that a session is about
// to arrive in.
func TestAMoveIsExpectedOnce(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	prepared := ask(t, a.client, api.PrepareMove, api.PrepareMoveRequest{SessionID: id, To: b.id})
	accept := api.AcceptMoveRequest{Offer: prepared.Offer, ProjectID: b.projectID}
	errs := make(chan error, 8)
	for range cap(errs) {
		go func() { _, err := client.Call(t.Context(), b.client, api.AcceptMove, accept); errs <- err }()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if moves := ask(t, b.client, api.ListMoves, api.Empty{}).Moves; len(moves) != 1 {
		t.Errorf("%d moves are expected", len(moves))
	}
	remove := api.RemoveProjectRequest{ProjectID: b.projectID}
	if _, err := client.Call(t.Context(), b.client, api.RemoveProject, remove); kindOf(err) != api.KindProjectInUse {
		t.Errorf("the project is removed: %v", err)
	}
	ask(t, b.client, api.CancelMove, api.MoveRequest{MoveID: prepared.Move.ID})
	ask(t, b.client, api.RemoveProject, remove)
	again := accept
	again.Offer.MoveID = "mov_" + strings.Repeat("0", 32)
	if _, err := client.Call(t.Context(), b.client, api.AcceptMove, again); kindOf(err) != api.KindNotFound {
		t.Errorf("a session is expected in a project that is gone: %v", err)
	}
}

// TestALimitedClientIsToldOfAMove: one that could see the session learns where it is, and one
// that could not learns nothing.
func TestALimitedClientIsToldOfAMove(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	m := &mover{from: a, to: b, sessionID: id}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.await(t)
	other := ask(t, a.client, api.AddProject, api.AddProjectRequest{Path: t.TempDir()}).Project.ID
	for project, want := range map[string]api.Kind{a.projectID: api.KindMoved, other: api.KindNotFound} {
		limited := limitedClient(t, a, project)
		_, err := client.Call(t.Context(), limited, api.GetSnapshot, api.SessionRequest{SessionID: id})
		if kindOf(err) != want {
			t.Errorf("limited to %s: %v, want the kind %s", project, err, want)
		}
	}
}

// TestALimitedClientMovesWhatItSees: a client that may pause a session for a move may also cancel
// and start it; moves of other projects do not exist for it.
func TestALimitedClientMovesWhatItSees(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	mine := limitedClient(t, a, a.projectID)
	stranger := limitedClient(t, a, ask(t, a.client, api.AddProject, api.AddProjectRequest{Path: t.TempDir()}).Project.ID)
	prepare := func() (api.PrepareMoveResponse, api.StartMoveRequest) {
		prepared := ask(t, mine, api.PrepareMove, api.PrepareMoveRequest{SessionID: id, To: b.id})
		accepted := ask(t, b.client, api.AcceptMove, api.AcceptMoveRequest{Offer: prepared.Offer, ProjectID: b.projectID})
		return prepared, api.StartMoveRequest{MoveID: prepared.Move.ID, Keys: api.DeviceKeys(b.keys), Paths: accepted.Paths, Proof: accepted.Proof}
	}
	prepared, start := prepare()
	named := api.MoveRequest{MoveID: prepared.Move.ID}
	_, getting := client.Call(t.Context(), stranger, api.GetMove, named)
	_, canceling := client.Call(t.Context(), stranger, api.CancelMove, named)
	_, starting := client.Call(t.Context(), stranger, api.StartMove, start)
	for what, err := range map[string]error{"get_move": getting, "cancel_move": canceling, "start_move": starting} {
		if kindOf(err) != api.KindNotFound {
			t.Errorf("%s in another project: %v", what, err)
		}
	}
	if list := ask(t, stranger, api.ListMoves, api.Empty{}).Moves; len(list) > 0 {
		t.Errorf("moves of another project: %+v", list)
	}
	if list := ask(t, mine, api.ListMoves, api.Empty{}).Moves; len(list) != 1 || list[0].ID != prepared.Move.ID {
		t.Errorf("its moves: %+v", list)
	}
	ask(t, mine, api.CancelMove, named)
	ask(t, limitedClient(t, b, b.projectID), api.CancelMove, named) // it is expected there
	ask(t, mine, api.RenameSession, api.RenameSessionRequest{SessionID: id, Name: "Free"})

	prepared, start = prepare()
	ask(t, mine, api.StartMove, start)
	m := &mover{from: a, to: b, sessionID: id, moveID: prepared.Move.ID}
	if move := m.await(t); move.State != api.MoveDone {
		t.Errorf("%+v", move)
	}
}
