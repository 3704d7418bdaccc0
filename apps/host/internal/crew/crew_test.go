package crew_test

import (
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
	if len(watch.live.Crew) != 0 {
		t.Errorf("after the turn there are still %+v", watch.live.Crew)
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
	crews := records[session.CrewRecord](t, watch, session.CustomCrew)
	if len(crews) != 2 || crews[0].Members[0].State != session.ChildQueued || crews[1].Members[0].State != session.ChildCompleted {
		t.Fatalf("the records are %+v", crews)
	}
	page, err := m.Page(api.ListSessionsRequest{Limit: 10})
	if top := page.Sessions; err != nil || len(top) != 1 || page.Total != 1 || top[0].ID != s.ID() {
		t.Errorf("the list shows %+v", top)
	}
	childID := crews[1].Members[0].SessionID
	_, child := open(t, m, childID)
	record := records[session.ChildRecord](t, child, session.CustomChild)[0]
	if record.ParentSessionID != s.ID() || record.ToolCallID != "c1" || record.Agent != "general" || record.Title != "Do one" {
		t.Errorf("the anchor is %+v", record)
	}
	at := slices.IndexFunc(watch.entries, func(e session.Entry) bool { return e.ID == record.EntryID })
	if at < 0 || watch.entries[at].Role() != session.RoleAssistant || watch.entries[at+1].CustomType != session.CustomCrew {
		t.Errorf("the message %s of the anchor does not stand in front of the record of the crew", record.EntryID)
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
	if !strings.Contains(system, "Your last message is your report") || strings.Contains(system, "recall what was kept") {
		t.Errorf("the child is told:\n%s", system)
	}
	crews := records[session.CrewRecord](t, watch, session.CustomCrew)
	first := slices.IndexFunc(crews, func(r session.CrewRecord) bool { return r.ToolCallID == "c1" })
	_, kid := open(t, m, crews[first].Members[0].SessionID)
	if text := oneResult(t, kid, "x").Content.Plain(); !strings.Contains(text, "There is no tool") {
		t.Errorf("a child that delegates is told %s", text)
	}
}

func toolNames(m *modeltest.Scripted) []string {
	var names []string
	for _, spec := range m.Requests()[0].Tools {
		names = append(names, spec.Name)
	}
	return names
}
