package subagent_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestALongReportIsShortened(t *testing.T) {
	report := "BEGIN" + strings.Repeat("ä", 60_000) + "END"
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(delegate("c1", "one")), modeltest.Say("done")),
		"one": modeltest.New(modeltest.Step{Content: modeltest.Say(report).Content, Piece: 10_000}),
	})
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go"})
	watch.waitEnd(1)
	result := oneResult(t, watch, "c1")
	text := result.Content.Plain()
	if n := strings.Count(text, "ä"); n < 23_000 || n > 24_000 || !strings.Contains(text, "BEGIN") || !strings.Contains(text, "END\n") {
		t.Errorf("%d characters are shown: %.300s", n, text)
	}
	var details struct {
		Agents []struct{ FullText string }
	}
	if err := json.Unmarshal(result.Details, &details); err != nil {
		t.Fatal(err)
	}
	path := details.Agents[0].FullText
	if full, err := os.ReadFile(path); err != nil || string(full) != report || !strings.Contains(text, path) {
		t.Errorf("the whole report is not in %q: %v", path, err)
	}
}

func TestChildrenAreOperationsOfTheirCall(t *testing.T) {
	w := newWorld(t, casting{
		"go":  modeltest.New(modeltest.Calls(parallel("c1", "one", "two")), modeltest.Say("done")),
		"one": modeltest.New(modeltest.Say("the report")),
		"two": modeltest.New(), // it fails
	})
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go"})
	var ended []session.ProcessRecord
	watch.wait(func() bool {
		ended = nil
		for _, entry := range watch.entries {
			if record, ok := entry.AsProcess(); ok {
				ended = append(ended, record)
			}
		}
		return len(ended) == 3
	})
	whole := slices.IndexFunc(ended, func(r session.ProcessRecord) bool { return r.ParentOperationID == "" })
	states := map[session.ProcessStatus]int{}
	for i, record := range ended {
		states[record.Status]++
		if i != whole && (record.ParentOperationID != ended[whole].OperationID || record.TargetType != session.ProcessAgent || record.ToolCallID != "c1") {
			t.Errorf("an agent is the operation %+v", record)
		}
	}
	if states[session.ProcessCompleted] != 2 || states[session.ProcessFailed] != 1 {
		t.Errorf("the operations ended as %v", states)
	}
}
