package follow

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	testSession = "s1"
	testKey     = "key-1"
	testTurn    = "turn-1"
)

// recorder is a View that records its calls.
type recorder struct {
	line     string // of the message that is open
	messages []string
	calls    []string
	results  []string
	entries  []string // ids
	partial  api.Live // projected from all events
	notices  []string
	decide   func(context.Context, api.Approval) (Verdict, error)
	answer   func(context.Context, api.Question) (Reply, error)
}

func newRecorder() *recorder { return &recorder{partial: api.NewLive()} }

func (r *recorder) Event(e api.EventEnvelope) {
	if appended, ok := e.Event.(api.EntryAppended); ok {
		r.entries = append(r.entries, appended.Entry.ID)
	}
	r.partial.Apply(e.Event)
}
func (r *recorder) Text(piece string) { r.line += piece }
func (r *recorder) EndMessage(broken bool) {
	if !broken {
		r.messages = append(r.messages, r.line)
	}
	r.line = ""
}
func (r *recorder) ToolCall(call session.Block) { r.calls = append(r.calls, call.ID) }
func (r *recorder) ToolResult(result session.Message) {
	r.results = append(r.results, result.ToolCallID)
}
func (r *recorder) Notice(text string) { r.notices = append(r.notices, text) }
func (r *recorder) Decide(ctx context.Context, a api.Approval) (Verdict, error) {
	if r.decide == nil {
		return Verdict{Decision: api.DecisionDeny}, nil
	}
	return r.decide(ctx, a)
}
func (r *recorder) Answer(ctx context.Context, q api.Question) (Reply, error) {
	if r.answer == nil {
		return Reply{}, nil
	}
	return r.answer(ctx, q)
}

// script builds the events of a session as a host would publish them.
type script struct {
	t      *testing.T
	events []api.EventEnvelope
}

func (s *script) add(event api.Event) {
	s.events = append(s.events, api.EventEnvelope{SessionID: testSession, Seq: uint64(len(s.events) + 1), Event: event})
}

func (s *script) entry(build func(id string, seq uint64) any) {
	s.t.Helper()
	seq := uint64(len(s.events) + 1)
	line, err := session.Encode(build(fmt.Sprintf("e%d", seq), seq))
	if err != nil {
		s.t.Fatal(err)
	}
	entry, err := session.ParseEntry(line)
	if err != nil {
		s.t.Fatal(err)
	}
	s.add(api.EntryAppended{Entry: entry})
}

func (s *script) message(turn, key string, m session.Message) {
	s.t.Helper()
	s.entry(func(id string, seq uint64) any {
		return session.MessageEntry{Type: session.TypeMessage, ID: id, Seq: seq, Message: m, TurnID: turn, ClientKey: key}
	})
}

func (s *script) prompt(turn, key string) {
	s.t.Helper()
	s.message(turn, key, session.Message{Role: session.RoleUser, Content: session.Content{session.Text("do it")}})
	s.add(api.TurnStarted{Turn: api.Turn{TurnID: turn, ClientKey: key}})
}

func (s *script) stream(pieces ...string) {
	s.add(api.MessageStarted{})
	s.add(api.BlockStarted{Index: 0, Block: session.BlockThinking})
	s.add(api.BlockDelta{Index: 0, Delta: "hm"})
	s.add(api.BlockStarted{Index: 1, Block: session.BlockText})
	for _, piece := range pieces {
		s.add(api.BlockDelta{Index: 1, Delta: piece})
	}
}

func assistant(stop session.StopReason, text string, calls ...string) session.Message {
	m := session.Message{Role: session.RoleAssistant, StopReason: stop,
		Content: session.Content{{Type: session.BlockThinking, Thinking: "hm"}, session.Text(text)}}
	for _, id := range calls {
		m.Content = append(m.Content, session.Block{Type: session.BlockToolCall, ID: id, Name: "bash"})
	}
	return m
}

