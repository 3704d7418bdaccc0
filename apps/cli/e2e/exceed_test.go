package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// secret occurs in all that a limited client must not see: the folder, the session and the
// rules of the other project.
const secret = "zanzibar"

// exceeding is a host with two projects, each with a session, and a client that is limited
// in a test.
type exceeding struct {
	*world
	entry      *entry
	stranger   *entry      // a client without limits
	other      api.Project // whose name is the secret
	mine, none string      // a session of the client's project, and one of the other
	processLog string      // of none
	asked      chan api.EventEnvelope
}

func newExceeding(t *testing.T) *exceeding {
	t.Helper()
	x := &exceeding{world: newWorld(t), asked: make(chan api.EventEnvelope, 1<<14)}
	x.entry, x.stranger = x.pairEntry(t), x.pairEntry(t)
	folder := filepath.Join(t.TempDir(), secret)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	x.other = ask(t, x.local, api.AddProject, api.AddProjectRequest{Path: folder}).Project
	create := func(project api.Project, text string) string {
		key := "key-" + text
		return ask(t, x.local, api.CreateSession, api.CreateSessionRequest{
			ProjectID: project.ID, ClientKey: key, Prompt: &api.FirstPrompt{Text: text},
		}).Session.ID
	}
	x.mine, x.none = create(x.project, "mine"), create(x.other, secret)
	x.processLog = "plog:" + x.none + ":op_0123456789abcdef"
	ask(t, x.local, api.AddRule, api.RuleRequest{Rule: "bash(" + secret + ")", Kind: api.RuleDeny, ProjectID: x.other.ID})
	x.settle(t)
	return x
}

