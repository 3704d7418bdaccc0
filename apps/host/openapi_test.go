package host_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
)

// document is the OpenAPI document as a host serves it, checked by a library that
// is not ours.
func document(t *testing.T, e httpEntry) *openapi3.T {
	t.Helper()
	status, text := e.do(e.request(http.MethodGet, "/v1/openapi.json", ""))
	if status != http.StatusOK {
		t.Fatalf("the document: %d %s", status, text)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func schemaOf(t *testing.T, content openapi3.Content) *openapi3.Schema {
	t.Helper()
	media := content.Get("application/json")
	if media == nil {
		t.Fatal("there is no schema for application/json")
	}
	return media.Schema.Value
}

func check(t *testing.T, what string, schema *openapi3.Schema, text []byte) {
	t.Helper()
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatal(err)
	}
	if err := schema.VisitJSON(value, openapi3.EnableJSONSchema2020()); err != nil {
		t.Errorf("%s is not as the document says: %v\n%s", what, err, text)
	}
}

// TestTheDocumentIsTrue compares the document with the table, and what a host
// really takes and answers with the document.
func TestTheDocumentIsTrue(t *testing.T) {
	folder := t.TempDir()
	h := start(t, host.Config{Projects: []string{folder}})
	e := newHTTPEntry(t, h, h.State().Token)
	doc := document(t, e)
	sessionID := sessionOf(t, e)
	ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(sessionID, "k", "read none.txt"))
	projectID := ask[api.ListProjectsResponse](e, "/v1/list_projects", api.Empty{}).Projects[0].ID
	fields := fieldsOf(projectID, sessionID, folder)
	for _, spec := range api.Table() {
		item := doc.Paths.Value("/v1/" + spec.Name)
		if item == nil || item.Post == nil {
			t.Errorf("%s is not in the document", spec.Name)
			continue
		}
		if spec.Name == "stop_host" {
			continue
		}
		body := []byte("{}")
		if request := fields[spec.Name]; request != nil {
			var err error
			if body, err = json.Marshal(request); err != nil {
				t.Fatal(err)
			}
			check(t, spec.Name, schemaOf(t, item.Post.RequestBody.Value.Content), body)
		}
		status, answer := e.post("/v1/"+spec.Name, string(body))
		response := item.Post.Responses.Status(status)
		if status != http.StatusOK {
			response = item.Post.Responses.Default()
		}
		check(t, "the answer to "+spec.Name, schemaOf(t, response.Value.Content), answer)
	}
	if extra := doc.Paths.Len() - len(api.Table()); extra != 2 { // the events and the document itself
		t.Errorf("the document has %d paths beside the table", extra)
	}
}

// TestTheDocumentDescribesEveryEvent checks real events, each against the schema of
// its own name, and that the check can fail.
func TestTheDocumentDescribesEveryEvent(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	doc := document(t, e)
	sessionID := sessionOf(t, e)
	byTag := map[string]*openapi3.Schema{}
	for _, schema := range doc.Components.Schemas {
		if tag := schema.Value.Properties["type"]; tag != nil && tag.Value.Const != nil {
			byTag[tag.Value.Const.(string)] = schema.Value
		}
	}
	for _, event := range api.Events() {
		if byTag[event.EventType()] == nil {
			t.Errorf("the document lacks the event %s", event.EventType())
		}
	}
	stream := follow(t, e, sessionID, "")
	check(t, "resync", doc.Components.Schemas["ResyncEventsResponse"].Value, []byte(stream.next(t).data))
	ask[api.SendPromptResponse](e, "/v1/send_prompt", api.SendPromptRequest{SessionID: sessionID, ClientKey: "k", Text: "run echo hi", AllowAll: true})
	seen := map[string]bool{}
	for event := stream.next(t); event.event != "turn_ended"; event = stream.next(t) {
		seen[event.event] = true
		check(t, event.event, byTag[event.event], []byte(event.data))
	}
	if len(seen) < 6 {
		t.Errorf("only %v were seen", seen)
	}
	if err := byTag["turn_ended"].VisitJSON(map[string]any{"type": "turn_ended"}, openapi3.EnableJSONSchema2020()); err == nil {
		t.Error("an event without its fields passed")
	}
}
