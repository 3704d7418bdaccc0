//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestAFalseOfferIsRefused: what arrives is not what was offered. The session stays.
func TestAFalseOfferIsRefused(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	for what, change := range map[string]func(*api.MoveOffer){
		"a wrong hash":       func(o *api.MoveOffer) { o.Items[0].SHA256 = strings.Repeat("0", 64) },
		"more than was said": func(o *api.MoveOffer) { o.Items[0].Size-- },
		"less than was said": func(o *api.MoveOffer) { o.Items[0].Size++ },
		"another item": func(o *api.MoveOffer) {
			o.Items = append(o.Items, api.MoveItem{Kind: api.MoveLog, SessionID: "other", SHA256: strings.Repeat("0", 64)})
		},
		"keys of another one": func(o *api.MoveOffer) { o.From = api.DeviceKeys(b.keys); o.From.Sign[0] ^= 1 },
	} {
		m := &mover{from: a, to: b, sessionID: id, change: change}
		if err := m.arrange(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if move := m.await(t); move.State != api.MoveCanceled || move.Error == "" {
			t.Errorf("%s: %+v", what, move)
		}
		if owners := m.owners(t); len(owners) != 1 || owners[0] != a {
			t.Errorf("%s: the session has moved", what)
		}
	}
	for what, change := range map[string]func(*api.MoveOffer){
		"an id that leads elsewhere": func(o *api.MoveOffer) { o.MoveID = "../../../../somewhere" },
		"a session that does":        func(o *api.MoveOffer) { o.SessionID, o.Items[0].SessionID = "../x", "../x" },
		"too much":                   func(o *api.MoveOffer) { o.Items[0].Size = api.MaxMoveItem + 1 },
		"from itself":                func(o *api.MoveOffer) { o.From = api.DeviceKeys(b.keys) },
	} {
		m := &mover{from: a, to: b, sessionID: id, change: change}
		if m.arrange(t.Context()) == nil {
			t.Errorf("%s: accepted", what)
		}
		ask(t, a.client, api.CancelMove, api.MoveRequest{MoveID: m.moveID})
	}
}

// TestPermissionsDoNotMove: a mode and prompts that were allowed everything ask on the other
// machine.
func TestPermissionsDoNotMove(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	ask(t, a.client, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "asks", Text: "run touch one"})
	a.until(t, id, "the approval", func(l api.Live) bool { return len(l.Approvals) == 1 })
	ask(t, a.client, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "allowed", Text: "run touch two", AllowAll: true})
	m := &mover{from: a, to: b, sessionID: id}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.await(t)
	first := b.until(t, id, "the approval", func(l api.Live) bool { return len(l.Approvals) == 1 }).Approvals[0].ID
	ask(t, b.client, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: id, ApprovalID: first, Decision: api.DecisionDeny})
	b.until(t, id, "another approval", func(l api.Live) bool { return len(l.Approvals) == 1 && l.Approvals[0].ID != first })

	free := a.newSession(t, "free")
	ask(t, a.client, api.SetMode, api.SetModeRequest{SessionID: free, Mode: api.ModeBypass})
	m = &mover{from: a, to: b, sessionID: free}
	if err := m.arrange(t.Context()); err != nil {
		t.Fatal(err)
	}
	m.await(t)
	if mode := ask(t, b.client, api.GetSnapshot, api.SessionRequest{SessionID: free}).Session.Mode; mode != api.ModeAsk {
		t.Errorf("the mode is %s", mode)
	}
}

// TestOnlyTheSourceMovesItsSession: clients of all kinds try the requests of a move.
func TestOnlyTheSourceMovesItsSession(t *testing.T) {
	a, b := newPair(t)
	id := a.newSession(t, "s")
	prepared := ask(t, a.client, api.PrepareMove, api.PrepareMoveRequest{SessionID: id, To: b.id})
	ask(t, b.client, api.AcceptMove, api.AcceptMoveRequest{Offer: prepared.Offer, ProjectID: b.projectID})
	theirs := api.MoveRequest{MoveID: prepared.Move.ID}
	if _, err := client.Call(t.Context(), b.client, api.MoveStatus, theirs); kindOf(err) != api.KindNotAllowed {
		t.Errorf("the machine's own user: %v", err)
	}

	// A client with a move of its own.
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := prepared.Offer
	own.MoveID, own.SessionID, own.Client = "mov_"+strings.Repeat("0", 32), "other", api.DeviceKeys(keys.Public())
	own.Items = []api.MoveItem{{Kind: api.MoveLog, SessionID: "other", SHA256: strings.Repeat("0", 64)}}
	accepted := ask(t, b.client, api.AcceptMove, api.AcceptMoveRequest{Offer: own, ProjectID: b.projectID})
	dialer := &paths.Dialer{Keys: keys, Label: "Other", Device: b.id, Seal: accepted.Keys.Seal, Proof: func() *api.BindingProof { return &accepted.Proof }}
	channel, err := dialer.Dial(t.Context(), paths.Path{Kind: paths.Relay, URL: accepted.Paths[0].URL})
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(channel.Transport, nil)
	defer func() { _ = c.Close() }()
	ask(t, c, api.MoveStatus, api.MoveRequest{MoveID: own.MoveID})
	for what, try := range map[string]func(context.Context) error{
		"move_status": func(ctx context.Context) error { _, err := client.Call(ctx, c, api.MoveStatus, theirs); return err },
		"put_move_part": func(ctx context.Context) error {
			_, err := client.Call(ctx, c, api.PutMovePart, api.PutMovePartRequest{MoveID: theirs.MoveID, Data: []byte("x")})
			return err
		},
		"end_move": func(ctx context.Context) error {
			_, err := client.Call(ctx, c, api.EndMove, api.EndMoveRequest{MoveID: theirs.MoveID, Outcome: api.MoveAbort})
			return err
		},
	} {
		if err := try(t.Context()); kindOf(err) != api.KindNotFound {
			t.Errorf("%s of another move: %v", what, err)
		}
	}
	if _, err := client.Call(t.Context(), c, api.ListSessions, api.ListSessionsRequest{}); kindOf(err) != api.KindNotAllowed {
		t.Errorf("the grant allows more: %v", err)
	}
	grant := api.SetGrantRequest{ClientID: keys.ID(), Grant: api.GrantPrompt, Given: true}
	if _, err := client.Call(t.Context(), b.client, api.SetGrant, grant); kindOf(err) != api.KindConflict {
		t.Errorf("the grants of a move can be changed: %v", err)
	}
}
