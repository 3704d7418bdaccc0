package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// asker serves a tool that asks for what its argument says: over HTTP in the revision 2026-07-28,
// where a result asks for input, or in the one before, where the server sends a request.
func asker(t *testing.T, modern bool, ask func(text string) []*sdk.ElicitParams) state.MCPServer {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	tell := func(answers []*sdk.ElicitResult) (*sdk.CallToolResult, any, error) {
		text, err := session.Encode(answers)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}}, nil, err
	}
	sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "Asks people."}, func(ctx context.Context, r *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
		var answers []*sdk.ElicitResult
		if modern {
			if len(r.Params.InputResponses) == 0 {
				wanted := sdk.InputRequestMap{}
				for i, p := range ask(in.Text) {
					wanted[fmt.Sprintf("%02d", i)] = p
				}
				return &sdk.CallToolResult{InputRequests: wanted, RequestState: "kept"}, nil, nil
			}
			if r.Params.RequestState != "kept" {
				return nil, nil, fmt.Errorf("the state is %q", r.Params.RequestState)
			}
			for i := range len(r.Params.InputResponses) {
				answers = append(answers, r.Params.InputResponses[fmt.Sprintf("%02d", i)].(*sdk.ElicitResult))
			}
			return tell(answers)
		}
		for _, p := range ask(in.Text) {
			answer, err := r.Session.Elicit(ctx, p)
			if err != nil {
				return nil, nil, err
			}
			answers = append(answers, answer)
		}
		return tell(answers)
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: modern})
	var mu sync.Mutex
	var seen []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		seen = append(seen, r.Header.Get("Mcp-Protocol-Version"))
		mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.Close()
		want := map[bool]string{true: "2026-07-28", false: "2025-11-25"}[modern]
		if !slices.Contains(seen, want) {
			t.Errorf("the revisions are %q, want %s", seen, want)
		}
	})
	return state.MCPServer{URL: web.URL, StartTimeout: 60, ToolTimeout: 60}
}

// people answer questions in order, and keep what they were asked.
type people struct {
	replies []agent.Reply
	asked   []agent.Question
}

func (p *people) ask(_ context.Context, q agent.Question) (agent.Reply, error) {
	p.asked = append(p.asked, q)
	if len(p.replies) == 0 {
		return agent.Reply{Outcome: agent.Skipped}, nil
	}
	reply := p.replies[0]
	p.replies = p.replies[1:]
	return reply, nil
}

func says(answers ...string) (list []agent.Reply) {
	for _, answer := range answers {
		list = append(list, agent.Reply{Outcome: agent.Answered, Answer: answer, By: "cli_1"})
	}
	return list
}

// elicited calls the tool with people who answer, and returns what the server got and what the
// model reads besides.
func elicited(t *testing.T, server state.MCPServer, argument string, ask func(context.Context, agent.Question) (agent.Reply, error)) (got []sdk.ElicitResult, notes string) {
	t.Helper()
	w := newWorld(t, func(o *mcp.Options) { o.Servers = map[string]state.MCPServer{"docs": server} })
	tools := w.Tools(t.Context(), w.folder)
	i := slices.IndexFunc(tools, func(tool agent.Tool) bool { return tool.Spec().Name == "mcp__docs__ask" })
	if i < 0 {
		t.Fatalf("the tools are %q: %+v", names(tools), w.status(t, "docs"))
	}
	arguments, err := json.Marshal(text{argument})
	if err != nil {
		t.Fatal(err)
	}
	result := tools[i].Run(t.Context(), agent.Call{ID: "c", Name: "mcp__docs__ask", Arguments: arguments, Ask: ask}, func(string) {})
	if result.IsError || len(result.Content) == 0 {
		t.Fatalf("the call says %+v", result)
	}
	if err := json.Unmarshal([]byte(result.Content[0].Text), &got); err != nil {
		t.Fatalf("%v: %+v", err, result)
	}
	return got, result.Content[1:].Plain()
}

func fields(properties, required string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
}

