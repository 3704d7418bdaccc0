package api_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestTable(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	grants := append(api.AllGrants(), api.GrantShell, api.GrantLocal, api.GrantMove)
	seen := map[string]bool{}
	for _, spec := range api.Table() {
		if !name.MatchString(spec.Name) || seen[spec.Name] {
			t.Errorf("the name %q is odd or used twice", spec.Name)
		}
		seen[spec.Name] = true
		known := false
		for _, g := range grants {
			known = known || g == spec.Grant
		}
		if !known || !strings.HasSuffix(spec.Doc, ".") {
			t.Errorf("%s: grant %q, doc %q", spec.Name, spec.Grant, spec.Doc)
		}
		for _, v := range []any{spec.Request, spec.Response} {
			if reflect.TypeOf(v).Kind() != reflect.Struct {
				t.Errorf("%s: %T is no struct", spec.Name, v)
			}
		}
		found, ok := api.Lookup(spec.Name)
		if !ok || found.Grant != spec.Grant {
			t.Errorf("Lookup(%s) = %+v, %v", spec.Name, found, ok)
		}
	}
	for _, absent := range []string{"", "response", "event", "error", "LIST_PROJECTS"} {
		if _, ok := api.Lookup(absent); ok {
			t.Errorf("%q is a request", absent)
		}
	}
}

// TestTableHoldsEachDefinition reads the source: a definition that is not listed would have
// no schema, no types and no documents.
func TestTableHoldsEachDefinition(t *testing.T) {
	files, err := filepath.Glob("requests_*.go")
	if err != nil {
		t.Fatal(err)
	}
	var defined [][]string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		defined = append(defined, regexp.MustCompile(`(?m)^\t\w+\s+= Define\[\w+, \w+\]\("(\w+)"`).FindAllStringSubmatch(string(source), -1)...)
	}
	if len(defined) != len(api.Table()) {
		t.Errorf("%d requests are defined, and the table lists %d", len(defined), len(api.Table()))
	}
	for _, match := range defined {
		if _, ok := api.Lookup(match[1]); !ok {
			t.Errorf("%s is defined, and the table does not list it", match[1])
		}
	}
}

// What a request or event is called and whom it answers must not collide with
// its own fields.
func TestFieldsDoNotHideTheHead(t *testing.T) {
	check := func(name string, v any, reserved ...string) {
		for i := range reflect.TypeOf(v).NumField() {
			key, _, _ := strings.Cut(reflect.TypeOf(v).Field(i).Tag.Get("json"), ",")
			for _, r := range reserved {
				if key == r {
					t.Errorf("%s has a field %q of its own", name, key)
				}
			}
		}
	}
	for _, spec := range api.Table() {
		check(spec.Name, spec.Request, "type", "requestId")
	}
	for _, e := range api.Events() {
		check(e.EventType(), e, "type", "sessionId", "seq")
	}
}

// A client that is paired never gets what belongs to the machine's own user, and none of the
// grants that only this machine gives.
func TestClientsGetNoLocalGrant(t *testing.T) {
	for _, g := range api.AllGrants() {
		if g == api.GrantLocal || slices.Contains(api.ExtraGrants(), g) {
			t.Errorf("a paired client gets the grant %q", g)
		}
	}
	for _, name := range []string{"create_token", "list_tokens", "revoke_token", "create_pairing", "redeem_pairing", "await_pairing", "finish_pairing", "stop_host", "pause_host", "resume_host", "restart_host"} {
		if spec, ok := api.Lookup(name); !ok || spec.Grant != api.GrantLocal {
			t.Errorf("%s needs %q", name, spec.Grant)
		}
	}
}

func TestKinds(t *testing.T) {
	seen := map[string]bool{}
	for k := api.KindUnknown; k <= api.KindInternal; k++ {
		if name := k.String(); name == "" || strings.HasPrefix(name, "kind_") || seen[name] {
			t.Errorf("kind %d is named %q", k, name)
		} else {
			seen[name] = true
		}
	}
	if api.Kind(-1).String() != "kind_-1" || api.Kind(99).String() != "kind_99" {
		t.Error("an unknown kind has an odd name")
	}
	var target *api.Error
	if err := error(api.Errorf(api.KindNotFound, "no session %q", "x")); !errors.As(err, &target) || err.Error() != `no session "x"` {
		t.Errorf("%v", err)
	}
}

func TestRequestsOnTheWire(t *testing.T) {
	text, err := api.EncodeRequest("send_prompt", "r1", api.SendPromptRequest{SessionID: "s", ClientKey: "k", Text: "<hi>"})
	if want := `{"type":"send_prompt","requestId":"r1","sessionId":"s","clientKey":"k","text":"<hi>"}`; err != nil || string(text) != want {
		t.Errorf("%s, want %s (%v)", text, want, err)
	}
	text, err = api.EncodeRequest("list_projects", "r2", api.Empty{})
	if want := `{"type":"list_projects","requestId":"r2"}`; err != nil || string(text) != want {
		t.Errorf("%s, want %s (%v)", text, want, err)
	}
}

