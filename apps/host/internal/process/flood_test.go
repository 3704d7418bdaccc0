package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAFloodOfErrors: an operation that reports nothing but errors, each another one, goes
// out as often as one that reports progress, and its log ends at its bound.
func TestAFloodOfErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, sink, logs := newSink(t)
		o := begin(t, ctx, skill())
		taken := 0
		for i := range 3000 { // in no time
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
		if err := os.Truncate(path, 4<<20); err != nil { // without the bytes on the disk
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