// TestElicitation: a form is asked field by field in the session of the call, in both revisions
// of the protocol; answers that do not fit are asked again; the server is named.
func TestElicitation(t *testing.T) {
	for _, modern := range []bool{true, false} {
		server := asker(t, modern, func(string) []*sdk.ElicitParams {
			return []*sdk.ElicitParams{{Mode: "form", Message: "Book a room", RequestedSchema: fields(
				`"people":{"type":"integer","title":"People","minimum":1,"maximum":9},"size":{"type":"string","enum":["s","m"],"enumNames":["Small","Medium"]},"note":{"type":"string"}`, `"people","size"`)}}
		})
		p := &people{replies: says("ten", "3", "Medium", "Leave empty")}
		got, notes := elicited(t, server, "", p.ask)
		if len(got) != 1 || got[0].Action != "accept" || fmt.Sprint(got[0].Content) != "map[people:3 size:m]" || notes != "" {
			t.Errorf("modern %t: the server got %+v, the model %q", modern, got, notes)
		}
		if len(p.asked) != 4 || p.asked[0].Server != "docs" || !strings.Contains(p.asked[0].Text, "Book a room") || !strings.Contains(p.asked[0].Text, "1 of 3. People") ||
			!strings.Contains(p.asked[1].Text, "it is not a number") || !slices.Equal(p.asked[2].Choices, []string{"Small", "Medium"}) || !slices.Equal(p.asked[3].Choices, []string{"Leave empty"}) {
			t.Errorf("modern %t: people were asked %+v", modern, p.asked)
		}
	}
}

// TestElicitationEnds: declined, without anyone there, too late and canceled are told apart.
func TestElicitationEnds(t *testing.T) {
	for _, modern := range []bool{true, false} {
		for outcome, want := range map[agent.Reply][2]string{
			{Outcome: agent.Skipped, By: "cli_1"}: {"decline", "The user declined."},
			{}:                                    {"decline", "no one who may answer is present"},
			{Outcome: agent.TimedOut, By: "host"}: {"cancel", ""},
			{Outcome: agent.CancelledQuestion, By: "host"}: {"cancel", ""},
			{Outcome: agent.Answered, Answer: "Accept"}:    {"accept", ""},
		} {
			server := asker(t, modern, func(string) []*sdk.ElicitParams { return []*sdk.ElicitParams{{Mode: "form", Message: "Delete all?"}} })
			got, notes := elicited(t, server, "", (&people{replies: []agent.Reply{outcome}}).ask)
			if len(got) != 1 || got[0].Action != want[0] || (notes == "") != (want[1] == "") || !strings.Contains(notes, want[1]) {
				t.Errorf("modern %t, %q: the server got %+v, the model %q", modern, outcome.Outcome, got, notes)
			}
		}
		server := asker(t, modern, func(string) []*sdk.ElicitParams { return []*sdk.ElicitParams{{Mode: "form", Message: "Delete all?"}} })
		if got, notes := elicited(t, server, "", nil); got[0].Action != "decline" || !strings.Contains(notes, "no one can be asked here") {
			t.Errorf("modern %t, no people: %+v, %q", modern, got, notes)
		}
	}
}

// TestPagesToOpen: the domain is shown, and an address that is not safe is declined.
func TestPagesToOpen(t *testing.T) {
	for _, modern := range []bool{true, false} {
		server := asker(t, modern, func(address string) []*sdk.ElicitParams {
			return []*sdk.ElicitParams{{Mode: "url", Message: "Pay", URL: address, ElicitationID: "e1"}}
		})
		p := &people{replies: says("I opened the page and finished there")}
		got, _ := elicited(t, server, "https://pay.example/x?y=1", p.ask)
		if got[0].Action != "accept" || got[0].Content != nil || p.asked[0].URL != "https://pay.example/x?y=1" || !strings.Contains(p.asked[0].Text, "at pay.example?") {
			t.Errorf("modern %t: the server got %+v, people were asked %+v", modern, got, p.asked)
		}
		for _, bad := range []string{"http://pay.example/", "javascript:alert(1)", "file:///etc/passwd", "https://good.example@evil.example/", "ms-settings:x", "https://"} {
			p := &people{replies: says("I opened the page and finished there")}
			if got, notes := elicited(t, server, bad, p.ask); got[0].Action != "decline" || len(p.asked) != 0 || notes == "" {
				t.Errorf("modern %t, %s: the server got %+v, people were asked %+v", modern, bad, got, p.asked)
			}
		}
	}
}

