//go:build unix

package host_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// witnessed is a scene that receives approvals, and a client key of its machine.
type witnessed struct {
	*scene
	h     *host.Host
	keys  *ident.Private
	asked chan api.Approval
}

func newWitnessed(t *testing.T, steps ...modeltest.Step) *witnessed {
	s := newScene(t, nil, steps...)
	w := &witnessed{scene: s, asked: make(chan api.Approval, 8)}
	w.h = start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	s.enter(t, w.h)
	watch := dial(t, w.h, func(e api.EventEnvelope) {
		if request, ok := e.Event.(api.ApprovalRequested); ok {
			w.asked <- request.Approval
		}
	})
	call(t, watch, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.sessionID})
	var err error
	if w.keys, err = keyfile.LoadOrCreate(filepath.Join(s.home, "entry.json"), ident.KindClient); err != nil {
		t.Fatal(err)
	}
	return w
}

// answer is a signed answer to an approval, as the command line makes it.
func (w *witnessed) answer(a api.Approval, decision api.Decision, keys *ident.Private) api.AnswerApprovalRequest {
	signed := proof.Answer{
		DeviceID: w.h.DeviceID(), SessionID: w.sessionID, ApprovalID: a.ID, Shown: proof.Shown(a), Decision: decision,
		Rules: proof.Kept(a, decision), At: 7,
	}
	return api.AnswerApprovalRequest{SessionID: w.sessionID, ApprovalID: a.ID, Decision: decision, Shown: a.Shown, Signature: signed.Sign(keys)}
}

func (w *witnessed) verify(t *testing.T) api.Proof {
	t.Helper()
	return call(t, w.c, api.VerifySession, api.VerifySessionRequest{SessionID: w.sessionID}).Proof
}

func commands(list ...string) []modeltest.Step {
	var steps []modeltest.Step
	for _, command := range list {
		steps = append(steps, modeltest.Calls(modeltest.Call(rand.Text(), "bash", `{"command":"`+command+`"}`)))
	}
	return append(steps, modeltest.Say("Done."))
}

func TestAnswersAreSigned(t *testing.T) {
	w := newWitnessed(t, commands("touch a", "touch b", "mkdir c")...)
	call(t, w.c, api.SendPrompt, api.SendPromptRequest{SessionID: w.sessionID, ClientKey: "k1", Text: "go"})
	a := <-w.asked
	stranger, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	otherWord := w.answer(a, api.DecisionDeny, w.keys)
	otherWord.Feedback = "and never again"
	turned := w.answer(a, api.DecisionDeny, w.keys)
	turned.Decision = api.DecisionAllow
	shownElse := a
	shownElse.Title = "ls"
	for name, c := range map[string]struct {
		answer api.AnswerApprovalRequest
		kind   api.Kind
	}{
		"by another client":    {w.answer(a, api.DecisionAllow, stranger), api.KindNotAllowed},
		"turned round":         {turned, api.KindBadRequest},
		"with another word":    {otherWord, api.KindBadRequest},
		"to what it was shown": {w.answer(shownElse, api.DecisionAllow, w.keys), api.KindBadRequest},
	} {
		_, err := client.Call(t.Context(), w.c, api.AnswerApproval, c.answer)
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
	addToken(t, w.h, "robot", api.AllGrants()...)
	status, answer := newHTTPEntry(t, w.h, "robot").post("/v1/answer_approval", encoded(t, w.answer(a, api.DecisionAllow, w.keys)))
	wantHTTP(t, status, answer, 400, api.KindBadRequest)

	call(t, w.c, api.AnswerApproval, w.answer(a, api.DecisionAllow, w.keys))
	call(t, w.c, api.AnswerApproval, w.answer(<-w.asked, api.DecisionAlways, w.keys))
	unsigned := api.AnswerApprovalRequest{SessionID: w.sessionID, ApprovalID: (<-w.asked).ID, Decision: api.DecisionAllow}
	ask[api.AnswerApprovalResponse](newHTTPEntry(t, w.h, "robot"), "/v1/answer_approval", unsigned)
	w.wait(1)

	p := w.verify(t)
	if !p.Holds || len(p.Approvals) != 3 || len(p.Heads) != 1 || p.Heads[0].DeviceID != w.h.DeviceID() {
		t.Fatalf("%+v", p)
	}
	for i, got := range p.Approvals {
		signed := i < 2
		if (got.Signer == w.keys.ID()) != signed || (got.SignedAt == 7) != signed || got.Label == "" || got.Title == "" {
			t.Errorf("approval %d is %+v", i, got)
		}
	}
	if p.Approvals[2].Label != "test" || len(p.Approvals[1].Rules) == 0 {
		t.Errorf("%+v", p.Approvals)
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	data, err := session.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestAnImportIsVerified: changes made on the way are reported, and the session is imported all the same.
func TestAnImportIsVerified(t *testing.T) {
	w := newWitnessed(t, modeltest.Say("Hello."))
	w.send(t, "k1", "say hello")
	w.wait(1)
	paths, err := filepath.Glob(filepath.Join(w.home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	other := start(t, host.Config{Home: t.TempDir(), Projects: []string{w.folder}})
	c := dial(t, other, nil)
	for _, change := range []string{"say hello", "say nothing"} {
		path := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(path, bytes.Replace(data, []byte("say hello"), []byte(change), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		whole := change == "say hello"
		response := call(t, c, api.ImportSession, api.ImportSessionRequest{Path: path})
		if response.Proof == nil || response.Proof.Holds != whole || response.Proof.Heads[0].DeviceID != w.h.DeviceID() {
			t.Errorf("%s: %+v", change, response.Proof)
		}
		p := call(t, c, api.VerifySession, api.VerifySessionRequest{SessionID: w.sessionID}).Proof
		if p.Holds != whole {
			t.Errorf("%s: %+v", change, p.Problems)
		}
		call(t, c, api.DeleteSession, api.SessionRequest{SessionID: w.sessionID})
	}
}
