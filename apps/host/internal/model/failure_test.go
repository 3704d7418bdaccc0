package model

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

var kinds = []string{TypeOpenAI, TypeResponses, TypeAnthropic, TypeGoogle}

// stream runs one call and checks what holds for every outcome.
func stream(t *testing.T, ctx context.Context, made agent.Model) (session.Message, *fold) {
	t.Helper()
	var deltas fold
	message := made.Stream(ctx, ask("go"), deltas.emit)
	if strings.Contains(message.ErrorMessage, "k-secret") || strings.Contains(message.ErrorMessage, "\n") {
		t.Errorf("the error shows the key or has several lines: %q", message.ErrorMessage)
	}
	if (message.ErrorMessage != "") != (message.StopReason == session.StopError) {
		t.Errorf("stop %s with error %q", message.StopReason, message.ErrorMessage)
	}
	return message, &deltas
}

func TestHTTPErrors(t *testing.T) {
	tests := []struct {
		status int
		keyEnv string
		key    Secret
		want   string
		calls  int32
	}{
		{401, "TEST_KEY", "k-secret", "check that $TEST_KEY holds a valid one", 1},
		{401, "TEST_KEY", "", "$TEST_KEY is not set where the host runs", 1},
		{403, "", "", "api_key_env in config.toml", 1},
		{404, "TEST_KEY", "k-secret", "was not found (HTTP 404): check the model's id", 1},
		{400, "TEST_KEY", "k-secret", `rejected the request (HTTP 400): check the model's settings in config.toml. The server said: "no such thing as [key]"`, 1},
		{413, "TEST_KEY", "k-secret", "too long for model", 1},
		{429, "TEST_KEY", "k-secret", "is rate-limited (HTTP 429)", 4},
		{500, "TEST_KEY", "k-secret", "It was tried 4 times.", 4},
		{529, "TEST_KEY", "k-secret", "(HTTP 529): try again later.", 4},
	}
	for _, kind := range kinds {
		for _, test := range tests {
			t.Run(fmt.Sprint(kind, test.status, test.key != ""), func(t *testing.T) {
				var calls atomic.Int32
				url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
					calls.Add(1)
					w.WriteHeader(test.status)
					fmt.Fprintf(w, `{"error":{"message":"no such thing\nas %s"}}`, string(test.key))
				})
				config := testConfig(kind, url)
				config.Key, config.KeyEnv = test.key, test.keyEnv
				made, _ := build(t, config)
				message, deltas := stream(t, t.Context(), made)
				if message.StopReason != session.StopError || !strings.Contains(message.ErrorMessage, test.want) {
					t.Errorf("%s %q, want %q", message.StopReason, message.ErrorMessage, test.want)
				}
				if !strings.Contains(message.ErrorMessage, "the-model") || !strings.Contains(message.ErrorMessage, url) {
					t.Errorf("model or address is missing: %q", message.ErrorMessage)
				}
				if calls.Load() != test.calls || len(deltas.resets) != int(test.calls)-1 {
					t.Errorf("%d calls, %d resets, want %d", calls.Load(), len(deltas.resets), test.calls)
				}
			})
		}
	}
}

func TestServerDoesNotRun(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		made, _ := build(t, testConfig(kind, "http://"+address))
		message, _ := stream(t, t.Context(), made)
		if !strings.Contains(message.ErrorMessage, "is the server running?") {
			t.Errorf("%s: %q", kind, message.ErrorMessage)
		}
	}
}

func TestAnswersOfTheWrongKind(t *testing.T) {
	for _, test := range []struct{ contentType, body, want string }{
		{"text/html", "<html>", "is a web page, not an OpenAI-compatible server"},
		{"text/event-stream", "data: hello\n\n", "sent data that is not JSON of this protocol"},
		{"application/json", "nonsense", "sent data that is not JSON of this protocol"},
		{"text/event-stream", `data: {"error":{"message":"bad key","code":401}}` + "\n\n", "rejected the key (HTTP 401)"},
		{"text/event-stream", `data: {"error":"overloaded"}` + "\n\n", `reported an error. The server said: "overloaded" It was tried 4 times.`},
		{"text/event-stream", `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"content_filter"}]}` + "\n\ndata: [DONE]\n\n", "content filter"},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", test.contentType)
			fmt.Fprint(w, test.body)
		})
		made, _ := build(t, testConfig(TypeOpenAI, url))
		if message, _ := stream(t, t.Context(), made); !strings.Contains(message.ErrorMessage, test.want) {
			t.Errorf("%q: %q, want %q", test.body, message.ErrorMessage, test.want)
		}
	}
}