// TestPagesBeforeACall: a call that fails because people must open a page first is made again once
// they did, and not if they declined.
func TestPagesBeforeACall(t *testing.T) {
	for answer, want := range map[string]string{"I opened the page and finished there": "2 calls", "": ""} {
		calls := 0
		s := newServer(nil)
		sdk.AddTool(s, &sdk.Tool{Name: "ask", Description: "Needs a page."}, func(context.Context, *sdk.CallToolRequest, text) (*sdk.CallToolResult, any, error) {
			if calls++; calls == 1 {
				return nil, nil, sdk.URLElicitationRequiredError([]*sdk.ElicitParams{{Mode: "url", Message: "Connect", URL: "https://connect.example/", ElicitationID: "e1"}})
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(calls, " calls")}}}, nil, nil
		})
		web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil))
		w := newWorld(t, func(o *mcp.Options) { o.Servers = map[string]state.MCPServer{"docs": {URL: web.URL, StartTimeout: 60}} })
		p := &people{}
		if answer != "" {
			p.replies = says(answer)
		}
		tools := w.Tools(t.Context(), w.folder)
		i := slices.IndexFunc(tools, func(tool agent.Tool) bool { return tool.Spec().Name == "mcp__docs__ask" })
		got := tools[i].Run(t.Context(), agent.Call{ID: "c", Name: "mcp__docs__ask", Arguments: json.RawMessage(`{"text":""}`), Ask: p.ask}, func(string) {})
		if got.IsError != (want == "") || want != "" && got.Content.Plain() != want || len(p.asked) != 1 {
			t.Errorf("%q: the call says %+v, people were asked %+v", answer, got, p.asked)
		}
		w.Close()
		web.Close()
	}
}

// TestAFloodOfElicitations: after eight questions of a call all others are declined unseen, and a
// form that is too large is one of them.
func TestAFloodOfElicitations(t *testing.T) {
	for _, modern := range []bool{true, false} {
		server := asker(t, modern, func(string) (list []*sdk.ElicitParams) {
			for range 30 {
				list = append(list, &sdk.ElicitParams{Mode: "form", Message: strings.Repeat("x", 100_000)})
			}
			return list
		})
		p := &people{replies: says(slices.Repeat([]string{"Accept"}, 30)...)}
		got, notes := elicited(t, server, "", p.ask)
		accepted := 0
		for _, one := range got {
			if one.Action == "accept" {
				accepted++
			}
		}
		if len(got) != 30 || accepted != 8 || len(p.asked) != 8 || len([]rune(p.asked[0].Text)) > 2000 || strings.Count(notes, "which is the limit") != 1 {
			t.Errorf("modern %t: %d of %d were accepted, people were asked %d times, the model reads %q", modern, accepted, len(got), len(p.asked), notes)
		}
		var many []string
		for i := range 9 {
			many = append(many, fmt.Sprintf(`"f%d":{"type":"string"}`, i))
		}
		large := asker(t, modern, func(string) []*sdk.ElicitParams {
			return []*sdk.ElicitParams{{Mode: "form", Message: "All", RequestedSchema: fields(strings.Join(many, ","), "")}}
		})
		if got, notes := elicited(t, large, "", p.ask); got[0].Action != "decline" || !strings.Contains(notes, "9 fields") {
			t.Errorf("modern %t: the server got %+v, the model %q", modern, got, notes)
		}
	}
}

// TestCapabilities: the host offers elicitation, and neither sampling nor roots.
func TestCapabilities(t *testing.T) {
	for _, modern := range []bool{true, false} {
		var offered []*sdk.ClientCapabilities
		s := newServer(nil)
		sdk.AddTool(s, &sdk.Tool{Name: "who", Description: "Says what the client offers."}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			offered = append(offered, r.Session.InitializeParams().Capabilities)
			return &sdk.CallToolResult{}, nil, nil
		})
		web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: modern}))
		w := newWorld(t, func(o *mcp.Options) { o.Servers = map[string]state.MCPServer{"docs": {URL: web.URL, StartTimeout: 60}} })
		if got := w.call(t, t.Context(), "mcp__docs__who", `{}`); got.IsError {
			t.Fatalf("%+v", got)
		}
		if len(offered) != 1 || offered[0].Elicitation == nil || offered[0].Elicitation.URL == nil || offered[0].Elicitation.Form == nil {
			t.Fatalf("modern %t: the host offers %+v", modern, offered)
		}
		//lint:ignore SA1019 The test is that what is deprecated is not offered.
		if offered[0].Sampling != nil || offered[0].RootsV2 != nil {
			t.Errorf("modern %t: the host offers %+v", modern, offered[0])
		}
		w.Close()
		web.Close()
	}
}
