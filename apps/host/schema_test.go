package host_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// sampleOf is a value that a schema allows, and one of another type.
func sampleOf(schema *openapi3.Schema) (good, wrong any) {
	switch {
	case len(schema.Enum) > 0:
		return schema.Enum[0], 7
	case schema.Type.Is("string"):
		return strings.Repeat("x", int(max(1, schema.MinLength))), []int{1}
	case schema.Type.Is("boolean"):
		return true, "true"
	case schema.Type.Is("integer"), schema.Type.Is("number"):
		return 1, "1"
	case schema.Type.Is("array"):
		element, _ := sampleOf(schema.Items.Value)
		return []any{element}, "x"
	}
	object := map[string]any{}
	for name, property := range schema.Properties {
		object[name], _ = sampleOf(property.Value)
	}
	return object, "x"
}

// nameRight replaces the samples of ids and keys, at any depth, by ones that can be read: what
// cannot would be reported before the field in question.
func nameRight(sample any) {
	if list, ok := sample.([]any); ok {
		for _, element := range list {
			nameRight(element)
		}
	}
	object, _ := sample.(map[string]any)
	for name, value := range object {
		if _, text := value.(string); !text {
			nameRight(value)
			continue
		}
		switch name {
		case "clientId":
			object[name] = "cli_" + strings.Repeat("a", 32)
		case "to", "from", "deviceId":
			object[name] = "dev_" + strings.Repeat("a", 32)
		case "signKey", "sealKey":
			object[name] = strings.Repeat("A", 43)
		}
	}
}

// TestEveryFieldIsChecked walks the table by the OpenAPI document: a request that lacks a
// field that the document requires, has one of another type, or in another case, is
// refused with the name of the field, on every transport.
func TestEveryFieldIsChecked(t *testing.T) {
	h := start(t, host.Config{})
	e, direct := newHTTPEntry(t, h, h.State().Token), dial(t, h, nil)
	doc := document(t, e)
	refused := func(t *testing.T, name, field string, fields map[string]any, sealed bool) {
		t.Helper()
		body, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		if spec, _ := api.Lookup(name); spec.Grant == api.GrantMove { // only the client of another host has it
			refusedToMover(t, h, name, field, body)
			return
		}
		status, answer := e.post("/v1/"+name, string(body))
		wantHTTP(t, status, answer, http.StatusBadRequest, api.KindBadRequest)
		if !strings.Contains(string(answer), `\"`+field+`\"`) {
			t.Errorf("%s with %s does not name %s: %s", name, body, field, answer)
		}
		if !sealed {
			return
		}
		_, err = direct.Raw(t.Context(), name, fields)
		wantKind(t, err, api.KindBadRequest)
		if !strings.Contains(err.Error(), `"`+field+`"`) {
			t.Errorf("%s with %s does not name %s: %v", name, body, field, err)
		}
	}
	required := 0
	for _, spec := range api.Table() {
		t.Run(spec.Name, func(t *testing.T) {
			schema := schemaOf(t, doc.Paths.Value("/v1/"+spec.Name).Post.RequestBody.Value.Content)
			good := map[string]any{}
			for name, property := range schema.Properties {
				good[name], _ = sampleOf(property.Value)
			}
			nameRight(good)
			with := func(field string, value any) map[string]any {
				fields := maps.Clone(good)
				if fields[field] = value; value == nil {
					delete(fields, field)
				}
				return fields
			}
			for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
				_, wrong := sampleOf(schema.Properties[name].Value)
				refused(t, spec.Name, name, with(name, wrong), true)
				if slices.Contains(schema.Required, name) {
					required++
					refused(t, spec.Name, name, with(name, nil), true)
					other := with(name, nil)
					other[strings.ToUpper(name)] = good[name]
					refused(t, spec.Name, name, other, true)
				}
			}
			if spec.Grant != api.GrantMove { // over a seal, new fields are ignored
				refused(t, spec.Name, "fromTheFuture", with("fromTheFuture", 1), false)
			}
		})
	}
	if required < 50 {
		t.Errorf("only %d required fields were left out", required)
	}
}