// TestRetryThatWorks: a call that finally succeeds returns one message, without a trace of
// the attempts.
func TestRetryThatWorks(t *testing.T) {
	for _, name := range []string{"openai/openai-gpt-4o-simple-0", "anthropic/claude-sonnet-4-simple-0"} {
		kind, _, _ := strings.Cut(name, "/")
		body, want := readRecorded(t, "testdata/recorded/"+name+".sse")
		var calls atomic.Int32
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			switch calls.Add(1) {
			case 1:
				w.WriteHeader(http.StatusServiceUnavailable)
			case 2:
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(body[:len(body)/2]) // the client notices if this fails
			default:
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = w.Write(body)
			}
		})
		made, _ := build(t, testConfig(kind, url))
		message, deltas := stream(t, t.Context(), made)
		if message.Content.Plain() != want.Text || len(deltas.resets) != 2 {
			t.Errorf("%s: %q after %d resets", kind, message.Content.Plain(), len(deltas.resets))
		}
		deltas.check(t, message)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, test := range []struct {
		name, value string
		want        time.Duration
	}{
		{"retry-after", "7", 7 * time.Second}, {"retry-after", "0.5", 500 * time.Millisecond}, {"retry-after-ms", "250", 250 * time.Millisecond},
		{"retry-after", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second}, {"retry-after", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"retry-after", "-3", 0}, {"retry-after", "soon", 0}, {"retry-after", "1e300", 1e6 * time.Second},
	} {
		if got := retryAfter(http.Header{http.CanonicalHeaderKey(test.name): {test.value}}, now); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.name, test.value, got, test.want)
		}
	}
	for _, kind := range kinds {
		var calls atomic.Int32
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.Header().Set("Retry-After", "61")
			w.WriteHeader(http.StatusTooManyRequests)
		})
		made, _ := build(t, testConfig(kind, url))
		message, _ := stream(t, t.Context(), made)
		if calls.Load() != 1 || !strings.Contains(message.ErrorMessage, "The server asks for a pause of 61 s") {
			t.Errorf("%s: %d calls, %q", kind, calls.Load(), message.ErrorMessage)
		}
	}
}

// stalled serves the first part of a recorded body and then nothing until the
// client leaves.
func stalled(t *testing.T, body []byte) (url string, left <-chan struct{}) {
	gone := make(chan struct{}, 10)
	url = serve(t, func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(io.Discard, request.Body) // otherwise the server does not notice that the client left
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body) // checked below
		_ = http.NewResponseController(w).Flush()
		<-request.Context().Done()
		gone <- struct{}{}
	})
	return url, gone
}

// countDeltas returns how many deltas a truncated body yields.
func countDeltas(t *testing.T, kind string, body []byte) int {
	t.Helper()
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(body) // the client notices if this fails
	})
	made, c := build(t, testConfig(kind, url))
	c.retry.tries = 0
	n := 0
	made.Stream(t.Context(), ask("go"), func(agent.Delta) { n++ })
	return n
}

func TestCancelKeepsWhatArrived(t *testing.T) {
	for _, test := range []struct {
		name, until, text string
		calls             int
	}{
		{"openai/groq-kimi-k2-multi-tool-0", `"id":"functions.add:0"`, "I'll", 0},
		{"openai/groq-kimi-k2-multi-tool-0", `"finish_reason":"tool_calls"`, "I'll", 2},
		{"anthropic/claude-sonnet-4-tool-0", `"partial_json":"{`, "I'll", 0},
		{"anthropic/claude-sonnet-4-tool-0", `message_delta`, "I'll", 1},
		{"anthropic/claude-sonnet-4-thinking-0", `signature_delta`, "", 0},
	} {
		t.Run(test.name+" "+test.until, func(t *testing.T) {
			kind, _, _ := strings.Cut(test.name, "/")
			body, _ := readRecorded(t, "testdata/recorded/"+test.name+".sse")
			cut := strings.Index(string(body), test.until)
			if cut < 0 {
				t.Fatal("the recording does not hold it")
			}
			cut = strings.LastIndex(string(body[:cut]), "\n\n") + 2
			pieces := countDeltas(t, kind, body[:cut])
			url, left := stalled(t, body[:cut])
			made, _ := build(t, testConfig(kind, url))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			message := made.Stream(ctx, ask("go"), func(agent.Delta) {
				if pieces--; pieces == 0 {
					cancel()
				}
			})
			<-left
			if message.StopReason != session.StopAborted || message.ErrorMessage != "" {
				t.Errorf("%s %q", message.StopReason, message.ErrorMessage)
			}
			if !strings.HasPrefix(message.Content.Plain(), test.text) || len(message.Content.ToolCalls()) != test.calls {
				t.Errorf("kept %+v", message.Content)
			}
			for _, block := range message.Content {
				if block.Type == session.BlockThinking && kind == TypeAnthropic && block.ThinkingSignature == "" {
					t.Error("thinking without signature was kept")
				}
			}
		})
	}
}

