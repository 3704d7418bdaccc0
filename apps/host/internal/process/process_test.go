package process_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

const sessionID = "0198-one"

func newSink(t *testing.T) (context.Context, *process.Sink, *process.Logs) {
	t.Helper()
	return newSinkOn(t, process.NewLogs(filepath.Join(t.TempDir(), "process")))
}

func newSinkOn(t *testing.T, logs *process.Logs) (context.Context, *process.Sink, *process.Logs) {
	t.Helper()
	sink := process.NewSink(logs, sessionID, slog.New(slog.DiscardHandler))
	return process.WithSink(t.Context(), sink), sink, logs
}

func begin(t *testing.T, ctx context.Context, start process.Start) *process.Operation {
	t.Helper()
	_, o := process.Begin(ctx, start)
	if o == nil {
		t.Fatal("no listener")
	}
	return o
}

func skill() process.Start {
	return process.Start{ToolCallID: "call", TargetType: session.ProcessSkill, Source: "convert", Message: "Converting"}
}

// record returns the only record, of an operation that has ended.
func record(t *testing.T, sink *process.Sink) process.Record {
	t.Helper()
	var records []process.Record
	for _, change := range sink.Take() {
		if change.Record != nil {
			records = append(records, *change.Record)
		}
	}
	if len(records) != 1 {
		t.Fatalf("there are %d records: %+v", len(records), records)
	}
	return records[0]
}

// whole reads a log page by page.
func whole(t *testing.T, logs *process.Logs, ref string, limit int) []process.Line {
	t.Helper()
	var lines []process.Line
	for from, more := int64(0), true; more; {
		page, err := logs.Read(ref, from, limit)
		if err != nil {
			t.Fatal(err)
		}
		lines, from, more = append(lines, page.Lines...), page.Next, page.More
	}
	return lines
}

func TestWithoutASinkNothingHappens(t *testing.T) {
	_, o := process.Begin(t.Context(), skill())
	o.Report(process.Event{Message: "x"})
	o.Show()
	o.End(session.ProcessCompleted, process.Event{})
	if o.ID() != "" {
		t.Errorf("it has the id %q", o.ID())
	}
}

func TestTheSameIsMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, logs := newSink(t)
		o := begin(t, ctx, skill())
		sink.Take()
		for i := range 30 { // 300 ms
			n := float64(i + 1)
			o.Report(process.Event{Stage: "pages", Message: "Page done", Current: &n})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		o.Report(process.Event{Stage: "pages", Message: "Page done"}) // after the merge window
		o.Report(process.Event{Stage: "other", Message: "Page done"})
		o.End(session.ProcessCompleted, process.Event{Message: "Done"})
		lines := record(t, sink).Lines
		want := []string{"/Converting/0", "pages/Page done/30", "pages/Page done/0", "other/Page done/0", "/Done/0"}
		if got := told(lines); !slices.Equal(got, want) {
			t.Fatalf("the lines are %q", got)
		}
		if *lines[1].Current != 30 || lines[1].Sequence != 31 {
			t.Errorf("what was merged is not the last: %+v", lines[1])
		}
		if got := told(whole(t, logs, process.Ref(sessionID, o.ID()), 2)); !slices.Equal(got, want) {
			t.Errorf("the log has %q", got)
		}
	})
}

func told(lines []process.Line) []string {
	var out []string
	for _, line := range lines {
		out = append(out, fmt.Sprintf("%s/%s/%d", line.Stage, line.Message, line.Repeats))
	}
	return out
}

// TestErrorsAndEndsDoNotWait: everything else may.
func TestErrorsAndEndsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, _ := newSink(t)
		o := begin(t, ctx, skill())
		<-sink.Ready()
		sink.Take()
		o.Report(process.Event{Message: "small"})
		select {
		case <-sink.Ready():
			t.Error("a small step goes out at once")
		default:
		}
		for i := range 100 {
			o.Report(process.Event{Message: "bad", Level: session.ProcessError})
			if i > 0 {
				continue
			}
			select {
			case <-sink.Ready():
			default:
				t.Error("an error waits")
			}
			if taken := sink.Take(); len(taken) != 1 || taken[0].Process.Last.Message != "bad" {
				t.Errorf("taken: %+v", taken)
			}
		}
		select {
		case <-sink.Ready():
			t.Error("the same error goes out again and again")
		default:
		}
		o.End(session.ProcessFailed, process.Event{Stage: "exit", Message: "exit code 3"})
		<-sink.Ready()
		r := record(t, sink)
		if got := told(r.Lines); !slices.Equal(got, []string{"/Converting/0", "/small/0", "/bad/0", "/bad/99", "exit/exit code 3/0"}) {
			t.Errorf("the lines are %q", got)
		}
		if last := r.Lines[4]; r.Status != session.ProcessFailed || last.Level != session.ProcessError || r.ToolCallID != "call" {
			t.Errorf("the record is %+v", r)
		}
	})
}

func TestOneEnd(t *testing.T) {
	ctx, sink, _ := newSink(t)
	o := begin(t, ctx, skill())
	var all sync.WaitGroup
	for _, status := range []process.Status{session.ProcessCompleted, session.ProcessFailed, session.ProcessCancelled, "odd", session.ProcessRunning} {
		all.Go(func() {
			o.End(status, process.Event{Message: "over"})
			o.Report(process.Event{Message: "late", Status: status})
		})
	}
	all.Wait()
	r := record(t, sink)
	if ended := slices.IndexFunc(r.Lines, func(l process.Line) bool { return l.Status.Ended() }); ended != len(r.Lines)-1 || !r.Status.Ended() {
		t.Errorf("the lines are %+v", r.Lines)
	}
	if len(sink.Running()) > 0 {
		t.Error("it still runs")
	}
}

