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
	if *e.Percent != 100 || e.Current != nil || !bytes.Contains(e.Payload, []byte(`"current":-1`)) {
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
	long := strings.Repeat("x", process.MaxLine)
	for _, line := range []string{
		"", "hello", `{"type":"other","message":"x"}`, `{"message":"x"}`, `["process_event"]`, `{"type":["process_event"]}`, `{type: process_event`,
		`{"data":{"type":"process_event"}}`, `{"type":"process_event_2"}`, `{"message":"\"type\":\"process_event\""}`, `x {"type":"process_event"}`,
		`{"data":{"type":"process_event","message":"` + long + `"}}`, `{"message":"` + long + `"}`,
	} {
		if e, ok := process.ParseLine([]byte(line)); ok {
			t.Errorf("%.80q is taken for %+v", line, e)
		}
	}
	e := parse(t, `{"type":"process_event","operationId":"op_ffffffffffffffff","source":"host","timestamp":5,"sequence":9,"targetType":"mcp","stage":"s"}`)
	if e.OperationID+e.Source+string(e.TargetType) != "" || e.Timestamp != 0 || e.Sequence != 0 || e.Stage != "s" || e.Level != session.ProcessInfo || e.Payload != nil {
		t.Errorf("a script says who it is: %+v", e)
	}
}

// TestOddEvents: a line that is marked as an event is one, whatever else it contains, and
// invalid fields are in its payload.
func TestOddEvents(t *testing.T) {
	const odd = "A progress event could not be read: it is not a JSON object."
	for _, c := range []struct{ line, level, message, payload string }{
		{`{"type":"process_event","message":"m","files":3,"a":{"b":[1]}}`, "info", "m", `{"a":{"b":[1]},"files":3}`},
		{`{"type":"process_event","message":"m","payload":{"x":1},"files":3}`, "info", "m", `{"files":3,"x":1}`},
		{`{"type":"process_event","message":"m","payload":{"x":1},"x":2}`, "info", "m", `{"payload":{"x":1},"x":2}`},
		{`{"type":"process_event","message":"m","payload":[1],"x":2}`, "info", "m", `{"payload":[1],"x":2}`},
		{`{"type":"process_event","message":"m","payload":null,"x":2}`, "info", "m", `{"x":2}`},
		{`{"type":"process_event","message":"m","payload":"text"}`, "info", "m", `"text"`},
		{`{"type":"process_event","message":7,"stage":["s"],"detail":{"d":1}}`, "info", "", `{"detail":{"d":1},"message":7,"stage":["s"]}`},
		{`{"type":"process_event","message":null,"level":null,"status":null}`, "info", "", `{"level":null,"status":null}`},
		{`{"type":"process_event","level":"loud","message":"m"}`, "info", "m", `{"level":"loud"}`},
		{`{"type":"process_event","level":"WARNING","message":"m"}`, "warn", "m", ``},
		{`{"type":"process_event","level":"error","status":"odd","message":"m"}`, "error", "m", `{"status":"odd"}`},
		{`{"type":"process_event","status":"warning","message":"m"}`, "warn", "m", ``},
		{`{"type":"process_event","status":"started","message":"m"}`, "info", "m", ``},
		{`{"type":"process_event","status":"skipped","message":"m"}`, "info", "m", `{"status":"skipped"}`},
		{`{"type":"process_event","version":2,"message":"m"}`, "info", "m", `{"version":2}`},
		{`{"type":"process_event","version":"1","message":"m"}`, "info", "m", ``},
		{`{"type":"process_event","current":-1,"total":"many","message":"m"}`, "info", "m", `{"current":-1,"total":"many"}`},
		{` {"type":"process_event","message":"m"}`, "info", "m", ``},
		{`{"type":"process_event","message":"m"} and more`, "info", "m", `{"afterEvent":"and more"}`},
		{`{"type":"process_event"`, "info", odd, `{"line":"{\"type\":\"process_event\""}`},
		{`{"message":oops,"type":"process_event"}`, "info", odd, `{"line":"{\"message\":oops,\"type\":\"process_event\"}"}`},
		{`{'type': 'process_event', 'message': 'm'}`, "info", odd, `{"line":"{'type': 'process_event', 'message': 'm'}"}`},
		{`{"type":"process_event","password":"hunter2"}`, "info", "", `{"password":"[redacted]"}`},
		{"{\"type\":\"process_event\",\"message\":\"\xff\"}", "info", "\uFFFD", ``},
	} {
		if e := parse(t, c.line); string(e.Level) != c.level || e.Message != c.message || string(e.Payload) != c.payload {
			t.Errorf("%s: %s %q with the payload %s, want %s %q with %s", c.line, e.Level, e.Message, e.Payload, c.level, c.message, c.payload)
		}
	}
	long := parse(t, `{"type":"process_event","message":"`+strings.Repeat("x", process.MaxLine)+`"}`)
	if long.Message != odd || len(long.Payload) > 2000 {
		t.Errorf("a long one is %+v", long)
	}
}