// settle waits until no turn runs, so that later events are those that a test causes.
func (x *exceeding) settle(t *testing.T) {
	t.Helper()
	events := make(chan api.EventEnvelope, 1<<10)
	transport, err := client.DialDirect(t.Context(), x.host.State().Addr, x.host.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	watch := client.New(transport, func(e api.EventEnvelope) { events <- e })
	defer watch.Close()
	for {
		page := ask(t, watch, api.ListSessions, api.ListSessionsRequest{})
		if !slices.ContainsFunc(page.Sessions, func(s api.SessionSummary) bool { return s.Running }) {
			return
		}
		<-events
	}
}

// grant gives the client these grants and no others, besides GrantView.
func (x *exceeding) grant(t *testing.T, grants ...api.Grant) {
	t.Helper()
	for _, grant := range api.ClientGrants() {
		if grant != api.GrantView {
			ask(t, x.local, api.SetGrant, api.SetGrantRequest{ClientID: x.entry.keys.ID(), Grant: grant, Given: slices.Contains(grants, grant)})
		}
	}
}

func (x *exceeding) limit(t *testing.T, limits api.ClientLimits) {
	t.Helper()
	ask(t, x.local, api.SetLimits, api.SetLimitsRequest{ClientID: x.entry.keys.ID(), ClientLimits: limits})
}

// body returns a request that is valid in itself, about a session and a project. Of the
// fields it has those that the request knows.
func (x *exceeding) body(spec api.Spec, sessionID, projectID string) map[string]any {
	known := map[string]any{
		"sessionId": sessionID, "projectId": projectID, "clientId": x.stranger.keys.ID(), "clientKey": "k", "name": "x", "path": "x",
		"processLogRef": x.processLog, "model": "none", "mode": "plan", "entryId": "none", "label": "x", "text": "x", "turnId": "none",
		"approvalId": "none", "decision": "deny", "questionId": "none", "answer": "x", "rule": "bash(x)", "kind": "deny", "scope": "project",
		"version": "v", "agent": map[string]any{}, "hash": "x", "allow": false, "trusted": false, "to": "file", "sha256": strings.Repeat("ab", 32),
		"size": 1, "query": secret, "expected": []string{}, "items": []any{}, "message": "m", "paths": []string{"x"}, "anchors": nil,
		"grant": "prompt", "given": false, "grants": []string{"view"}, "provider": "x", "providerType": "openai", "key": "x", "tokenId": "none", "code": "x",
		"pairingId": "none", "accept": false, "cols": 80, "rows": 24, "terminalId": "none", "offset": 0, "data": "", "attended": true, "enabled": true,
		"moveId": "none", "proof": api.BindingProof{SignedAt: 1, Signature: []byte("x")}, "commit": "", "archived": "all", "all": true, "from": 0,
		"url": "https://push.example/x", "id": "none", "signInId": "none", "settings": map[string]string{}, "chatId": "none", "senderId": "none", "address": "http://127.0.0.1/x", "allowed": true,
		"cron": "0 9 * * *", "option": "none", "value": "none",
	}
	keys := x.stranger.keys.Public()
	known["keys"] = api.DeviceKeys{Sign: keys.Sign, Seal: keys.Seal}
	if spec.Name == api.StartMove.Name() {
		known["paths"] = []api.Path{{Kind: "relay", URL: x.relay.URL}}
	}
	body := map[string]any{}
	for _, name := range fieldNames(reflect.TypeOf(spec.Request)) {
		if value := known[name]; value != nil {
			body[name] = value
		}
	}
	switch spec.Name {
	case "update_session", "list_sessions":
		delete(body, "archived")
	case "read_file", "get_process_log":
		delete(body, "limit")
	case "git_log", "rewind_session":
		delete(body, "from")
	case "list_transcripts", "import_transcript":
		body["from"] = "claude"
	case "save_model":
		body["model"] = map[string]string{"provider": "x", "id": "x"}
	}
	return body
}

func fieldNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			names = append(names, fieldNames(field.Type)...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// TestAClientExceedsItsGrants: each request of the table is refused without its grant, at
// once in the connection that had it, and the client cannot get it back by itself.
func TestAClientExceedsItsGrants(t *testing.T) {
	x := newExceeding(t)
	c := x.open(t, x.entry, nil)
	for _, grant := range append(api.ClientGrants(), api.GrantLocal) {
		x.grant(t, slices.DeleteFunc(api.ClientGrants(), func(g api.Grant) bool { return g == grant })...)
		for _, spec := range api.Table() {
			if spec.Grant != grant || grant == api.GrantView {
				continue
			}
			if _, err := c.Raw(t.Context(), spec.Name, x.body(spec, x.mine, x.project.ID)); kindOf(err) != api.KindNotAllowed {
				t.Errorf("%s without %s: %v", spec.Name, grant, err)
			}
		}
		if _, err := client.Call(t.Context(), c, api.SetGrant, api.SetGrantRequest{ClientID: x.entry.keys.ID(), Grant: grant, Given: true}); kindOf(err) != api.KindNotAllowed {
			t.Errorf("a client gave itself %s: %v", grant, err)
		}
	}
}

// TestAClientExceedsItsProjects: for a client that is limited to one project, each request
// of the table behaves as if the other did not exist, and no event is about it.
func TestAClientExceedsItsProjects(t *testing.T) {
	x := newExceeding(t)
	x.grant(t, api.GrantPrompt, api.GrantApprove, api.GrantManage, api.GrantFiles, api.GrantRules)
	x.limit(t, api.ClientLimits{Projects: []string{x.project.ID}})
	c := x.open(t, x.entry, func(e api.EventEnvelope) { x.asked <- e })
	for _, spec := range api.Table() {
		by := c
		if spec.Name == api.Leave.Name() { // who leaves asks nothing more
			by = x.open(t, x.pairEntry(t), nil)
		}
		t.Run(spec.Name, func(t *testing.T) { x.exceeds(t, by, spec) })
	}
	x.otherHappens(t)
	ask(t, c, api.RenameSession, api.RenameSessionRequest{SessionID: x.mine, Name: "marked"})
	for {
		envelope := <-x.asked
		x.without(t, "an event", envelope)
		if e, ok := envelope.Event.(api.SessionUpdated); ok && e.Session.Name == "marked" {
			return
		}
	}
}

// exceeds sends a request about what the client does not see, and the same about what does
// not exist.
func (x *exceeding) exceeds(t *testing.T, c *client.Client, spec api.Spec) {
	fields := fieldNames(reflect.TypeOf(spec.Request))
	names := slices.Contains(fields, "sessionId") || slices.Contains(fields, "projectId")
	if spec.Reach == api.ReachHost || spec.Grant == api.GrantLocal || spec.Grant == api.GrantShell {
		if _, err := c.Raw(t.Context(), spec.Name, x.body(spec, x.mine, x.project.ID)); kindOf(err) != api.KindNotAllowed {
			t.Errorf("about the whole host: %v", err)
		}
		return
	}
	if names {
		for _, named := range [][2]string{{x.none, ""}, {"", x.other.ID}, {x.none, x.other.ID}, {x.mine, x.other.ID}, {x.none, x.project.ID}} {
			x.unknown(t, c, spec, named[0], named[1])
		}
	}
	if spec.Reach == api.ReachShown {
		answer, err := c.Raw(t.Context(), spec.Name, x.body(spec, "", ""))
		if err != nil && kindOf(err) == api.KindUnknown {
			t.Errorf("%v", err)
		}
		x.without(t, "the answer", string(answer)+fmt.Sprint(err))
		if spec.Name == api.ListClients.Name() && strings.Contains(string(answer), x.stranger.keys.ID().String()) {
			t.Errorf("it lists a client without limits: %s", answer)
		}
	} else if _, err := c.Raw(t.Context(), spec.Name, x.body(spec, "", "")); err == nil {
		t.Error("it needs no project")
	}
}

// unknown compares the answer about a session and a project with the answer about others
// that do not exist.
func (x *exceeding) unknown(t *testing.T, c *client.Client, spec api.Spec, sessionID, projectID string) {
	t.Helper()
	body := x.body(spec, sessionID, projectID)
	named := 0
	for name, id := range map[string]string{"sessionId": x.none, "projectId": x.other.ID} {
		if body[name] == "" {
			delete(body, name)
		}
		if body[name] == id {
			named++
		}
	}
	if named == 0 {
		return
	}
	_, err := c.Raw(t.Context(), spec.Name, body)
	if kindOf(err) == api.KindBadRequest && !strings.Contains(err.Error(), secret) {
		return // it cannot be asked without the other field
	}
	if kindOf(err) != api.KindNotFound {
		t.Errorf("%v: %v", body, err)
		return
	}
	got := err.Error()
	for name, id := range map[string]string{"sessionId": x.none, "projectId": x.other.ID} {
		if body[name] == id {
			body[name] = strings.Repeat("0", len(id))
		}
	}
	_, err = c.Raw(t.Context(), spec.Name, body)
	blind := strings.NewReplacer(x.none, "ID", x.other.ID, "ID", strings.Repeat("0", len(x.none)), "ID", strings.Repeat("0", len(x.other.ID)), "ID")
	if kindOf(err) != api.KindNotFound || blind.Replace(err.Error()) != blind.Replace(got) {
		t.Errorf("what exists: %s\nand what does not: %v", got, err)
	}
}

// without reports what names the other project.
func (x *exceeding) without(t *testing.T, what string, said any) {
	t.Helper()
	text, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{x.none, x.other.ID, secret} {
		if strings.Contains(string(text), name) {
			t.Errorf("%s names %s: %s", what, name, text)
		}
	}
}

// otherHappens does in the other project what hosts notify clients of.
func (x *exceeding) otherHappens(t *testing.T) {
	t.Helper()
	project, id := x.other.ID, x.none
	ask(t, x.local, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "again", Text: secret})
	ask(t, x.local, api.RenameSession, api.RenameSessionRequest{SessionID: id, Name: secret})
	ask(t, x.local, api.TrustProject, api.TrustProjectRequest{ProjectID: project, Trusted: true})
	ask(t, x.local, api.AddRule, api.RuleRequest{Rule: "bash(make " + secret + ")", Kind: api.RuleDeny, ProjectID: project})
	ask(t, x.local, api.SaveMemoryNote, api.SaveMemoryNoteRequest{MemoryNoteRequest: api.MemoryNoteRequest{Scope: api.MemoryProject, ProjectID: project, Name: secret}, Text: secret})
	x.settle(t)
	fork := ask(t, x.local, api.CreateSession, api.CreateSessionRequest{ProjectID: project, ClientKey: "fork", Prompt: &api.FirstPrompt{Text: secret}}).Session.ID
	x.settle(t)
	ask(t, x.local, api.DeleteSession, api.SessionRequest{SessionID: fork})
}

// TestNarrowerLimitsHoldAtOnce: an open subscription ends when its session is out of reach,
// and the client can reconnect to what is left.
func TestNarrowerLimitsHoldAtOnce(t *testing.T) {
	x := newExceeding(t)
	c := x.open(t, x.entry, func(e api.EventEnvelope) { x.asked <- e })
	ask(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: x.none})
	x.limit(t, api.ClientLimits{Projects: []string{x.project.ID}})
	<-c.Done()
	for len(x.asked) > 0 {
		<-x.asked
	}
	x.otherHappens(t)
	for len(x.asked) > 0 {
		x.without(t, "an event after the change", <-x.asked)
	}
	again := x.open(t, x.entry, nil)
	if _, err := client.Call(t.Context(), again, api.ResyncEvents, api.ResyncEventsRequest{SessionID: x.none}); kindOf(err) != api.KindNotFound {
		t.Errorf("the session is still seen: %v", err)
	}
	ask(t, again, api.ResyncEvents, api.ResyncEventsRequest{SessionID: x.mine})
	if limits := ask(t, again, api.GetHost, api.Empty{}).Host.Limits; limits == nil || !slices.Equal(limits.Projects, []string{x.project.ID}) {
		t.Errorf("the client is not told: %+v", limits)
	}
}

