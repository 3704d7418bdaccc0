package observe_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/observe"
)

func TestMetricsCountSteps(t *testing.T) {
	state := observe.State{Sessions: 3, Running: 1, Relays: map[string]int{"online": 1}}
	metrics := observe.NewMetrics("v1", []string{"online", "offline"}, func() observe.State { return state })
	l, err := observe.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var serving sync.WaitGroup
	serving.Go(func() { metrics.Serve(ctx, l, slog.New(slog.DiscardHandler)) })
	defer serving.Wait()
	defer cancel()

	turn, step := observe.New(nil, metrics).Begin(t.Context(), observe.Prompt{})
	_, call := observe.Start(turn, observe.ModelCall)
	call.Tokens(10, 5)
	call.End("stop", false)
	step.End("stop", false)
	get := func(host string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(text)
	}
	status, text := get("localhost")
	for _, line := range []string{
		`scorel_host_step_seconds_count{kind="turn",outcome="stop"} 1`, `scorel_host_step_seconds_count{kind="model_call",outcome="stop"} 1`,
		`scorel_host_tokens_total{direction="input"} 10`, `scorel_host_tokens_total{direction="output"} 5`,
		`scorel_host_sessions{state="all"} 3`, `scorel_host_sessions{state="running"} 1`, `scorel_host_sessions{state="waiting_approval"} 0`,
		`scorel_host_relays{state="online"} 1`, `scorel_host_relays{state="offline"} 0`, `scorel_host_build_info{version="v1"} 1`, "go_goroutines ",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing", line)
		}
	}
	if status != http.StatusOK {
		t.Errorf("status %d", status)
	}
	if status, _ := get("attacker.example"); status != http.StatusMisdirectedRequest {
		t.Errorf("a page of another name gets %d", status)
	}
}

func TestMetricsAreForThisMachineOnly(t *testing.T) {
	for _, address := range []string{"", ":9464", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "nonsense"} {
		if l, err := observe.Listen(address); err == nil {
			_ = l.Close()
			t.Errorf("metrics are served at %q", address)
		}
	}
}

func TestNothingIsObservedByDefault(t *testing.T) {
	ctx, step := observe.New(nil, nil).Begin(t.Context(), observe.Prompt{})
	if ctx != t.Context() || step != nil {
		t.Error("a step without an observer is one")
	}
	step.Tokens(1, 1)
	step.End("stop", false)
	_, step = observe.Start(ctx, observe.ToolCall)
	step.End("ok", false)
}