// turnScript is a turn with another one before and after it, a retried model call,
// a tool and an approval. begin is how many events came before our prompt.
func turnScript(t *testing.T) (s *script, begin int) {
	s = &script{t: t}
	s.prompt("turn-0", "key-0")
	s.stream("not ", "ours")
	begin = len(s.events)
	s.message("turn-0", "", assistant(session.StopEnd, "not ours"))
	s.add(api.TurnEnded{TurnID: "turn-0", ClientKey: "key-0", StopReason: session.StopEnd})
	s.prompt(testTurn, testKey)
	s.stream("lost atte")
	s.add(api.MessageReset{Reason: "overloaded", Retry: &api.ModelRetry{Reason: "The model is overloaded.", Attempt: 2, Attempts: 4, DelayMS: 2000}})
	s.add(api.BlockStarted{Index: 0, Block: session.BlockThinking})
	s.add(api.BlockStarted{Index: 1, Block: session.BlockText})
	s.add(api.BlockDelta{Index: 1, Delta: "I will "})
	s.add(api.BlockDelta{Index: 1, Delta: "look."})
	s.message(testTurn, "", assistant(session.StopToolUse, "I will look.", "c1"))
	s.add(api.ApprovalRequested{Approval: api.Approval{ID: "a1", TurnID: testTurn, ToolCallID: "c1"}})
	s.add(api.ApprovalResolved{ApprovalID: "a1", Decision: api.DecisionAllow, DecidedBy: "cli_x"})
	s.add(api.QuestionAsked{Question: api.Question{ID: "q1", TurnID: testTurn, ToolCallID: "c1"}})
	s.add(api.QuestionAnswered{QuestionID: "q1", Outcome: api.OutcomeAnswered, AnsweredBy: "cli_x"})
	s.add(api.ToolStarted{ToolCallID: "c1", ToolName: "bash"})
	s.add(api.ToolOutput{ToolCallID: "c1", Delta: "out"})
	s.message(testTurn, "", session.Message{Role: session.RoleToolResult, ToolCallID: "c1"})
	s.stream("All", " is ", "well.")
	s.message(testTurn, "", assistant(session.StopEnd, "All is well."))
	s.add(api.TurnEnded{TurnID: testTurn, ClientKey: testKey, StopReason: session.StopEnd})
	s.prompt("turn-2", "key-2")
	s.stream("nor this")
	return s, begin
}

// resyncAt responds as a host would after n events.
func (s *script) resyncAt(n int, mode api.ResyncMode, from api.Anchors) api.ResyncEventsResponse {
	r := api.ResyncEventsResponse{Mode: mode, Live: api.NewLive(), Anchors: api.Anchors{Epoch: "x", StreamLastSeq: uint64(n)}}
	for _, e := range s.events[:n] {
		r.Live.Apply(e.Event)
		if mode == api.ResyncStream && e.Seq > from.StreamLastSeq {
			r.Events = append(r.Events, e)
		}
		appended, ok := e.Event.(api.EntryAppended)
		if !ok {
			continue
		}
		r.Anchors.PersistentLastSeq = appended.Entry.Seq
		if mode == api.ResyncFull || mode == api.ResyncPersistent && appended.Entry.Seq > from.PersistentLastSeq {
			r.Entries = append(r.Entries, appended.Entry)
		}
	}
	return r
}

// betweenPair reports whether a host that has published n events is between a prompt's
// message and its turn_started, where it never answers a resync.
func (s *script) betweenPair(n int) bool {
	if n >= len(s.events) {
		return false
	}
	_, starts := s.events[n].Event.(api.TurnStarted)
	return starts
}

func track(t *testing.T) (*tracker, *recorder) {
	view := newRecorder()
	ctx, cancel := context.WithCancel(context.Background())
	q := newQuestions(ctx, view)
	t.Cleanup(func() { cancel(); q.wait() })
	return newTracker(testKey, view, q), view
}

// TestRetriesAreShown: a retry of our own turn gives one notice, one of another turn none.
func TestRetriesAreShown(t *testing.T) {
	s, begin := turnScript(t)
	tr, view := track(t)
	tr.resync(testSession, s.resyncAt(begin, api.ResyncFull, api.Anchors{}))
	retry := &api.ModelRetry{Reason: "Not ours.", Attempt: 2, Attempts: 4}
	tr.event(api.EventEnvelope{SessionID: testSession, Event: api.MessageReset{Retry: retry}})
	tr.events(s.events[begin:])
	shown := slices.DeleteFunc(view.notices, func(text string) bool { return !strings.Contains(text, "Trying again") })
	if want := []string{"The model is overloaded. Trying again in 2 s (attempt 2 of 4)."}; !slices.Equal(shown, want) {
		t.Errorf("got %q, want %q", shown, want)
	}
}

// outcome is what must not depend on where the connection was cut.
type outcome struct {
	Messages, Calls, Results, Entries []string
	End                               Result
	Live                              api.Live
}

func outcomeOf(t *testing.T, tr *tracker, view *recorder) outcome {
	t.Helper()
	if tr.end == nil {
		t.Fatal("the turn has not ended")
	}
	return outcome{view.messages, view.calls, view.results, view.entries, *tr.end, view.partial}
}

// TestEveryCut cuts the connection after every event, lets the host continue for any number
// of events, and catches up in every mode.
func TestEveryCut(t *testing.T) {
	s, begin := turnScript(t)
	whole, wholeView := track(t)
	whole.resync(testSession, s.resyncAt(begin, api.ResyncFull, api.Anchors{}))
	whole.events(s.events[begin:])
	want := outcomeOf(t, whole, wholeView)
	if got := want.Messages; !reflect.DeepEqual(got, []string{"I will look.", "All is well."}) {
		t.Fatalf("messages of the uncut run: %q", got)
	}
	if want.End != (Result{StopReason: session.StopEnd, Text: "All is well."}) {
		t.Fatalf("end of the uncut run: %+v", want.End)
	}
	for _, mode := range []api.ResyncMode{api.ResyncStream, api.ResyncPersistent, api.ResyncFull} {
		for cut := begin; cut <= len(s.events); cut++ {
			for back := cut; back <= len(s.events); back++ {
				if s.betweenPair(back) {
					continue
				}
				checkCut(t, s, want, begin, cut, back, mode)
			}
		}
	}
}