func TestSilentStream(t *testing.T) {
	for _, kind := range kinds {
		url, left := stalled(t, nil)
		made, c := build(t, testConfig(kind, url))
		c.idle, c.retry.tries = 50*time.Millisecond, 1
		message, deltas := stream(t, t.Context(), made)
		<-left
		if message.StopReason != session.StopError || !strings.Contains(message.ErrorMessage, "sent nothing for") || len(deltas.resets) != 1 {
			t.Errorf("%s: %s %q", kind, message.StopReason, message.ErrorMessage)
		}
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	for _, kind := range kinds {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		made, c := build(t, testConfig(kind, url))
		c.retry.base = 30 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		message := made.Stream(ctx, ask("go"), func(d agent.Delta) {
			if d.Kind == agent.DeltaReset {
				cancel()
			}
		})
		if message.StopReason != session.StopAborted || len(message.Content) != 0 {
			t.Errorf("%s: %+v", kind, message)
		}
	}
}

// TestRetriesAreAnnounced: each reset names the attempt that follows, its pause and the reason.
func TestRetriesAreAnnounced(t *testing.T) {
	for _, kind := range kinds {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(529) })
		made, c := build(t, testConfig(kind, url))
		c.retry.tries = 2
		var got []api.ModelRetry
		message := made.Stream(t.Context(), ask("go"), func(d agent.Delta) {
			if d.Kind == agent.DeltaReset {
				got = append(got, *d.Retry)
			}
		})
		reason := strings.TrimSuffix(message.ErrorMessage, " It was tried 3 times.")
		base := c.retry.base.Milliseconds()
		want := []api.ModelRetry{
			{Reason: reason, Attempt: 2, Attempts: 3, DelayMS: base},
			{Reason: reason, Attempt: 3, Attempts: 3, DelayMS: 2 * base},
		}
		if !slices.Equal(got, want) || !strings.Contains(reason, "529") {
			t.Errorf("%s: got %+v, want %+v", kind, got, want)
		}
	}
}

func TestSecretDoesNotShow(t *testing.T) {
	config := testConfig(TypeOpenAI, "x")
	for _, text := range []string{fmt.Sprint(config), fmt.Sprintf("%+v %#v %s %v", config, config, config.Key, &config)} {
		if strings.Contains(text, "k-secret") {
			t.Errorf("the key shows: %s", text)
		}
	}
}

// TestBrokenAttemptsTellTheirUsage: the usage of an interrupted attempt is reported with
// its reset, as far as the provider had reported it, together with whether there was more.
// A refused call uses nothing.
func TestBrokenAttemptsTellTheirUsage(t *testing.T) {
	for kind, tells := range map[string]bool{TypeAnthropic: true, TypeGoogle: true, TypeOpenAI: false, TypeResponses: false} {
		server := modeltest.Serve(modeltest.Step{
			Content: session.Content{session.Text("a whole long answer")},
			Faults:  []modeltest.Fault{{Status: 503}, {Drop: true}},
		})
		defer server.Close()
		config := Config{Type: kind, Model: testIDs[kind], BaseURL: baseURL(kind, server.URL), Price: Price{Input: 1e6, Output: 1e6}}
		made, c := build(t, config)
		var lost []session.Usage
		message := made.Stream(t.Context(), ask("x"), func(d agent.Delta) {
			if d.Kind == agent.DeltaReset && d.Usage != nil && *d.Usage != (session.Usage{}) {
				lost = append(lost, *d.Usage)
			}
		})
		c.http.CloseIdleConnections()
		if message.StopReason != session.StopEnd || message.Usage.Partial || message.Usage.TotalTokens == 0 {
			t.Errorf("%s: %+v %+v", kind, message, message.Usage)
		}
		if len(lost) != 1 || !lost[0].Partial || (lost[0].TotalTokens > 0) != tells || lost[0].Cost.Total != float64(lost[0].TotalTokens) {
			t.Errorf("%s: lost %+v", kind, lost)
		}
	}
}

// TestCancelledAnswersAreNotGuessedAt: the same for a canceled answer. Unreported usage is
// not estimated.
func TestCancelledAnswersAreNotGuessedAt(t *testing.T) {
	for _, kind := range kinds {
		server := modeltest.Serve(modeltest.Step{Content: session.Content{session.Text("half")}, Stall: true})
		defer server.Close()
		made, c := build(t, Config{Type: kind, Model: testIDs[kind], BaseURL: baseURL(kind, server.URL)})
		c.idle = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		message := made.Stream(ctx, ask("x"), func(d agent.Delta) {
			if d.Kind == agent.DeltaText {
				cancel()
			}
		})
		cancel()
		c.http.CloseIdleConnections()
		if message.StopReason != session.StopAborted || !message.Usage.Partial {
			t.Errorf("%s: %s %+v", kind, message.StopReason, message.Usage)
		}
		told := kind == TypeAnthropic || kind == TypeGoogle
		if (message.Usage.TotalTokens > 0) != told {
			t.Errorf("%s: usage differs from what the provider reported: %+v", kind, message.Usage)
		}
	}
}