// TestAmounts: counts may have other names and be quoted, and the host computes the
// percentage.
func TestAmounts(t *testing.T) {
	for _, c := range []struct {
		line                    string
		current, total, percent float64 // -1 means none
		payload                 string
	}{
		{`"current":3,"total":12`, 3, 12, 25, ``},
		{`"current":"3","total":" 12 "`, 3, 12, 25, ``},
		{`"batch":2,"totalBatches":"3"`, 2, 3, 66.6, ``},
		{`"current":1,"batch":2,"total":4`, 1, 4, 25, `{"batch":2}`},
		{`"current":29,"total":100,"percent":7`, 29, 100, 29, ``},
		{`"current":9999,"total":10000`, 9999, 10000, 99.9, ``},
		{`"current":12,"total":4`, 12, 4, 100, ``},
		{`"current":0,"total":0`, 0, 0, -1, ``},
		{`"percent":"45%"`, -1, -1, 45, ``},
		{`"percent":250`, -1, -1, 100, ``},
		{`"current":5`, 5, -1, -1, ``},
		{`"total":1e999`, -1, -1, -1, `{"total":1e999}`},
		{`"current":null,"batch":4`, 4, -1, -1, ``},
		{`"percent":true`, -1, -1, -1, `{"percent":true}`},
	} {
		e := parse(t, `{"type":"process_event",`+c.line+`}`)
		value := func(n *float64) float64 {
			if n == nil {
				return -1
			}
			return *n
		}
		if value(e.Current) != c.current || value(e.Total) != c.total || value(e.Percent) != c.percent || string(e.Payload) != c.payload {
			t.Errorf("%s: %v of %v, %v%%, payload %s", c.line, value(e.Current), value(e.Total), value(e.Percent), e.Payload)
		}
	}
	if e := parse(t, `{"type":"process_event","taskId":7}`); e.TaskID != "7" || e.Payload != nil {
		t.Errorf("the task is %q, the payload %s", e.TaskID, e.Payload)
	}
}

// FuzzSplitter: for any input in any chunks, each line is either an event or passed on
// unchanged, in order.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("one\n{\"type\":\"process_event\",\"message\":\"x\"}\ntwo"), uint8(3))
	f.Add([]byte("{\n{}\n{\"type\":\"process_event\"}"), uint8(1))
	f.Add([]byte("{\"type\":\"process_event\"}\r\n\r\n"), uint8(200))
	f.Add([]byte(" \t{\"type\":\"process_event\" oops\n  \n {'type': 'process_event'} x"), uint8(0))
	f.Add([]byte(`{"type":"process_event","message":"`+strings.Repeat("x", process.MaxLine)+"\"}\nafter"), uint8(255))
	f.Add([]byte(`{"batch":"3","totalBatches":4,"payload":1,"x":null,"type":"process_event","percent":"1%","level":"warning","status":"skipped"}`), uint8(9))
	f.Add(append(bytes.Repeat([]byte("{"), process.MaxLine+10), "\n{\"type\":\"process_event\"}\n"...), uint8(99))
	f.Fuzz(func(t *testing.T, data []byte, size uint8) {
		var want bytes.Buffer
		events := 0
		for line := range bytes.Lines(data) {
			if _, ok := process.ParseLine(line); ok {
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
			t.Errorf("%d events are missing; the output is %q, want %q", events, got.Bytes(), want.Bytes())
		}
	})
}
