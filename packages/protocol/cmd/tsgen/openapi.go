package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// object is a JSON object; it is written with sorted keys.
type object = map[string]any

// openapiFiles returns the paths of the OpenAPI document below the module's root:
// the embedded copy and the published one.
func openapiFiles() []string {
	return []string{filepath.Join("openapi", "openapi.json"), filepath.Join("..", "..", "docs", "openapi.json")}
}

// openapi writes the document of the HTTP adapter from the table of requests.
func (g *generator) openapi() ([]byte, error) {
	s := &schemas{g: g, all: object{}}
	paths := object{
		"/v1/sessions/{id}/events": object{"get": s.events()},
		"/v1/openapi.json":         object{"get": described("openapi", "Returns this document.", "", object{"200": ok(object{"type": "object"})})},
	}
	for _, spec := range api.Table() {
		paths["/v1/"+spec.Name] = object{"post": s.operation(spec)}
	}
	failure := object{"description": "The request failed; `error` says why and what to do.", "content": jsonOf(s.of(reflect.TypeFor[api.HTTPFailure]()))}
	s.unions()
	s.flush()
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "scorel host", "version": "1",
			"description": "The HTTP API of a host on its own machine. See docs/http.md.",
			"license":     object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{object{"url": "/", "description": "the direct address of the host: `scorel host status`"}},
		"security": []any{object{"token": []any{}}},
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "from run/host.json, or created by `scorel host token create`"}},
			"responses":       object{"Refused": failure},
			"schemas":         s.all,
		},
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	return text.Bytes(), nil
}

func (s *schemas) operation(spec api.Spec) object {
	note, answer := "", s.of(reflect.TypeOf(spec.Response))
	var parameters []any
	switch spec.Name {
	case "resync_events", "unsubscribe":
		note = " The subscription ends with the answer: follow a session with its event stream."
	case "send_prompt":
		note = " With wait=turn the answer is a TurnAnswer, sent when the turn has ended; this also needs the grant `view`."
		answer = object{"anyOf": []any{answer, s.of(reflect.TypeFor[api.TurnAnswer]())}}
		parameters = []any{object{"name": "wait", "in": "query", "schema": object{"type": "string", "enum": []any{"turn"}}}}
	}
	out := described(spec.Name, spec.Doc, fmt.Sprintf("Needs the grant `%s`.%s", spec.Grant, note), object{"200": ok(answer)})
	out["x-scorel-grant"] = spec.Grant
	out["requestBody"] = object{"required": reflect.TypeOf(spec.Request).NumField() > 0, "content": jsonOf(s.of(reflect.TypeOf(spec.Request)))}
	if parameters != nil {
		out["parameters"] = parameters
	}
	return out
}

// events describes the event stream of a session and requests the schema of every
// event.
func (s *schemas) events() object {
	stream := object{
		"description": "Server-sent events. The first is `resync`, with a ResyncEventsResponse; all others have the name and the fields of an Event. The stream ends after `session_moved` or `session_deleted`.",
		"content":     object{"text/event-stream": object{"schema": object{"type": "string"}}},
	}
	out := described("events", "Streams the events of a session, starting after the last one seen.", "Needs the grant `view`.", object{"200": stream})
	out["x-scorel-grant"] = api.GrantView
	out["parameters"] = []any{
		object{"name": "id", "in": "path", "required": true, "description": "id of the session", "schema": object{"type": "string"}},
		object{"name": "Last-Event-ID", "in": "header", "description": "the id of the last event seen", "schema": object{"type": "string"}},
	}
	return out
}

func described(id, summary, description string, responses object) object {
	responses["default"] = object{"$ref": "#/components/responses/Refused"}
	out := object{"operationId": id, "summary": summary, "responses": responses}
	if description = strings.TrimSpace(description); description != "" {
		out["description"] = description
	}
	return out
}

func ok(schema any) object { return object{"description": "Done.", "content": jsonOf(schema)} }

func jsonOf(schema any) object { return object{"application/json": object{"schema": schema}} }
