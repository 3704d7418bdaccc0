package signing_test

import (
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/signing"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
)

func generate(t *testing.T, kind ident.Kind) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(kind, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func newSigning(t *testing.T) *signing.Signing {
	t.Helper()
	home := t.TempDir()
	clients, err := state.LoadClients(filepath.Join(home, "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := state.LoadTokens(filepath.Join(home, "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	return &signing.Signing{Keys: generate(t, ident.KindDevice), Label: func() string { return "laptop" }, Entry: filepath.Join(home, "entry.json"), Clients: clients, Tokens: tokens}
}

// TestCheckAnswer: an answer counts if the client of the connection signed it, for this
// host, session, approval and decision.
func TestCheckAnswer(t *testing.T) {
	s := newSigning(t)
	phone, other := generate(t, ident.KindClient), generate(t, ident.KindClient)
	local, err := keyfile.LoadOrCreate(s.Entry, ident.KindClient)
	if err != nil {
		t.Fatal(err)
	}
	approval := api.Approval{ID: "a1", ToolCallID: "c1", ToolName: "bash", Title: "rm -r build", ProposedRules: []string{"bash(rm *)"}}
	answer := func(keys *ident.Private, change func(*proof.Answer)) api.AnswerApprovalRequest {
		signed := proof.Answer{DeviceID: s.Keys.ID(), SessionID: "s", ApprovalID: approval.ID, Shown: proof.Shown(approval), Decision: api.DecisionAllow, At: 7}
		if change != nil {
			change(&signed)
		}
		return api.AnswerApprovalRequest{SessionID: "s", ApprovalID: approval.ID, Decision: api.DecisionAllow, Signature: signed.Sign(keys)}
	}
	shownElse := approval
	shownElse.Title = "ls"
	for name, c := range map[string]struct {
		clientID string
		answer   api.AnswerApprovalRequest
		kind     api.Kind // 0 if the answer counts
	}{
		"of the client":         {phone.ID().String(), answer(phone, nil), 0},
		"of the command line":   {dispatch.LocalID, answer(local, nil), 0},
		"of another client":     {phone.ID().String(), answer(other, nil), api.KindNotAllowed},
		"of a client, locally":  {dispatch.LocalID, answer(phone, nil), api.KindNotAllowed},
		"of a token":            {"tok_1", answer(phone, nil), api.KindBadRequest},
		"to another session":    {phone.ID().String(), answer(phone, func(a *proof.Answer) { a.SessionID = "other" }), api.KindBadRequest},
		"to another approval":   {phone.ID().String(), answer(phone, func(a *proof.Answer) { a.ApprovalID = "a2" }), api.KindBadRequest},
		"to another title":      {phone.ID().String(), answer(phone, func(a *proof.Answer) { a.Shown = proof.Shown(shownElse) }), api.KindBadRequest},
		"for another machine":   {phone.ID().String(), answer(phone, func(a *proof.Answer) { a.DeviceID = generate(t, ident.KindDevice).ID() }), api.KindBadRequest},
		"with another decision": {phone.ID().String(), answer(phone, func(a *proof.Answer) { a.Decision = api.DecisionDeny }), api.KindBadRequest},
		"with a rule":           {phone.ID().String(), answer(phone, func(a *proof.Answer) { a.Rules = approval.ProposedRules }), api.KindBadRequest},
	} {
		err := s.CheckAnswer(c.clientID, approval, c.answer)
		var refused *api.Error
		switch {
		case c.kind == 0 && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.kind != 0 && (!errors.As(err, &refused) || refused.Kind != c.kind):
			t.Errorf("%s: %v, want the kind %d", name, err, c.kind)
		}
	}
}

func TestTheCommandLineMayHaveNoKey(t *testing.T) {
	s := newSigning(t)
	signature := proof.Answer{DeviceID: s.Keys.ID(), SessionID: "s"}.Sign(generate(t, ident.KindClient))
	err := s.CheckAnswer(dispatch.LocalID, api.Approval{}, api.AnswerApprovalRequest{SessionID: "s", Signature: signature})
	if err == nil || !strings.Contains(err.Error(), "answer without a signature") {
		t.Errorf("got %v", err)
	}
}

func TestSignHeadUsesTheKeyOfTheDevice(t *testing.T) {
	s := newSigning(t)
	message := []byte("the head of a session")
	head := s.SignHead(message)
	if !s.Keys.Public().Sign.Verify(message, head.Signature[:]) || head.SignKey != s.Keys.Public().Sign || head.SealKey != s.Keys.Public().Seal {
		t.Errorf("the head is %+v", head)
	}
}

func TestNameDeciders(t *testing.T) {
	s := newSigning(t)
	phone := generate(t, ident.KindClient)
	if err := s.Clients.Add(phone.ID(), phone.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	token, err := s.Tokens.Add(strings.Repeat("ab", 32), "robot", api.AllGrants(), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{dispatch.LocalID: "laptop", phone.ID().String(): "phone", token.ID: "robot", "cli_removed": "", "": ""}
	var approvals []api.ProofApproval
	for id := range want {
		approvals = append(approvals, api.ProofApproval{DecidedBy: id})
	}
	s.NameDeciders(approvals)
	for _, a := range approvals {
		if a.Label != want[a.DecidedBy] {
			t.Errorf("%q is named %q, want %q", a.DecidedBy, a.Label, want[a.DecidedBy])
		}
	}
}
