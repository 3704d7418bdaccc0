package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAFloodOfErrors: an operation that reports nothing but different errors is published
// as often as one that reports progress, and its log stays within its bound.
func TestAFloodOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, logs := newSink(t)
		o := begin(t, ctx, skill())
		taken := 0
		for i := range 3000 { // at a single instant
			o.Report(process.Event{Level: session.ProcessError, Message: fmt.Sprint("bad ", i), Detail: strings.Repeat("x", 4000)})
			select {
			case <-sink.Ready():
				taken += len(sink.Take())
			default:
			}
		}
		if taken > 50 {
			t.Errorf("the state went out %d times", taken)
		}
		o.End(session.ProcessFailed, process.Event{Message: "over"})
		<-sink.Ready()
		r := record(t, sink)
		if encoded, err := session.Encode(r); err != nil || len(encoded) > 128<<10 {
			t.Errorf("the record has %d bytes, %v", len(encoded), err)
		}
		lines := whole(t, logs, r.ProcessLogRef, 500)
		if last := lines[len(lines)-1]; last.Message != "over" || len(lines) > 2000 {
			t.Errorf("%d lines, the last is %+v", len(lines), last)
		}
	})
}

// TestLogsOfASessionAreBounded: many operations with long logs leave a bounded folder.
func TestLogsOfASessionAreBounded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "process")
	logs := process.NewLogs(dir)
	ctx, sink, _ := newSinkOn(t, logs)
	for range 120 {
		o := begin(t, ctx, skill())
		o.End(session.ProcessCompleted, process.Event{Message: "over"})
		sink.Take()
		path := filepath.Join(dir, sessionID, o.ID()+".jsonl")
		if err := os.Truncate(path, 4<<20); err != nil { // a sparse file
			t.Fatal(err)
		}
	}
	var size int64
	entries, err := os.ReadDir(filepath.Join(dir, sessionID))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 128<<20 {
		t.Errorf("the folder has %d bytes in %d files", size, len(entries))
	}
}

// counted returns how many events lines represent.
func counted(lines []process.Line) (events int) {
	for _, line := range lines {
		events += max(line.Repeats, 1)
	}
	return events
}

// TestEventsThatAlternateAreMerged: events of the same kind within a window become one
// line, whatever comes between them, and are counted.
func TestEventsThatAlternateAreMerged(t *testing.T) {
	const events, moments = 40_000, 10
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, logs := newSink(t)
		o := begin(t, ctx, skill())
		for i := range events {
			o.Report(process.Event{Stage: "copy", Message: fmt.Sprint("File of kind ", i%2), Level: []session.ProcessLevel{session.ProcessInfo, session.ProcessError}[i/2%2]})
			if i%(events/moments) == events/moments-1 {
				time.Sleep(500 * time.Millisecond)
			}
		}
		o.End(session.ProcessCompleted, process.Event{Message: "over"})
		<-sink.Ready()
		r := record(t, sink)
		lines := whole(t, logs, r.ProcessLogRef, 500)
		if got := counted(lines); got != events+2 || len(lines) > moments*8+2 {
			t.Errorf("%d lines stand for %d events, want %d", len(lines), got, events+2)
		}
		for i := 1; i < len(lines); i++ {
			if lines[i].Sequence <= lines[i-1].Sequence {
				t.Fatalf("line %d has the number %d after %d", i, lines[i].Sequence, lines[i-1].Sequence)
			}
		}
		if got := uint64(events + 2); lines[len(lines)-1].Sequence != got {
			t.Errorf("the last number is %d, want %d", lines[len(lines)-1].Sequence, got)
		}
	})
}

// TestAFullLogSaysWhatItLost: every event is in the log, or in the count at its end.
func TestAFullLogSaysWhatItLost(t *testing.T) {
	const events = 3000
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, logs := newSink(t)
		o := begin(t, ctx, skill())
		for i := range events {
			o.Report(process.Event{Message: fmt.Sprint("one ", i/2), Detail: strings.Repeat("x", 4000)})
		}
		o.End(session.ProcessCompleted, process.Event{Message: "over"})
		<-sink.Ready()
		r := record(t, sink)
		lines := whole(t, logs, r.ProcessLogRef, 500)
		var lost int
		note := lines[len(lines)-2]
		if _, err := fmt.Sscanf(note.Message, "The log is full: %d events are missing.", &lost); err != nil || lost == 0 {
			t.Fatalf("the line before the last is %+v, %v", note, err)
		}
		if got := counted(lines) + lost; got != events+3 {
			t.Errorf("%d events are in the log and %d are lost, want %d", counted(lines), lost, events+3)
		}
		if kept := r.Lines[len(r.Lines)-2].Message; kept != note.Message {
			t.Errorf("the record says %q", kept)
		}
	})
}
