package subagent

import (
	"log/slog"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestEventsThatCameTooFast: an operation whose first events were not reported individually is
// repeated with all that its record has, and with the amounts of the first event otherwise.
func TestEventsThatCameTooFast(t *testing.T) {
	event := func(sequence uint64, stage string, status session.ProcessStatus, current float64) process.Event {
		return process.Event{
			OperationID: "op_a", TargetType: session.ProcessSkill, Source: "convert", Stage: stage, Message: stage, Status: status,
			Current: &current, Total: new(float64(4)), Payload: []byte(`{"part":"a"}`), Sequence: sequence,
		}
	}
	line := func(e process.Event) process.Line { return process.Line{ProcessEvent: e} }
	begins, pages, ends := event(1, "start", session.ProcessRunning, 0), event(2, "pages", session.ProcessRunning, 1), event(3, "exit", session.ProcessCompleted, 4)
	record := process.Record{OperationID: "op_a", Status: session.ProcessCompleted, Lines: []process.Line{line(begins), line(pages), line(ends)}}
	for name, test := range map[string]struct {
		records [][]process.Record // one list for each time that the watcher looks
		want    []string
	}{
		"reported and ended at once": {[][]process.Record{{record}}, []string{"start", "pages", "exit"}},
		"reported, then ended":       {[][]process.Record{nil, {record}}, []string{"pages", "exit"}},
	} {
		t.Run(name, func(t *testing.T) {
			sink := process.NewSink(nil, "s", slog.New(slog.DiscardHandler))
			n := newNested(process.WithSink(t.Context(), sink))
			reports := []api.Process{{Last: line(pages)}}
			for _, records := range test.records {
				n.take(reports, records)
				reports = nil
			}
			var got process.Record
			for _, change := range sink.Take() {
				if change.Record != nil {
					got = *change.Record
				}
			}
			var stages []string
			for _, l := range got.Lines {
				stages = append(stages, l.Stage)
				if l.Percent == nil || string(l.Payload) != `{"part":"a"}` {
					t.Errorf("%s has lost its amounts or payload: %+v", l.Stage, l)
				}
			}
			if !slices.Equal(stages, test.want) {
				t.Errorf("the stages are %q, want %q", stages, test.want)
			}
		})
	}
}
