package subagent_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestOneWorksAndTheOtherWaits(t *testing.T) {
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(parallel("c1", "one", "two")), modeltest.Say("done")),
		"one": modeltest.New(modeltest.Say("report of one")),
		"two": modeltest.New(modeltest.Say("report of two")),
	})
	w.limits.MaxConcurrent = 1
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	if watch.most != 1 {
		t.Errorf("%d worked at once", watch.most)
	}
	first, second := slices.Index(watch.states, "0 completed"), slices.Index(watch.states, "1 running")
	if first < 0 || second < first {
		t.Errorf("the second began before the first had ended: %q", watch.states)
	}
	result := oneResult(t, watch, "c1")
	text := result.Content.Plain()
	if *result.IsError || strings.Index(text, "report of one") > strings.Index(text, "report of two") || !strings.Contains(text, "report of one") {
		t.Errorf("the result is %s", text)
	}
	if len(watch.live.Subagents) != 0 {
		t.Errorf("after the turn there are still %+v", watch.live.Subagents)
	}
}

func TestTwoCallsOfOneMessageWorkSideBySide(t *testing.T) {
	one, two := make(chan struct{}), make(chan struct{})
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(delegate("c1", "one"), delegate("c2", "two")), modeltest.Say("done")),
		"one": &meeting{Model: modeltest.New(modeltest.Say("report of one")), here: one, there: two},
		"two": &meeting{Model: modeltest.New(modeltest.Say("report of two")), here: two, there: one},
	})
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1) // each waits for the other
	oneResult(t, watch, "c1")
	oneResult(t, watch, "c2")
}

func TestAChildIsAnchoredAndListedBelow(t *testing.T) {
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(delegate("c1", "one")), modeltest.Say("done")),
		"one": modeltest.New(modeltest.Say("the report")),
	})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	subagents := records[session.SubagentRecord](t, watch, session.CustomSubagents)
	if len(subagents) != 3 || subagents[0].Members[0].State != session.ChildQueued || subagents[1].Members[0].State != session.ChildRunning || subagents[2].Members[0].State != session.ChildCompleted {
		t.Fatalf("the records are %+v", subagents)
	}
	page, err := m.Page(api.ListSessionsRequest{Limit: 10}, nil)
	if top := page.Sessions; err != nil || len(top) != 1 || page.Total != 1 || top[0].ID != s.ID() {
		t.Errorf("the list shows %+v", top)
	}
	childID := subagents[2].Members[0].SessionID
	_, child := open(t, m, childID)
	record := records[session.ChildRecord](t, child, session.CustomChild)[0]
	if record.ParentSessionID != s.ID() || record.ToolCallID != "c1" || record.Agent != "general" || record.Title != "Do one" {
		t.Errorf("the anchor is %+v", record)
	}
	at := slices.IndexFunc(watch.entries, func(e session.Entry) bool { return e.ID == record.EntryID })
	if at < 0 || watch.entries[at].Role() != session.RoleAssistant || watch.entries[at+1].CustomType != session.CustomSubagents {
		t.Errorf("the anchor's message %s does not precede the record of the subagents", record.EntryID)
	}
	for _, summary := range m.List("") {
		if summary.ID == childID && (summary.ParentSessionID != s.ID() || summary.Name != "Do one") {
			t.Errorf("the child is listed as %+v", summary)
		}
	}
}

func TestAChildLacksSomeTools(t *testing.T) {
	child := modeltest.New(modeltest.Calls(modeltest.Call("x", "delegate_task", `{"agent":"general","prompt":"y"}`)), modeltest.Say("no"))
	explorer := modeltest.New(modeltest.Say("no"))
	parent := modeltest.New(modeltest.Calls(delegate("c1", "one"),
		modeltest.Call("c2", "delegate_task", `{"agent":"explore","prompt":"two"}`)), modeltest.Say("done"))
	w := newWorld(t, casting{"go": parent, "one": child, "two": explorer})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	has := toolNames(parent)
	for _, name := range []string{"delegate_task", "delegate_parallel", "memory_save", "memory_recall"} {
		if !slices.Contains(has, name) || slices.Contains(toolNames(child), name) {
			t.Errorf("%s: the parent has %q, the child %q", name, has, toolNames(child))
		}
	}
	if got := toolNames(explorer); !slices.Equal(got, []string{"glob", "grep", "list_dir", "read_file", "todo"}) {
		t.Errorf("the explorer has %q", got)
	}
	system := child.Requests()[0].System
	if !strings.Contains(system, "Your last message is your report") || strings.Contains(system, "recall the notes") {
		t.Errorf("the child receives:\n%s", system)
	}
	subagents := records[session.SubagentRecord](t, watch, session.CustomSubagents)
	first := slices.IndexFunc(subagents, func(r session.SubagentRecord) bool { return r.ToolCallID == "c1" })
	_, kid := open(t, m, subagents[first].Members[0].SessionID)
	if text := oneResult(t, kid, "x").Content.Plain(); !strings.Contains(text, "There is no tool") {
		t.Errorf("a child that delegates receives %s", text)
	}
}

func toolNames(m *modeltest.Scripted) []string {
	var names []string
	for _, spec := range m.Requests()[0].Tools {
		names = append(names, spec.Name)
	}
	return names
}

// TestTheWorkOfAnAgentIsReported: the record, the live state and the last event contain each
// subagent's calls, its usage and the beginning of its report.
func TestTheWorkOfAnAgentIsReported(t *testing.T) {
	usage := func(in, out int) *session.Usage {
		return &session.Usage{Input: in, Output: out, TotalTokens: in + out, Cost: session.Cost{Total: float64(in) / 4}}
	}
	call := func(id, name, args string) modeltest.Step {
		step := modeltest.Calls(modeltest.Call(id, name, args))
		step.Usage = usage(100, 10)
		return step
	}
	report := modeltest.Say("# The result\n\nAll is well.")
	report.Usage = usage(200, 20)
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(parallel("c1", "one", "two")), modeltest.Say("done")),
		"one": modeltest.New(call("r1", "list_dir", `{}`), call("r2", "glob", `{"pattern":"*"}`), call("r3", "list_dir", `{}`), report),
		"two": modeltest.New(modeltest.Say(strings.Repeat("word ", 100))),
	})
	m := w.manager(t)
	s, watch := w.begin(t, m)
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	members := lastSubagents(t, watch).Members
	one, two := members[0], members[1]
	if !slices.Equal(one.ToolNames, []string{"list_dir", "glob"}) || one.ToolCallCount != 3 || one.Summary != "The result" {
		t.Errorf("the record says %+v", one)
	}
	if one.Usage == nil || one.Usage.TotalTokens != 550 || one.Usage.Cost.Total != 125 {
		t.Errorf("the usage is %+v", one.Usage)
	}
	if n := len([]rune(two.Summary)); n != 300 || two.ToolCallCount != 0 || two.Usage != nil {
		t.Errorf("the other one says %+v", two)
	}
	if len(watch.subagents) != 1 || !reflect.DeepEqual(watch.subagents[0].Members, members) {
		t.Errorf("the last event says %+v", watch.subagents)
	}
	_, kid := open(t, m, one.SessionID)
	at := slices.IndexFunc(kid.entries, func(e session.Entry) bool { return e.ID == one.AssistantMessageID })
	if at < 0 || kid.entries[at].Role() != session.RoleAssistant || !strings.Contains(string(kid.entries[at].Raw), "All is well.") {
		t.Errorf("the report is not the message %q", one.AssistantMessageID)
	}
}
