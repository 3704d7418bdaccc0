package host_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestWaitForATurn: a waiting request learns how the turn ended, however late it asks.
func TestWaitForATurn(t *testing.T) {
	home, folder := t.TempDir(), t.TempDir()
	h, ended := run(t, host.Config{Home: home, Projects: []string{folder}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	const path = "/v1/send_prompt?wait=turn"
	first := ask[api.TurnAnswer](e, path, prompt(sessionID, "first", "stream 3"))
	if first.State != api.PromptTaken || first.Turn.Text != "word1 word2 word3" || first.Turn.StopReason != session.StopEnd || first.EntryID == "" {
		t.Fatalf("got %+v", first)
	}
	// The first turn leaves what one answer holds of the log.
	names := dial(t, h, nil)
	for i := range api.WindowEntries {
		call(t, names, api.RenameSession, api.RenameSessionRequest{SessionID: sessionID, Name: fmt.Sprint(i)})
	}
	if again := ask[api.TurnAnswer](e, path, prompt(sessionID, "first", "stream 3")); !reflect.DeepEqual(again, first) {
		t.Errorf("got %+v, then %+v", first, again)
	}
	aborted := canceled(t, e, sessionID)
	ask[api.Empty](e, "/v1/stop_host", api.Empty{})
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	after := start(t, host.Config{Home: home})
	e = newHTTPEntry(t, after, after.State().Token)
	for key, want := range map[string]api.TurnAnswer{"first": first, "cancelled": aborted} {
		if again := ask[api.TurnAnswer](e, path, prompt(sessionID, key, "x")); !reflect.DeepEqual(again, want) {
			t.Errorf("after a restart %s ended as %+v, before as %+v", key, again, want)
		}
	}
}

// background runs f; where f ends the test, what comes is the zero value.
func background[T any](f func() T) <-chan T {
	out := make(chan T, 1)
	go func() {
		defer close(out)
		out <- f()
	}()
	return out
}

// waitFor sends a prompt in the background and waits for its turn.
func waitFor(e httpEntry, request api.SendPromptRequest) <-chan api.TurnAnswer {
	return background(func() api.TurnAnswer { return ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", request) })
}

// canceled waits for a turn that someone else cancels.
func canceled(t *testing.T, e httpEntry, sessionID string) api.TurnAnswer {
	t.Helper()
	stream := follow(t, e, sessionID, "")
	answers := waitFor(e, prompt(sessionID, "cancelled", "stream 100000"))
	p := projection{}
	for p.live.Turn == nil || len(p.live.Partial) == 0 {
		p.apply(t, stream.next(t))
	}
	ask[api.CancelTurnResponse](e, "/v1/cancel_turn", api.CancelTurnRequest{SessionID: sessionID, TurnID: p.live.Turn.TurnID})
	answer := <-answers
	if answer.Turn.StopReason != session.StopAborted || answer.Turn.TurnID != p.live.Turn.TurnID {
		t.Fatalf("a canceled turn ended as %+v", answer)
	}
	return answer
}

// TestWaitNeedsView: a wait reads the session.
// A prompt that is a command ends for who waits as every other does.
func TestWaitForACommand(t *testing.T) {
	home := t.TempDir()
	config := "[compaction]\nshare = 0\nkeep_tokens = 100\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	h := start(t, host.Config{Home: home, Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	const path = "/v1/send_prompt?wait=turn"
	status, answer := e.post(path, encode(t, prompt(sessionID, "early", "/compact")))
	wantHTTP(t, status, answer, http.StatusBadRequest, api.KindBadRequest)
	for _, key := range []string{"first", "second"} {
		ask[api.TurnAnswer](e, path, prompt(sessionID, key, "stream 200"))
	}
	done := ask[api.TurnAnswer](e, path, prompt(sessionID, "command", "/compact"))
	if done.Turn.StopReason != session.StopEnd || done.EntryID == "" || !strings.Contains(done.Turn.Text, "Requests of the user") {
		t.Fatalf("%+v", done)
	}
	if again := ask[api.TurnAnswer](e, path, prompt(sessionID, "command", "/compact")); again != done {
		t.Errorf("got %+v, then %+v", done, again)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestWaitNeedsView(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	sessionID := sessionOf(t, newHTTPEntry(t, h, h.State().Token))
	addToken(t, h, "blind", api.GrantPrompt)
	blind := newHTTPEntry(t, h, "blind")
	body := fmt.Sprintf(`{"sessionId":%q,"clientKey":"k","text":"hello"}`, sessionID)
	status, answer := blind.post("/v1/send_prompt?wait=turn", body)
	wantHTTP(t, status, answer, http.StatusForbidden, api.KindNotAllowed)
	if sent := ask[api.SendPromptResponse](blind, "/v1/send_prompt", prompt(sessionID, "k", "hello")); sent.State != api.PromptTaken {
		t.Errorf("got %+v", sent)
	}
	body = fmt.Sprintf(`{"sessionId":%q,"clientKey":"k2","text":"hello","allowAll":true}`, sessionID)
	status, answer = blind.post("/v1/send_prompt", body)
	wantHTTP(t, status, answer, http.StatusForbidden, api.KindNotAllowed)
}

// TestWaitForASteer: a steer ends with the turn that it was given to.
func TestWaitForASteer(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	stream, p := follow(t, e, sessionID, ""), projection{}
	until := func(reached func() bool) {
		for !reached() {
			p.apply(t, stream.next(t))
		}
	}
	steer := api.SendPromptRequest{SessionID: sessionID, ClientKey: "steer", Text: "stream 2", Mode: session.ModeSteer}
	first := waitFor(e, prompt(sessionID, "first", "run touch made"))
	until(func() bool { return len(p.live.Approvals) == 1 })
	steered := waitFor(e, steer)
	until(func() bool { return len(p.live.Queue) == 1 })
	ask[api.AnswerApprovalResponse](e, "/v1/answer_approval", api.AnswerApprovalRequest{
		SessionID: sessionID, ApprovalID: p.live.Approvals[0].ID, Decision: api.DecisionAllow,
	})
	one, two := <-first, <-steered
	if one.Turn != two.Turn || one.EntryID == two.EntryID || one.Turn.StopReason != session.StopEnd {
		t.Errorf("the prompt ended as %+v, its steer as %+v", one, two)
	}
	if again := ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", steer); again != two {
		t.Errorf("the steer ended as %+v, and later as %+v", two, again)
	}
}

// TestWaitForARemovedPrompt: a waiting request is answered.
func TestWaitForARemovedPrompt(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	stream, p := follow(t, e, sessionID, ""), projection{}
	ask[api.SendPromptResponse](e, "/v1/send_prompt", prompt(sessionID, "long", "stream 100000"))
	body := fmt.Sprintf(`{"sessionId":%q,"clientKey":"later","text":"hello"}`, sessionID)
	removed := background(func() bool {
		status, text := e.post("/v1/send_prompt?wait=turn", body)
		wantHTTP(t, status, text, http.StatusConflict, api.KindConflict)
		return true
	})
	for len(p.live.Queue) == 0 {
		p.apply(t, stream.next(t))
	}
	ask[api.EditQueueResponse](e, "/v1/edit_queue", api.EditQueueRequest{SessionID: sessionID, Expected: []string{"later"}, Items: []api.QueueItem{}})
	<-removed // false where it failed, and told so
	status, text := e.post("/v1/send_prompt?wait=turn", body)
	wantHTTP(t, status, text, http.StatusConflict, api.KindConflict)
}

// TestAWaitEndsWithItsToken: who waits for a turn when the token expires, or is revoked,
// hears that, and not that a connection was lost.
func TestAWaitEndsWithItsToken(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	full := newHTTPEntry(t, h, h.State().Token)
	for name, c := range map[string]struct {
		lasts time.Duration // 0 is until it is revoked
		want  string
	}{
		"expires":    {300 * time.Millisecond, ") expired on "},
		"is revoked": {0, ") was revoked: create a new one"},
	} {
		t.Run(name, func(t *testing.T) {
			made := ask[api.CreateSessionResponse](full, "/v1/create_session", api.CreateSessionRequest{
				ProjectID: ask[api.ListProjectsResponse](full, "/v1/list_projects", api.Empty{}).Projects[0].ID, ClientKey: name,
			}).Session
			sum := sha256.Sum256([]byte(name))
			request := api.CreateTokenRequest{Hash: hex.EncodeToString(sum[:]), Label: "brief", Grants: api.AllGrants()}
			if c.lasts > 0 {
				request.ExpiresAt = time.Now().Add(c.lasts).UnixMilli()
			}
			token := ask[api.CreateTokenResponse](full, "/v1/create_token", request).Token
			stream := follow(t, full, made.ID, "")
			type reply struct {
				status int
				body   []byte
			}
			waits := background(func() reply {
				status, body := newHTTPEntry(t, h, name).post("/v1/send_prompt?wait=turn", fmt.Sprintf(`{"sessionId":%q,"clientKey":"k","text":"stream 100000"}`, made.ID))
				return reply{status, body}
			})
			for p := (projection{}); p.live.Turn == nil; {
				p.apply(t, stream.next(t))
			}
			if c.lasts == 0 {
				ask[api.Empty](full, "/v1/revoke_token", api.RevokeTokenRequest{TokenID: token.ID})
			}
			got := <-waits
			wantHTTP(t, got.status, got.body, 401, api.KindNotAllowed)
			if !strings.Contains(string(got.body), token.ID+c.want) {
				t.Errorf("%s", got.body)
			}
		})
	}
}

// TestWaitTellsTheUsage: the answer says which message it is and what the whole turn took,
// also for a repeated request.
func TestWaitTellsTheUsage(t *testing.T) {
	s := newScene(t, nil, modeltest.Calls(modeltest.Call("c1", "list_dir", `{}`)), modeltest.Say("nothing is here"))
	h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	for _, when := range []string{"first", "again"} {
		turn := ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(sessionID, "k", "look")).Turn
		if turn.Usage == nil || turn.Usage.Input != 20 || turn.Usage.Output != 10 || turn.Usage.TotalTokens != 30 || turn.Usage.Cost.Total <= 0 {
			t.Errorf("%s: the usage is %+v", when, turn.Usage)
		}
		entries := ask[api.GetEntriesResponse](e, "/v1/get_entries", api.GetEntriesRequest{SessionID: sessionID}).Entries
		at := slices.IndexFunc(entries, func(entry session.Entry) bool { return entry.ID == turn.AssistantMessageID })
		if at < 0 || !strings.Contains(string(entries[at].Raw), "nothing is here") {
			t.Errorf("%s: %q is not the last message", when, turn.AssistantMessageID)
		}
	}
}
