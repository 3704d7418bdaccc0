package tool

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// clarifyWith makes a call that people answer with reply.
func clarifyWith(t *testing.T, args string, reply agent.Reply, err error) (agent.Result, agent.Question) {
	t.Helper()
	var asked agent.Question
	call := agent.Call{ID: "c", Name: "clarify", Arguments: json.RawMessage(args), Ask: func(_ context.Context, q agent.Question) (agent.Reply, error) {
		asked = q
		return reply, err
	}}
	return open(t, Options{}, Scope{}).find(t, "clarify").Run(t.Context(), call, func(string) {}), asked
}

func TestClarifyChoices(t *testing.T) {
	for args, want := range map[string][]string{
		`{"question":" which? "}`:                                     nil,
		`{"question":"which?","choices":null}`:                        nil,
		`{"question":"which?","choices":""}`:                          nil,
		`{"question":"which?","choices":["a"," b ","","a"]}`:          {"a", "b"},
		`{"question":"which?","choices":"[\"a\",\"b\"]"}`:             {"a", "b"},
		`{"question":"which?","choices":[1,2.50]}`:                    {"1", "2.50"},
		`{"question":"which?","choices":[{"title":"t","label":"l"}]}`: {"l"},
		`{"question":"which?","choices":[{"label":" ","description":"d","text":"x"},{"text":"x"},{"title":"t","id":3}]}`: {"d", "x", "t"},
	} {
		result, asked := clarifyWith(t, args, agent.Reply{Outcome: agent.Answered, Answer: "a", By: "cli_x"}, nil)
		if result.IsError || asked.Text != "which?" || !slices.Equal(asked.Choices, want) {
			t.Errorf("%s: asks %+v, %s", args, asked, result.Content.Plain())
		}
	}
	for args, want := range map[string]string{
		`{"question":" "}`: "empty",
		`{"question":"q","choices":["a","b","c","d","e"]}`:                "the limit is 4",
		`{"question":"q","choices":[{"id":"a"}]}`:                         "is not a string",
		`{"question":"q","choices":[["a"]]}`:                              "is not a string",
		`{"question":"q","choices":"a"}`:                                  "list of strings",
		`{"question":"` + strings.Repeat("x", 4001) + `"}`:                "a sentence or two",
		`{"question":"q","choices":["` + strings.Repeat("x", 401) + `"]}`: "into the question",
	} {
		if result, _ := clarifyWith(t, args, agent.Reply{}, nil); !result.IsError || !strings.Contains(result.Content.Plain(), want) || result.Closing != "" {
			t.Errorf("%.60s: %s", args, result.Content.Plain())
		}
	}
}

func TestClarifyResults(t *testing.T) {
	const args = `{"question":"which <way>?","choices":["a","b"]}`
	const begin = `{"question":"which <way>?","choices_offered":["a","b"],"user_response":`
	for name, c := range map[string]struct {
		reply   agent.Reply
		err     error
		want    string
		isError bool
		closing string
	}{
		"answered":  {reply: agent.Reply{Outcome: agent.Answered, Answer: "b", By: "cli_x"}, want: begin + `"b"}`},
		"skipped":   {reply: agent.Reply{Outcome: agent.Skipped, By: "cli_x"}, want: begin + `null,"no_answer":"` + noAnswerSkipped + `"}`},
		"timed out": {reply: agent.Reply{Outcome: agent.TimedOut, By: "host"}, want: begin + `null,"no_answer":"` + noAnswerTimeout + `"}`},
		"nobody":    {want: begin + `null,"no_answer":"` + noAnswerNobody + `"}`, closing: "which <way>?\n\n1. a\n2. b"},
		"cancelled": {reply: agent.Reply{Outcome: agent.CancelledQuestion, By: "host"}, want: agent.TextNotAnswered, isError: true},
		"a fault":   {err: errors.New("disk full"), want: "clarify: the question could not be asked (disk full). Decide yourself, and say how you decided.", isError: true},
	} {
		result, _ := clarifyWith(t, args, c.reply, c.err)
		if got := result.Content.Plain(); got != c.want || result.IsError != c.isError || result.Closing != c.closing {
			t.Errorf("%s: %s, closing %q", name, got, result.Closing)
		}
		var who clarifyDetails
		if c.err == nil && (json.Unmarshal(result.Details, &who) != nil || who.AnsweredBy != c.reply.By || who.Outcome != string(c.reply.Outcome)) {
			t.Errorf("%s: details %s", name, result.Details)
		}
	}
}