func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, _ := newSink(t)
		start := skill()
		start.Quiet = time.Second
		begin(t, ctx, start).End(session.ProcessCompleted, process.Event{Message: "soon over"})
		o := begin(t, ctx, start)
		if got := sink.Take(); len(got)+len(sink.Running()) > 0 {
			t.Errorf("it is seen: %+v", got)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := sink.Take(); len(got) != 1 || got[0].Process.Last.Message != "Converting" || len(sink.Running()) != 1 {
			t.Errorf("it is not seen: %+v", got)
		}
		o.End(session.ProcessCompleted, process.Event{Message: "at last"})
		record(t, sink)
	})
}

func TestSamplesAndParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, logs := newSink(t)
		inner, whole1 := process.Begin(ctx, skill())
		_, part := process.Begin(inner, process.Start{TargetType: session.ProcessAgent, Source: "explore"})
		for i := range 199 {
			part.Report(process.Event{Message: fmt.Sprint("step ", i)})
		}
		part.End(session.ProcessCompleted, process.Event{Message: "Done"})
		r := record(t, sink)
		if len(r.Lines) != 50 || r.Omitted != 151 || r.Lines[9].Message != "step 8" || r.Lines[10].Message != "step 160" {
			t.Errorf("%d lines, %d omitted, %q", len(r.Lines), r.Omitted, told(r.Lines))
		}
		if r.ParentOperationID != whole1.ID() || r.ToolCallID != "call" {
			t.Errorf("it hangs nowhere: %+v", r)
		}
		if n := len(whole(t, logs, r.ProcessLogRef, 0)); n != 201 {
			t.Errorf("the log has %d lines", n)
		}
		whole1.End(session.ProcessCompleted, process.Event{})
	})
}

func TestReferencesStayInTheFolder(t *testing.T) {
	ctx, sink, logs := newSink(t)
	o := begin(t, ctx, skill())
	o.End(session.ProcessCompleted, process.Event{Message: "Done"})
	ref := record(t, sink).ProcessLogRef
	if strings.ContainsAny(ref, `/\`) {
		t.Errorf("the reference %q looks like a path", ref)
	}
	for _, bad := range []string{
		"", "plog", ref + ":x", "plog:../" + sessionID + ":" + o.ID(), "plog:..:" + o.ID(), "plog:.:" + o.ID(), "plog::" + o.ID(),
		"plog:" + sessionID + ":../" + o.ID(), "plog:" + sessionID + ":" + strings.ToUpper(o.ID()), `plog:a\b:` + o.ID(), "plog:a/b:" + o.ID(), "plog:a\x00b:" + o.ID(),
	} {
		if page, err := logs.Read(bad, 0, 0); err == nil {
			t.Errorf("%q gives %+v", bad, page)
		}
	}
}

func TestLinksLeadNowhere(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	logs := process.NewLogs(dir)
	const op = "op_0123456789abcdef"
	if err := os.WriteFile(filepath.Join(outside, op+".jsonl"), []byte(`{"version":1,"sequence":1,"message":"secret"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, sessionID)); err != nil {
		t.Fatal(err)
	}
	if page, err := logs.Read(process.Ref(sessionID, op), 0, 0); err == nil {
		t.Errorf("it gives %+v", page)
	}
}

func TestModesAndRemoval(t *testing.T) {
	ctx, sink, logs := newSink(t)
	ref := process.Ref(sessionID, begin(t, ctx, skill()).ID())
	if err := sink.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := logs.Read(ref, 0, 0); err == nil {
		t.Error("the log is still there")
	}
	if _, o := process.Begin(ctx, skill()); o != nil {
		t.Error("a session that is gone is still reported to")
	}
}

// TestOrphans simulates a killed host: nothing is closed, and a line is torn.
func TestOrphans(t *testing.T) {
	ctx, sink, logs := newSink(t)
	cut := begin(t, ctx, skill())
	cut.Report(process.Event{Stage: "pages", Message: "Page 1", Level: session.ProcessError})
	over := begin(t, ctx, skill())
	over.End(session.ProcessCompleted, process.Event{Message: "Done"})

	again := process.NewSink(logs, sessionID, slog.New(slog.DiscardHandler))
	known := map[string]bool{}
	records := again.Orphans(func(id string) bool { return known[id] })
	if len(records) != 2 {
		t.Fatalf("the records are %+v", records)
	}
	for _, r := range records {
		known[r.OperationID] = true
		last := r.Lines[len(r.Lines)-1]
		switch {
		case r.ToolCallID != "call" || r.Source != "convert" || last.Sequence != uint64(len(r.Lines)):
			t.Errorf("the record is %+v", r)
		case r.OperationID == cut.ID() && (r.Status != session.ProcessFailed || last.Stage != "interrupted" || len(r.Lines) != 3):
			t.Errorf("the cut one is %+v", r)
		case r.OperationID == over.ID() && (r.Status != session.ProcessCompleted || len(r.Lines) != 2):
			t.Errorf("the ended one is %+v", r)
		}
	}
	if more := again.Orphans(func(id string) bool { return known[id] }); len(more) > 0 {
		t.Errorf("once more: %+v", more)
	}
	if running := sink.Orphans(func(string) bool { return false }); len(running) > 0 {
		t.Errorf("what runs, or waits to be taken, is no orphan: %+v", running)
	}
}
