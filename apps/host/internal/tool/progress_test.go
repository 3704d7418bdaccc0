//go:build !windows

package tool

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

// listen returns a context whose operations are recorded.
func listen(t *testing.T) (context.Context, *process.Sink) {
	t.Helper()
	sink := process.NewSink(process.NewLogs(t.TempDir()), "s", slog.New(slog.DiscardHandler))
	return process.WithSink(t.Context(), sink), sink
}

// records waits for n ended operations and returns their records.
func records(t *testing.T, sink *process.Sink, n int) []process.Record {
	t.Helper()
	var list []process.Record
	for limit := time.After(30 * time.Second); len(list) < n; {
		select {
		case <-sink.Ready():
		case <-limit:
			t.Fatalf("there are only the records %+v", list)
		}
		for _, change := range sink.Take() {
			if change.Record != nil {
				list = append(list, *change.Record)
			}
		}
	}
	return list
}

func scripts(t *testing.T, files map[string]string) (*Set, string) {
	t.Helper()
	set, cwd := withSkill(t)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(cwd, "skills/greet/scripts", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return set, cwd
}

func TestEverySkillEndsOnce(t *testing.T) {
	set, cwd := scripts(t, map[string]string{
		"good.sh":    `echo out; echo '{"type":"process_event","stage":"pages","message":"Page 1","current":1,"total":2,"payload":{"token":"t0p"}}' >&2; echo plain >&2`,
		"claims.sh":  `echo '{"type":"process_event","status":"failed","message":"part"}' >&2; echo '{"type":"process_event","status":"completed","message":"all"}' >&2`,
		"bad.sh":     `echo '{"type":"process_event","message":' >&2; echo '{"type":"process_event","level":"loud"}' >&2; echo '{"type":"process_event","message":"on stdout"}'; exit 3`,
		"dict.py.sh": `echo "{'type': 'process_event', 'message': 'a printed dict'}" >&2`,
		"slow.sh":    `echo '{"type":"process_event","message":"waiting"}' >&2; sleep 600`,
		"binary.sh":  `printf 'a\000b'`,
		"torn.sh":    `printf '{"type":"process_event","message":"no end"}' >&2`,
		"odd":        `x`,
	})
	for _, c := range []struct {
		script, more  string
		status        process.Status
		stage         string
		said          string // joined messages of the lines in between
		text, without string // in and not in the result
		failed        bool
	}{
		{"good.sh", "", session.ProcessCompleted, "exit", "Page 1", "plain\n", "process_event", false},
		{"claims.sh", "", session.ProcessCompleted, "exit", "part,all", "(no output)", "process_event", false},
		{"bad.sh", "", session.ProcessFailed, "exit", "A progress event could not be read: it is not a JSON object.,", `"message":"on stdout"`, "loud", true},
		{"dict.py.sh", "", session.ProcessCompleted, "exit", "A progress event could not be read: it is not a JSON object.", "(no output)", "process_event", false},
		{"slow.sh", `,"timeout_seconds":1`, session.ProcessFailed, "timeout", "waiting", "did not end within 1 s", "waiting", true},
		{"binary.sh", "", session.ProcessFailed, "output", "", "not text", "", true},
		{"torn.sh", "", session.ProcessCompleted, "exit", "no end", "(no output)", "process_event", false},
		{"odd", "", session.ProcessFailed, "spawn", "", "not executable", "", true},
		{"missing.sh", "", session.ProcessFailed, "spawn", "", "has no file", "", true},
	} {
		ctx, sink := listen(t)
		result := set.callWith(t, ctx, cwd, "execute_skill", `{"name":"greet","script":"scripts/`+c.script+`"`+c.more+`}`)
		r := records(t, sink, 1)[0]
		text := result.Content.Plain()
		if result.IsError != c.failed || !strings.Contains(text, c.text) || c.without != "" && strings.Contains(text, c.without) {
			t.Errorf("%s: error %v, %q", c.script, result.IsError, text)
		}
		last := r.Lines[len(r.Lines)-1]
		var said []string
		for i, line := range r.Lines {
			if line.Status.Ended() != (i == len(r.Lines)-1) {
				t.Errorf("%s: line %d is %+v", c.script, i, line)
			}
			if i > 0 && i < len(r.Lines)-1 {
				said = append(said, line.Message)
			}
		}
		if r.Status != c.status || last.Stage != c.stage || strings.Join(said, ",") != c.said || r.TargetType != session.ProcessSkill || r.Source != "greet" {
			t.Errorf("%s: %s, stage %s, said %q: %+v", c.script, r.Status, last.Stage, said, last)
		}
		if text, _ := json.Marshal(r); strings.Contains(string(text), "t0p") {
			t.Errorf("%s: a secret is kept", c.script)
		}
	}
}

func TestCommandsThatTakeLongAreSeen(t *testing.T) {
	set := open(t, Options{}, Scope{})
	dir := t.TempDir()
	ctx, sink := listen(t)
	if r := set.callWith(t, ctx, dir, "bash", `{"command":"exit 3"}`); !r.IsError || len(sink.Take()) > 0 {
		t.Error("a short command is made much of")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		set.callWith(t, ctx, dir, "bash", `{"command":"until [ -e go ]; do sleep 0.01; done"}`)
	}()
	<-sink.Ready()
	if seen := sink.Take(); len(seen) != 1 || seen[0].Record != nil || !strings.HasPrefix(seen[0].Process.Last.Message, "until") {
		t.Errorf("seen: %+v", seen)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := records(t, sink, 1)[0]; r.Status != session.ProcessCompleted {
		t.Errorf("the record is %+v", r)
	}
	<-done
	if r := set.callWith(t, ctx, filepath.Join(dir, "nowhere"), "bash", `{"command":"true"}`); !r.IsError {
		t.Error("it ran nowhere")
	}
	if r := records(t, sink, 1)[0]; r.Status != session.ProcessFailed || r.Lines[1].Stage != "spawn" {
		t.Errorf("the record is %+v", r)
	}
}

func TestJobsAndCancelAreSeen(t *testing.T) {
	set := open(t, Options{}, Scope{})
	ctx, sink := listen(t)
	for range 2 {
		id := jobOf(t, set.callWith(t, ctx, t.TempDir(), "bash", `{"command":"sleep 600","background":true}`))
		running := sink.Running()
		if len(running) != 1 || running[0].Last.TaskID != id || running[0].Last.Stage != "background" {
			t.Errorf("running: %+v", running)
		}
		set.call(t, t.TempDir(), "bash_job", map[string]any{"action": "kill", "job": id})
		if r := records(t, sink, 1)[0]; r.Status != session.ProcessCancelled || r.TaskID != id {
			t.Errorf("the record is %+v", r)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		set.callWith(t, cancelled, t.TempDir(), "bash", `{"command":"sleep 600"}`)
	}()
	<-sink.Ready()
	cancel()
	if r := records(t, sink, 1)[0]; r.Status != session.ProcessCancelled {
		t.Errorf("the record is %+v", r)
	}
	<-done
	set.callWith(t, ctx, t.TempDir(), "bash", `{"command":"sleep 600","background":true}`)
	set.Close()
	if r := records(t, sink, 1)[0]; r.Status != session.ProcessCancelled {
		t.Errorf("the record is %+v", r)
	}
}
