package host_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/trace/tracetest"
)

// logged is a log that can be read while it is written.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) find(pattern string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := regexp.MustCompile(pattern).FindStringSubmatch(l.text.String())
	if found == nil {
		return ""
	}
	return found[1]
}

// TestAPromptIsTracedAndCounted: the turn, the calls of the model and the tool, and the approval are
// spans of the client's trace, and are counted. Nothing that was written is among them.
func TestAPromptIsTracedAndCounted(t *testing.T) {
	collector := tracetest.Start()
	t.Cleanup(collector.Close)
	home, folder := t.TempDir(), t.TempDir()
	config := fmt.Sprintf("metrics_listen = \"127.0.0.1:0\"\ntrace_url = %q\n", collector.URL())
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	log := &logged{}
	asked, ended := make(chan api.Approval, 9), make(chan struct{}, 9)
	c := dial(t, start(t, host.Config{Home: home, Logger: slog.New(slog.NewTextHandler(log, nil))}), func(e api.EventEnvelope) {
		switch event := e.Event.(type) {
		case api.ApprovalRequested:
			asked <- event.Approval
		case api.TurnEnded:
			ended <- struct{}{}
		}
	})
	project := call(t, c, api.AddProject, api.AddProjectRequest{Path: folder}).Project
	id := call(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "s1"}).Session.ID
	call(t, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	call(t, c, api.SendPrompt, api.SendPromptRequest{
		SessionID: id, ClientKey: "k1", Text: "write zeppelin.txt: hello", Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	})
	approval := <-asked
	call(t, c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: id, ApprovalID: approval.ID, Decision: api.DecisionAllow})
	<-ended
	spans := awaitSpan(t, collector, "turn")
	names := map[string]int{}
	turn := spans[slices.IndexFunc(spans, func(s tracetest.Span) bool { return s.Name == "turn" })]
	for _, span := range spans {
		names[span.Name]++
		below := span.ParentSpanID == turn.SpanID || span.Name == "turn" && span.ParentSpanID == "00f067aa0ba902b7"
		if span.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || !below || span.Failed {
			t.Errorf("the span %+v", span)
		}
	}
	if names["tool_call"] != 1 || names["approval"] != 1 || names["model_call"] < 2 || turn.Attributes["outcome"] != "stop" {
		t.Errorf("the spans are %v", names)
	}
	metrics := readMetrics(t, log)
	for _, line := range []string{`scorel_host_step_seconds_count{kind="turn",outcome="stop"} 1`, `kind="tool_call",outcome="ok"} 1`, `kind="approval",outcome="allowed"} 1`, `scorel_host_sessions{state="all"} 1`} {
		if !strings.Contains(metrics, line) {
			t.Errorf("%q is not in the metrics:\n%s", line, metrics)
		}
	}
	for _, private := range []string{"zeppelin", "hello", id, project.ID, folder, home, "write_file"} {
		if strings.Contains(string(collector.Received()), private) || strings.Contains(metrics, private) {
			t.Errorf("%q can be read", private)
		}
	}
	// For a client without a trace of its own, such as a page, the host records the span of the prompt.
	call(t, c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: "k2", Text: "hello", WaitedMS: 90_000})
	<-ended
	spans = awaitSpan(t, collector, "prompt")
	prompt := spans[slices.IndexFunc(spans, func(s tracetest.Span) bool { return s.Name == "prompt" })]
	if prompt.ParentSpanID != "" || prompt.Attributes["waited.client_ms"] != "90000" || prompt.Lasted < 90*time.Second || prompt.Lasted > 5*time.Minute {
		t.Errorf("the span of the prompt is %+v", prompt)
	}
	if !slices.ContainsFunc(spans, func(s tracetest.Span) bool { return s.Name == "turn" && s.ParentSpanID == prompt.SpanID }) {
		t.Errorf("no turn is below the prompt: %+v", spans)
	}
	if faults := collector.Faults(); len(faults) > 0 {
		t.Errorf("the collector refused: %q", faults)
	}
}

func awaitSpan(t *testing.T, collector *tracetest.Collector, name string) []tracetest.Span {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		spans, changed := collector.Spans()
		if slices.ContainsFunc(spans, func(s tracetest.Span) bool { return s.Name == name }) {
			return spans
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("the spans are %+v", spans)
		}
	}
}

func readMetrics(t *testing.T, log *logged) string {
	t.Helper()
	address := log.find(`msg="metrics are served" address=(\S+)`)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWrongSettingsOfObservationStopTheHost: a typing error must not serve metrics to others.
func TestWrongSettingsOfObservationStopTheHost(t *testing.T) {
	for _, config := range []string{`metrics_listen = "0.0.0.0:9464"`, `trace_url = "collector:4318"`} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, err := host.New(t.Context(), host.Config{Home: home, Getenv: noEnv, NoRelay: true}); err == nil {
			_ = h.Close()
			t.Errorf("a host runs with %s", config)
		}
	}
}
