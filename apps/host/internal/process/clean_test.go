package process_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/session"
)

func parse(t *testing.T, line string) process.Event {
	t.Helper()
	e, ok := process.ParseLine([]byte(line))
	if !ok {
		t.Fatalf("%s is not an event", line)
	}
	return e
}

func TestSecretsAreNotRepeated(t *testing.T) {
	e := parse(t, `{"type":"process_event","message":"curl -H 'Authorization: Bearer hunter2hunter2' https://me:hunter2@x.org?api_key=hunter2",
		"detail":"DB_PASSWORD=hunter2\nall: 5 tokens: 512\nmax_tokens=100",
		"payload":{"Password":"hunter2","a":[{"b":{"X-Api-Key":"hunter2","accessToken":{"x":"hunter2"}}}],"inputTokens":512,"note":"token=hunter2","name":"kept"}}`)
	all := e.Message + e.Detail + string(e.Payload)
	if strings.Contains(all, "hunter2") {
		t.Errorf("a secret is repeated: %s", all)
	}
	for _, kept := range []string{"tokens: 512", "max_tokens=100", `"inputTokens":512`, `"name":"kept"`, "https://", "@x.org"} {
		if !strings.Contains(all, kept) {
			t.Errorf("%s is gone from %s", kept, all)
		}
	}
}

func TestBounds(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 40) + `"bottom"` + strings.Repeat(`}`, 40)
	e := parse(t, `{"type":"process_event","message":"`+strings.Repeat("é", 2000)+`\u001b[31m\nx","percent":250,"current":-1,"payload":{"deep":`+deep+`,"long":"`+strings.Repeat("y", 5000)+`"}}`)
	if len(e.Message) > 512 || strings.ContainsAny(e.Message, "\x1b\n") || !strings.HasSuffix(e.Message, "é...") {
		t.Errorf("the message is %q", e.Message)
	}
	if *e.Percent != 100 || e.Current != nil {
		t.Errorf("the figures are %v, %v", *e.Percent, e.Current)
	}
	if !json.Valid(e.Payload) || bytes.Contains(e.Payload, []byte("bottom")) || len(e.Payload) > 2000 {
		t.Errorf("the payload is %s", e.Payload)
	}
	many := parse(t, `{"type":"process_event","payload":[`+strings.Repeat("1,", 5000)+`1]}`)
	if n := bytes.Count(many.Payload, []byte("1")); n != 64 {
		t.Errorf("%d items are kept", n)
	}
}

func TestWhatIsNoEvent(t *testing.T) {
	for _, line := range []string{
		"", "hello", `{"type":"other","message":"x"}`, `{"message":"x"}`, `{"type":"process_event"`, ` {"type":"process_event"}`,
		`["process_event"]`, `{"type":"process_event","message":7}`, `{"type":"process_event","version":2}`,
		`{"type":"process_event","level":"loud"}`, `{"type":"process_event","status":"odd"}`, `{"type":"process_event"} x`,
		`{"type":"process_event","message":"` + strings.Repeat("x", process.MaxLine) + `"}`, "{\"type\":\"process_event\",\"message\":\"\xff\"}",
	} {
		if e, ok := process.ParseLine([]byte(line)); ok {
			t.Errorf("%.80q is taken for %+v", line, e)
		}
	}
	e := parse(t, `{"type":"process_event","operationId":"op_ffffffffffffffff","source":"host","timestamp":5,"sequence":9,"targetType":"mcp","stage":"s","unknown":1}`)
	if e.OperationID+e.Source+string(e.TargetType) != "" || e.Timestamp != 0 || e.Sequence != 0 || e.Stage != "s" || e.Level != session.ProcessInfo {
		t.Errorf("a script says who it is: %+v", e)
	}
}

// FuzzSplitter: whatever comes in whatever pieces, each line is either an event or
// goes on unchanged, in order.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("one\n{\"type\":\"process_event\",\"message\":\"x\"}\ntwo"), uint8(3))
	f.Add([]byte("{\n{}\n{\"type\":\"process_event\"}"), uint8(1))
	f.Add([]byte("{\"type\":\"process_event\"}\r\n\r\n"), uint8(200))
	f.Add(append(bytes.Repeat([]byte("{"), process.MaxLine+10), "\n{\"type\":\"process_event\"}\n"...), uint8(99))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		var want bytes.Buffer
		events := 0
		for line := range bytes.Lines(data) {
			if _, ok := process.ParseLine(bytes.TrimRight(line, "\r\n")); ok && len(line) <= process.MaxLine {
				events++
			} else {
				want.Write(line)
			}
		}
		var got bytes.Buffer
		s := process.NewSplitter(&got, func(e process.Event) {
			events--
			if len(e.Message) > 512 || strings.ContainsAny(e.Message, "\n\x1b") || len(e.Payload) > 8<<10 || len(e.Payload) > 0 && !json.Valid(e.Payload) {
				t.Errorf("the event %+v is not clean", e)
			}
		})
		for rest := data; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			if _, err := s.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if events != 0 || !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("%d events are missing; %q went on, want %q", events, got.Bytes(), want.Bytes())
		}
	})
}