func TestAnswersOnTheWire(t *testing.T) {
	response, err1 := api.EncodeResponse("r1", api.CancelTurnResponse{Cancelled: true})
	refusal, err2 := api.EncodeError("r2", api.Errorf(api.KindNotAllowed, "no"))
	event, err3 := api.EncodeEvent(api.EventEnvelope{SessionID: "s", Seq: 9, Event: api.BlockDelta{Index: 1, Delta: "x"}})
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		string(response): `{"type":"response","requestId":"r1","result":{"cancelled":true}}`,
		string(refusal):  `{"type":"error","requestId":"r2","kind":3,"message":"no"}`,
		string(event):    `{"type":"event","event":{"type":"block_delta","sessionId":"s","seq":9,"index":1,"delta":"x"}}`,
	} {
		if text != want {
			t.Errorf("%s, want %s", text, want)
		}
		if in, err := api.DecodeIncoming([]byte(text)); err != nil || !strings.Contains(want, in.Type) {
			t.Errorf("%s reads as %+v, %v", text, in, err)
		}
	}
	if _, err := api.DecodeIncoming([]byte(`[]`)); err == nil {
		t.Error("an array was taken")
	}
}

func TestEveryEventRoundTrips(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range filledEvents(t) {
		seen[e.EventType()] = true
		envelope := api.EventEnvelope{SessionID: "s", Seq: 1 << 40, Event: e}
		text, err := json.Marshal(envelope)
		if err != nil {
			t.Fatal(err)
		}
		var back api.EventEnvelope
		if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, envelope) {
			t.Errorf("%s reads back as %+v, %v", text, back, err)
		}
	}
	for _, e := range api.Events() {
		if !seen[e.EventType()] {
			t.Errorf("%s is not tried", e.EventType())
		}
	}
}

func filledEvents(t *testing.T) []api.Event {
	entry, err := session.ParseEntry([]byte(`{"type":"label","id":"a","parentId":"b","seq":3}`))
	if err != nil {
		t.Fatal(err)
	}
	turn := api.Turn{TurnID: "t", ClientKey: "k", StartedAt: 5, Cancelling: true}
	return []api.Event{
		api.EntryAppended{Entry: entry}, api.TurnStarted{Turn: turn}, api.TurnCancelling{TurnID: "t"},
		api.TurnEnded{TurnID: "t", ClientKey: "k", StopReason: session.StopAborted, Error: "e"}, api.MessageStarted{}, api.MessageReset{Reason: "r", Retry: &api.ModelRetry{Reason: "r", Attempt: 2, Attempts: 4, DelayMS: 2000}},
		api.BlockStarted{Index: 2, Block: session.BlockToolCall, ID: "c", Name: "n"}, api.BlockDelta{Index: 2, Delta: "é"},
		api.ToolStarted{ToolCallID: "c", ToolName: "n"}, api.ToolOutput{ToolCallID: "c", Delta: "d"},
		api.ProcessChanged{Process: api.Process{ToolCallID: "c", ProcessLogRef: "r", Last: session.ProcessLine{ProcessEvent: session.ProcessEvent{Version: 1, Message: "m", Payload: json.RawMessage(`{"n":1.50}`)}, Repeats: 2}}},
		api.ApprovalRequested{Approval: api.Approval{ID: "a", Title: "t"}},
		api.ApprovalResolved{ApprovalID: "a", Decision: api.DecisionDeny, DecidedBy: "host"},
		api.QuestionAsked{Question: api.Question{ID: "q", Choices: []string{"a"}, Deadline: 7}},
		api.QuestionAnswered{QuestionID: "q", Outcome: api.OutcomeAnswered, Answer: "a", AnsweredBy: "host"}, api.AttendanceChanged{Unattended: true},
		api.QueueChanged{Queue: []session.QueuedPrompt{{ClientKey: "k", Text: "x"}}},
		api.SubagentStarted{Batch: api.SubagentBatch{ToolCallID: "c", EntryID: "e", StartedAt: 5, Children: []api.SubagentChild{{SubagentMember: session.SubagentMember{Agent: "a"}}}}},
		api.SubagentUpdated{ToolCallID: "c", Index: 1, Child: api.SubagentChild{Doing: "bash", Approvals: []api.Approval{{ID: "a"}}, Decided: []api.ApprovalDecision{{ApprovalID: "b", Decision: api.DecisionAllow, DecidedBy: "cli_a"}}}}, api.SubagentEnded{ToolCallID: "c"},
		api.WorkStarted{Work: api.Work{Kind: api.WorkCompaction, StartedAt: 5}}, api.WorkEnded{Kind: api.WorkBranchSummary, Error: "e"},
		api.ProjectsChanged{Projects: []api.Project{{ID: "p"}}}, api.SessionUpdated{Session: api.SessionSummary{ID: "s"}}, api.SessionDeleted{ID: "s"}, api.SessionMoved{ID: "s"}, api.ClientsChanged{},
		api.RulesChanged{}, api.ModelsChanged{}, api.AgentsChanged{}, api.SkillsChanged{}, api.MemoryChanged{}, api.MCPServersChanged{ProjectID: "p"}, api.HooksChanged{ProjectID: "p"}, api.SchedulesChanged{ProjectID: "p"}, api.ExtensionsChanged{}, api.ChannelsChanged{},
		api.TerminalOutput{TerminalID: "t", Offset: 9, Data: "YQ=="},
		api.TerminalChanged{Terminal: api.Terminal{ID: "t", Cols: 80, Rows: 24, Ended: &api.TerminalEnd{Reason: api.TerminalExited, ExitCode: -1, Signal: "hangup"}}}, api.TerminalsChanged{}, api.PathsChanged{},
	}
}