// refusedToMover sends a request of the client of another host, which must be refused for a field.
func refusedToMover(t *testing.T, h *host.Host, name, field string, body []byte) {
	t.Helper()
	c := h.MoverConn()
	request, refusal := c.Admit(name)
	if refusal != nil {
		t.Fatal(refusal)
	}
	request.Body = body
	refusal = c.Run(t.Context(), request, func(any) {})
	if refusal == nil || refusal.Kind != api.KindBadRequest || !strings.Contains(refusal.Message, `"`+field+`"`) {
		t.Errorf("%s with %s does not name %s: %v", name, body, field, refusal)
	}
}

// TestACancelWithoutATurnIsRefused: it used to answer that nothing was canceled, while
// the turn continued.
func TestACancelWithoutATurnIsRefused(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	e := newHTTPEntry(t, h, h.State().Token)
	sessionID := sessionOf(t, e)
	for _, body := range []string{`{"sessionId":"` + sessionID + `"}`, `{"sessionId":"` + sessionID + `","turnId":""}`, `{"sessionId":"` + sessionID + `","TurnId":"x"}`} {
		status, answer := e.post("/v1/cancel_turn", body)
		wantHTTP(t, status, answer, http.StatusBadRequest, api.KindBadRequest)
		if !strings.Contains(string(answer), "turnId") {
			t.Errorf("%s: %s", body, answer)
		}
	}
}

// TestElementsAndBoundsAreChecked: what is in lists is checked as well, and how much.
func TestElementsAndBoundsAreChecked(t *testing.T) {
	h := start(t, host.Config{})
	e, direct := newHTTPEntry(t, h, h.State().Token), dial(t, h, nil)
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{"edit_queue", `{"sessionId":"s","expected":[],"items":[{"clientKey":"a"},{"text":"x"}]}`, "items[1].clientKey", 400},
		{"edit_queue", `{"sessionId":"s","expected":["a",7],"items":[]}`, "expected[1]", 400},
		{"edit_queue", `{"sessionId":"s","expected":[],"items":[{"clientKey":"a","Text":"x"}]}`, "items[0].Text", 400},
		{"list_sessions", `{"limit":-1}`, "limit", 400},
		{"list_sessions", `{"limit":1.5}`, "limit", 400},
		{"list_sessions", `{"limit":99999999999999999999}`, "limit", 400},
		{"get_entries", `{"sessionId":"s","before":-1}`, "before", 400},
		{"cancel_turn", `{"sessionId":"s","turnId":null}`, "turnId", 400},
		{"send_prompt", `{"sessionId":"s","clientKey":"k","text":"x","allowRules":[` + strings.Repeat(`"bash",`, 32) + `"bash"]}`, "allowRules", 413},
		{"search_sessions", `{"query":"` + strings.Repeat("x", api.MaxQuery+1) + `"}`, "query", 413},
		{"revoke_client", `{"clientId":"cli_none"}`, "clientId", 400},
	} {
		status, answer := e.post("/v1/"+c.name, c.body)
		if status != c.status || !strings.Contains(string(answer), `\"`+c.want+`\"`) {
			t.Errorf("%s %s: %d %s", c.name, c.body, status, answer)
		}
	}
	deep := strings.Repeat("[", exactjson.MaxDepth) + strings.Repeat("]", exactjson.MaxDepth)
	status, answer := e.post("/v1/send_prompt", `{"sessionId":"s","clientKey":"k","text":"x","x":`+deep+`}`)
	if status != 400 || !strings.Contains(string(answer), "nests more than "+strconv.Itoa(exactjson.MaxDepth)) {
		t.Errorf("%d %s", status, answer)
	}
	_, err := direct.Raw(t.Context(), api.GetHost.Name(), map[string]any{"new": json.RawMessage(deep)})
	if err == nil || errors.As(err, new(*api.Error)) && !strings.Contains(err.Error(), "nests more than") {
		t.Errorf("got %v", err)
	}
}

// TestAFieldOfANewerClientIsPassedOver: a client that is newer than the host continues
// working, where HTTP names what it does not know.
func TestAFieldOfANewerClientIsPassedOver(t *testing.T) {
	h := start(t, host.Config{})
	direct := dial(t, h, nil)
	if _, err := direct.Raw(t.Context(), api.GetHost.Name(), map[string]any{"fromTheFuture": map[string]int{"x": 1}}); err != nil {
		t.Error(err)
	}
}