// expireSoon lets the access of a client end in a moment, and returns when. On a busy machine
// that moment can pass before the host has read of it, which refuses it: then a later one is
// set.
func (w *world) expireSoon(t *testing.T, e *entry) time.Time {
	t.Helper()
	for ahead := 250 * time.Millisecond; ; ahead *= 2 {
		at := time.UnixMilli(time.Now().Add(ahead).UnixMilli())
		_, err := client.Call(t.Context(), w.local, api.SetLimits, api.SetLimitsRequest{
			ClientID: e.keys.ID(), ClientLimits: api.ClientLimits{ExpiresAt: at.UnixMilli()},
		})
		if err == nil {
			return at
		}
		if kindOf(err) != api.KindBadRequest || ahead > patience {
			t.Fatal(err)
		}
	}
}

// TestAccessExpires: the channel closes when the time has come, with the reason, and
// opens again only after the time was extended.
func TestAccessExpires(t *testing.T) {
	x := newExceeding(t)
	c := x.open(t, x.entry, nil)
	at := x.expireSoon(t, x.entry)
	<-c.Done()
	if early := time.Until(at); early > 0 {
		t.Errorf("it ended %s before its time", early)
	}
	if err := c.Err(); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("it ended with %v", err)
	}
	_, err := x.entry.OpenDevice(t.Context(), x.id, x.entry.pin, "the host")
	if err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("another channel: %v", err)
	}
	x.limit(t, api.ClientLimits{})
	ask(t, x.open(t, x.entry, nil), api.GetHost, api.Empty{})
}