func TestUnknownEventIsForwarded(t *testing.T) {
	const text = `{"type":"moon_phase","sessionId":"s","seq":4,"phase":{"n":1.50}}`
	var e api.EventEnvelope
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Seq != 4 || e.SessionID != "s" || e.Event.EventType() != "moon_phase" {
		t.Fatalf("%+v, %v", e, err)
	}
	if again, err := json.Marshal(e); err != nil || string(again) != text {
		t.Errorf("%s, %v", again, err)
	}
}

// TestEncodeEventCopiesTheLine: the line of an entry arrives byte by byte, and on one line.
func TestEncodeEventCopiesTheLine(t *testing.T) {
	for name, c := range map[string]struct{ line, sent string }{
		"of this host":       {`{"type":"custom","id":"a","data":"<b> — \u2028","seq":7}`, ""},
		"with blanks":        {`{"type": "custom", "id": "a"}`, ""},
		"with line ends":     {"{\"type\":\"custom\",\r\n\"id\":\"a\"}", `{"type":"custom","id":"a"}`},
		"with an odd escape": {`{"type":"custom","id":"\u0061"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			entry, err := session.ParseEntry([]byte(c.line))
			if err != nil {
				t.Fatal(err)
			}
			got, err := api.EncodeEvent(api.EventEnvelope{SessionID: "s", Seq: 9, Event: api.EntryAppended{Entry: entry}})
			want := `{"type":"event","event":{"type":"entry_appended","sessionId":"s","seq":9,"entry":` + cmp.Or(c.sent, c.line) + `}}`
			if err != nil || string(got) != want {
				t.Errorf("%s, %v, not %s", got, err, want)
			}
			if !json.Valid(got) || string(api.EventObject(got)) != want[len(`{"type":"event","event":`):len(want)-1] {
				t.Errorf("%s is no event", got)
			}
		})
	}
	if got, err := api.EncodeEvent(api.EventEnvelope{Event: api.EntryAppended{}}); err == nil {
		t.Errorf("an entry without its line became %s", got)
	}
}

func FuzzDecodeIncoming(f *testing.F) {
	f.Add([]byte(`{"type":"event","event":{"type":"block_delta","sessionId":"s","seq":9,"index":1,"delta":"x"}}`))
	f.Add([]byte(`{"type":"event","event":{"type":"moon_phase"}}`))
	f.Add([]byte(`{"type":"response","requestId":"r","result":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := api.DecodeIncoming(data)
		if err != nil || in.Event == nil {
			return
		}
		once, err := api.EncodeEvent(*in.Event)
		if err != nil {
			t.Fatalf("%q decodes and does not encode: %v", data, err)
		}
		again, err := api.DecodeIncoming(once)
		if err != nil || again.Event == nil || again.Event.Seq != in.Event.Seq {
			t.Errorf("%q, then %q: %v", data, once, err)
		}
	})
}

// TestReachesNameRequests: each request has the fields that its reach needs.
func TestReachesNameRequests(t *testing.T) {
	for _, spec := range api.Table() {
		named := false
		for _, field := range []string{"SessionID", "ProjectID"} {
			_, has := reflect.TypeOf(spec.Request).FieldByName(field)
			named = named || has
		}
		if spec.Reach == api.ReachNamed && !named {
			t.Errorf("%s names neither a session nor a project", spec.Name)
		}
		if spec.Guests && (spec.Reach != api.ReachNamed || spec.Grant != api.GrantView) {
			t.Errorf("%s is no request for guests", spec.Name)
		}
	}
}
