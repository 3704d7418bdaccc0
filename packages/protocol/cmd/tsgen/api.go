package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// hostEvents are the events without a session and a seq.
func hostEvents() map[string]bool {
	return map[string]bool{"projects_changed": true, "session_updated": true, "session_deleted": true, "session_moved": true, "clients_changed": true,
		"rules_changed": true, "models_changed": true, "agents_changed": true, "skills_changed": true, "memory_changed": true,
		"mcp_servers_changed": true, "terminal_output": true, "terminal_changed": true,
		"terminals_changed": true, "paths_changed": true, "hooks_changed": true, "schedules_changed": true, "extensions_changed": true, "channels_changed": true}
}

func (g *generator) api() error {
	g.constants("api", map[string]func(int) string{"Kind": func(n int) string { return api.Kind(n).String() }})
	g.events()
	if err := g.union(reflect.TypeFor[api.Incoming](), "type", incomingVariants()); err != nil {
		return err
	}
	g.requests()
	g.flush()
	return nil
}

func (g *generator) events() {
	var ofSession, ofHost []string
	for _, e := range api.Events() {
		t, head := reflect.TypeOf(e), fmt.Sprintf("  type: %s;\n", quote(e.EventType()))
		if hostEvents()[e.EventType()] {
			ofHost = append(ofHost, t.Name())
		} else {
			ofSession = append(ofSession, t.Name())
			head += "  sessionId: string;\n  seq: number;\n"
		}
		g.done[t] = true
		g.iface("api", t.Name(), g.doc(t), head, g.fieldsOf(t))
	}
	g.printf("api", "/** The events of one session, in the order of seq. */\nexport type SessionEvent =\n  | %s;\n\n", strings.Join(ofSession, "\n  | "))
	g.printf("api", "/** The events of the host. */\nexport type HostEvent =\n  | %s;\n\n", strings.Join(ofHost, "\n  | "))
	g.printf("api", "/** Every event. A newer host may send others: a switch needs a default case. */\nexport type Event = SessionEvent | HostEvent;\n\n")
}

func (g *generator) requests() {
	var requests, grants strings.Builder
	for _, spec := range api.Table() {
		request := g.tsType(reflect.TypeOf(spec.Request), "api")
		response := g.tsType(reflect.TypeOf(spec.Response), "api")
		requests.WriteString(comment(spec.Doc, "  "))
		fmt.Fprintf(&requests, "  %s: { grant: %s; request: %s; response: %s };\n", spec.Name, quote(string(spec.Grant)), request, response)
		fmt.Fprintf(&grants, "  %s: %s,\n", spec.Name, quote(string(spec.Grant)))
	}
	g.printf("api", "/** Every request by name: the grant it needs, its fields, its result. */\nexport interface Requests {\n%s}\n\n", requests.String())
	g.printf("api", "/** The grant that each request needs. */\nexport const requestGrants = {\n%s} as const satisfies Record<keyof Requests, Grant>;\n\n", grants.String())
}
