package cli

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func step(message string, status session.ProcessStatus, current, total float64, repeats int) api.Process {
	e := session.ProcessEvent{OperationID: "op_1", Source: "convert", Message: message, Status: status}
	if total > 0 {
		e.Current, e.Total = &current, &total
	}
	return api.Process{Last: session.ProcessLine{ProcessEvent: e, Repeats: repeats}}
}

func TestProgressLines(t *testing.T) {
	steps := []api.Process{
		step("Converting", session.ProcessRunning, 0, 0, 0), step("Page", session.ProcessRunning, 1, 4, 0),
		step("Page", session.ProcessRunning, 3, 4, 2), step("It ended\x1b[2J.", session.ProcessCompleted, 0, 0, 0),
	}
	for steered, want := range map[bool]string{
		false: "  convert: Converting\n  convert: Page (1/4)\n  convert: completed, It ended\\x1b[2J.\n",
		true: "convert: Converting\r\x1b[Kconvert: Page (1/4)\r\x1b[Kconvert: Page (3/4) x2\r\x1b[K" +
			"  convert: completed, It ended\\x1b[2J.\n",
	} {
		var out strings.Builder
		p := newProgress(&out, steered)
		for _, s := range steps {
			p.show(s)
		}
		p.clear()
		if out.String() != want {
			t.Errorf("on a terminal %v: %q, want %q", steered, out.String(), want)
		}
	}
}

func TestTranscriptShowsOperations(t *testing.T) {
	var b strings.Builder
	percent := 50.0
	writeProcess(&b, session.ProcessRecord{Lines: []session.ProcessLine{
		{ProcessEvent: session.ProcessEvent{Source: "bash", Message: "make", Status: session.ProcessRunning}},
		{ProcessEvent: session.ProcessEvent{Source: "bash", Message: "odd", Status: session.ProcessRunning, Level: session.ProcessWarn, Percent: &percent}},
		{ProcessEvent: session.ProcessEvent{Source: "bash", Stage: "exit", Status: session.ProcessFailed, Level: session.ProcessError}},
	}})
	if want := "  ~ bash: odd (50 %)\n  ~ bash: failed, exit\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
