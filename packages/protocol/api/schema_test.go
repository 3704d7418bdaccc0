package api_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// The bounds of the tags are those that the handlers and the documents name.
func TestBoundsAreTheLimits(t *testing.T) {
	for _, c := range []struct {
		of    any
		field string
		want  int64
	}{
		{api.SendPromptRequest{}, "Text", api.MaxPrompt}, {api.QueueItem{}, "Text", api.MaxPrompt}, {api.SendPromptRequest{}, "AllowRules", api.MaxRules},
		{api.EditQueueRequest{}, "Items", api.MaxQueue}, {api.EditQueueRequest{}, "Expected", api.MaxQueue}, {api.AddProjectRequest{}, "Path", api.MaxPath},
		{api.ListDirRequest{}, "Path", api.MaxPath}, {api.AnswerApprovalRequest{}, "Feedback", api.MaxFeedback}, {api.AnswerQuestionRequest{}, "Answer", api.MaxAnswer},
		{api.CompactSessionRequest{}, "Instructions", api.MaxFocus}, {api.SearchSessionsRequest{}, "Query", api.MaxQuery},
	} {
		field, _ := reflect.TypeOf(c.of).FieldByName(c.field)
		if rule := api.RuleOf(field); !rule.HasMax || rule.Max != c.want {
			t.Errorf("%T.%s: %+v, want a maximum of %d", c.of, c.field, rule, c.want)
		}
	}
}

// What Go writes of a request without anything that is optional is as its schema says,
// and so are lists that were never made: older clients write null for them.
func TestRequestsOfOlderClientsPass(t *testing.T) {
	for _, c := range []struct {
		name, body string
	}{
		{"edit_queue", `{"sessionId":"s","expected":null,"items":null}`},
		{"list_sessions", `{"projectId":""}`}, {"list_sessions", `{}`},
		{"resync_events", `{"sessionId":"s","epoch":"","persistentLastSeq":0,"streamLastSeq":0}`}, {"resync_events", `{"sessionId":"s"}`},
		{"set_model", `{"sessionId":"s","model":""}`}, {"fork_session", `{"sessionId":"s","clientKey":"k","entryId":""}`},
		{"get_host", `{"type":"get_host","requestId":"1"}`},
	} {
		if err := api.Schemas()[c.name].Check([]byte(c.body), false); err != nil {
			t.Errorf("%s %s: %v", c.name, c.body, err)
		}
	}
}

// No request makes a check fail in another way than with an error that a client can read,
// and one that passes decodes.
func FuzzSchema(f *testing.F) {
	for _, spec := range api.Table() {
		body, err := json.Marshal(spec.Request)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(spec.Name, body)
	}
	f.Add("edit_queue", []byte(`{"sessionId":"s","expected":[1],"items":[{"clientKey":null}]}`))
	schemas := api.Schemas()
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		spec, known := api.Lookup(name)
		if !known {
			return
		}
		for _, strict := range []bool{true, false} {
			err := schemas[name].Check(body, strict)
			if err != nil {
				if !strings.HasPrefix(err.Message, name+": ") || err.Kind != api.KindBadRequest && err.Kind != api.KindTooLarge {
					t.Errorf("%s: %+v", body, err)
				}
				continue
			}
			if err := json.Unmarshal(body, reflect.New(reflect.TypeOf(spec.Request)).Interface()); err != nil && strict {
				t.Errorf("%s %s passed, and does not decode: %v", name, body, err)
			}
		}
	})
}
