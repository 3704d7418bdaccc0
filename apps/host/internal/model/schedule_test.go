package model

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestRetrySchedule: when a call is retried, on a fake clock.
func TestRetrySchedule(t *testing.T) {
	seconds := func(s ...int) (out []time.Duration) {
		for _, one := range s {
			out = append(out, time.Duration(one)*time.Second)
		}
		return out
	}
	tests := []struct {
		name  string
		fails []failure // failures of the first attempts; later ones succeed
		want  []time.Duration
		text  string // of the error; "" means a message
	}{
		{"works at once", nil, seconds(0), ""},
		{"doubles", []failure{{retry: true}, {retry: true}, {retry: true}}, seconds(0, 2, 6, 14), ""},
		{"gives up", []failure{{retry: true}, {retry: true}, {retry: true}, {retry: true, text: "Busy."}}, seconds(0, 2, 6, 14), "Busy. It was tried 4 times."},
		{"for good", []failure{{text: "No key."}}, seconds(0), "No key."},
		{"the server asks for longer", []failure{{retry: true, after: 30 * time.Second}}, seconds(0, 30), ""},
		{"the server asks for less", []failure{{retry: true, after: time.Second}}, seconds(0, 2), ""},
		{"the server asks for too long", []failure{{retry: true, after: 61 * time.Second, text: "Busy."}}, seconds(0), "Busy. The server asks for a pause of 61 s; send the prompt again after that."},
		{"then for good", []failure{{retry: true}, {text: "No key."}}, seconds(0, 2), "No key. It was tried 2 times."},
		{"too long a prompt is not tried again", []failure{{overflow: true, text: "Too long."}}, seconds(0), "Too long."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var at []time.Duration
				var kinds []agent.DeltaKind
				c := newCaller(Config{Model: "m"}, "x")
				message := c.run(t.Context(), "api", false, func(d agent.Delta) { kinds = append(kinds, d.Kind) },
					func(context.Context, *assembler) (ending, *failure) {
						n := len(at)
						at = append(at, time.Since(begin))
						if n < len(test.fails) {
							return ending{}, &test.fails[n]
						}
						return ending{stop: session.StopEnd}, nil
					})
				if !slices.Equal(at, test.want) || message.ErrorMessage != test.text {
					t.Errorf("tried at %v, want %v; %q", at, test.want, message.ErrorMessage)
				}
				if (message.StopReason == session.StopError) != (test.text != "") {
					t.Errorf("ended by %s", message.StopReason)
				}
				overflow := len(test.fails) > 0 && test.fails[len(test.fails)-1].overflow
				if slices.Contains(kinds, agent.DeltaOverflow) != overflow {
					t.Errorf("deltas %v", kinds)
				}
			})
		})
	}
}

// TestIdleSchedule: 300 s without a byte break a stream, each byte restarts the timer, and
// the pause afterwards is that of any failure.
func TestIdleSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var at []time.Duration
		c := newCaller(Config{Model: "m"}, "x")
		message := c.run(t.Context(), "api", false, func(agent.Delta) {}, func(ctx context.Context, a *assembler) (ending, *failure) {
			at = append(at, time.Since(begin))
			if len(at) == 2 {
				a.extend(session.BlockText, "hi")
				return ending{stop: session.StopEnd}, nil
			}
			a.extend(session.BlockText, "lost")
			sleep(ctx, 299*time.Second)
			touch(ctx)
			<-ctx.Done()
			return ending{}, c.config.explainError(ctx.Err())
		})
		if want := []time.Duration{0, 601 * time.Second}; !slices.Equal(at, want) || message.Content.Plain() != "hi" {
			t.Errorf("tried at %v, want %v; %+v", at, want, message)
		}
	})
}

func TestOverflowIsKnown(t *testing.T) {
	config := Config{Model: "m", BaseURL: "u"}
	for text, want := range map[string]bool{
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}`:                      true,
		`{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}`:                                 true,
		`{"error":{"message":"This model's maximum context length is 8192 tokens.","code":null}}`:                                                       true,
		`{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID"}}`: true,
		`{"error":{"message":"the request exceeds the available context size, try increasing it"}}`:                                                     true,
		`{"error":{"message":"This model's maximum prompt length is 131072 but the request contains 537812 tokens."}}`:                                  true,
		`{"error":{"message":"max_tokens is too large: 99999"}}`:                                                                                        false,
	} {
		fail := config.refused(400, []byte(text), 0)
		if fail.overflow != want || fail.retry {
			t.Errorf("%s: overflow %t", text, fail.overflow)
		}
		if limited := config.refused(429, []byte(text), 0); limited.overflow || !limited.retry {
			t.Errorf("%s: a limit of requests counts as overflow", text)
		}
	}
	if fail := config.refused(429, []byte(`{"error":{"code":"insufficient_quota"}}`), 0); fail.retry {
		t.Error("a quota that is used up is tried again")
	}
	google := config.refused(400, []byte(`{"error":{"message":"API key not valid.","details":[{"reason":"API_KEY_INVALID"}]}}`), 0)
	if !strings.Contains(google.text, "rejected the key") {
		t.Errorf("%q", google.text)
	}
}
