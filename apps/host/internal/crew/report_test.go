package crew_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
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