func checkCut(t *testing.T, s *script, want outcome, begin, cut, back int, mode api.ResyncMode) {
	t.Helper()
	tr, view := track(t)
	tr.resync(testSession, s.resyncAt(begin, api.ResyncFull, api.Anchors{}))
	tr.events(s.events[begin:cut])
	if tr.end == nil {
		tr.resync(testSession, s.resyncAt(back, mode, tr.anchors))
		tr.events(s.events[begin:back]) // events already on their way before the response
		tr.events(s.events[back:])
	}
	got := outcomeOf(t, tr, view)
	// After its end the run does not listen, so later entries may or may not be known.
	got.Entries = got.Entries[:min(len(got.Entries), len(want.Entries))]
	got.Live, want.Live = api.Live{}, api.Live{}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("cut at %d, back at %d, %s:\n got %+v\nwant %+v", cut, back, mode, got, want)
	}
}

// TestPartialEqualsFreshLoad checks the rule of every resync: a reader's projection of the
// JSON events equals the host's state.
func TestPartialEqualsFreshLoad(t *testing.T) {
	s, begin := turnScript(t)
	for _, mode := range []api.ResyncMode{api.ResyncStream, api.ResyncPersistent} {
		for cut := begin + 4; cut < len(s.events); cut++ {
			for back := cut; back < len(s.events); back++ {
				if s.betweenPair(back) {
					continue
				}
				tr, view := track(t)
				tr.resync(testSession, s.resyncAt(begin, api.ResyncFull, api.Anchors{}))
				tr.events(s.events[begin:cut])
				host := s.resyncAt(back, mode, tr.anchors)
				tr.resync(testSession, host)
				if tr.end == nil && host.Live.Retry != nil && !reflect.DeepEqual(view.partial.Retry, host.Live.Retry) {
					t.Errorf("cut at %d, back at %d, %s: retry %+v", cut, back, mode, view.partial.Retry)
				}
				if tr.end != nil || len(host.Live.Partial) == 0 {
					continue
				}
				if !reflect.DeepEqual(view.partial.Partial, host.Live.Partial) {
					t.Errorf("cut at %d, back at %d, %s:\n got %+v\nwant %+v", cut, back, mode, view.partial.Partial, host.Live.Partial)
				}
			}
		}
	}
}

func TestEndFromLog(t *testing.T) {
	record := func(turn string) func(string, uint64) any {
		data, err := json.Marshal(session.TurnRecord{TurnID: turn, StopReason: session.StopError, Error: "the key is wrong"})
		if err != nil {
			t.Fatal(err)
		}
		return func(id string, seq uint64) any {
			return session.CustomEntry{Type: session.TypeCustom, CustomType: session.CustomTurn, Data: data, ID: id, Seq: seq}
		}
	}
	tests := []struct {
		name string
		log  func(*script)
		want Result
	}{
		{"the record of the turn", func(s *script) { s.entry(record(testTurn)) },
			Result{StopReason: session.StopError, Error: "the key is wrong"}},
		{"the record of a host that crashed", func(s *script) { s.entry(record("interrupted")) },
			Result{StopReason: session.StopError, Error: "the key is wrong"}},
		{"a record of the next turn", func(s *script) {
			s.message(testTurn, "", assistant(session.StopEnd, "done"))
			s.message("turn-2", "key-2", session.Message{Role: session.RoleUser})
			s.entry(record("turn-2"))
		}, Result{StopReason: session.StopEnd, Text: "done"}},
		{"nothing after a tool call", func(s *script) { s.message(testTurn, "", assistant(session.StopToolUse, "let me", "c1")) },
			Result{StopReason: session.StopError, Error: interruptedText, Text: "let me"}},
		{"nothing at all", func(*script) {}, Result{StopReason: session.StopError, Error: interruptedText}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := &script{t: t}
			s.prompt(testTurn, testKey)
			tr, _ := track(t)
			tr.resync(testSession, api.ResyncEventsResponse{Mode: api.ResyncFull, Live: api.NewLive()})
			tr.events(s.events)
			test.log(s)
			s.add(api.TurnEnded{TurnID: testTurn, ClientKey: testKey}) // never arrives
			tr.resync(testSession, s.resyncAt(len(s.events), api.ResyncPersistent, tr.anchors))
			if tr.end == nil || *tr.end != test.want {
				t.Errorf("got %+v, want %+v", tr.end, test.want)
			}
		})
	}
}
