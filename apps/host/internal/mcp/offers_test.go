package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/mcp"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/session"
)

// library is a server with resources and prompts, in pages of ten.
func library(resources int) *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{PageSize: 10})
	for i := range resources {
		addResource(s, fmt.Sprintf("doc:///%03d", i), fmt.Sprintf("Document %03d", i))
	}
	s.AddPrompt(&sdk.Prompt{Name: "review", Description: "Reviews a file.", Arguments: []*sdk.PromptArgument{{Name: "file", Required: true}, {Name: "style"}}},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			text := fmt.Sprintf("Review %s, %s.", r.Params.Arguments["file"], r.Params.Arguments["style"])
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: text}},
				{Role: "user", Content: &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "doc:///1", Text: "embedded"}}},
			}}, nil
		})
	return s
}

func addResource(s *sdk.Server, uri, name string) {
	s.AddResource(&sdk.Resource{URI: uri, Name: name, MIMEType: "text/plain"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		switch {
		case strings.HasSuffix(r.Params.URI, "huge"):
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: strings.Repeat("```\n", 100_000)}}}, nil
		case strings.HasSuffix(r.Params.URI, "image"):
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Blob: gif, MIMEType: "image/gif"}}}, nil
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "text of " + r.Params.URI}}}, nil
	})
}

func withLibrary(t *testing.T, modern bool, s *sdk.Server) *world {
	t.Helper()
	web := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, &sdk.StreamableHTTPOptions{Stateless: modern}))
	w := newWorld(t, func(o *mcp.Options) { o.Servers = map[string]state.MCPServer{"docs": {URL: web.URL, StartTimeout: 60}} })
	t.Cleanup(web.Close)
	t.Cleanup(w.Close)
	return w
}

// TestOffers: resources and prompts are listed over all pages up to the limit, without having been
// needed by a turn.
func TestOffers(t *testing.T) {
	for _, modern := range []bool{true, false} {
		for many, want := range map[int]int{0: 0, 25: 25, 333: 200} {
			got := withLibrary(t, modern, library(many)).Offers(t.Context(), t.TempDir())
			if len(got.Resources) != want || len(got.Prompts) != 1 || got.Prompts[0].Command != "mcp__docs__review" || len(got.Prompts[0].Arguments) != 2 {
				t.Errorf("modern %t, %d resources: %d are offered, and %+v", modern, many, len(got.Resources), got.Prompts)
			}
			if want > 20 && (got.Resources[20].URI != "doc:///020" || got.Resources[20].Server != "docs") {
				t.Errorf("modern %t: %+v", modern, got.Resources[20])
			}
		}
	}
}

// TestOffersChange: what a server says it changed is listed again, and not asked for otherwise.
func TestOffersChange(t *testing.T) {
	s := library(1)
	w := withLibrary(t, false, s)
	if got := w.Offers(t.Context(), w.folder); len(got.Resources) != 1 {
		t.Fatalf("%+v", got)
	}
	addResource(s, "doc:///new", "New")
	for deadline := t.Context(); len(w.Offers(deadline, w.folder).Resources) != 2; { // the notice takes a moment
		if deadline.Err() != nil {
			t.Fatal("the new resource is not offered")
		}
	}
}

// TestMentions: a prompt attaches resources and calls prompts with arguments; what it names wrongly
// is text or explained, and what servers send is bounded and cannot end its fence.
func TestMentions(t *testing.T) {
	for _, modern := range []bool{true, false} {
		s := library(2)
		for _, name := range []string{"huge", "image"} {
			addResource(s, "doc:///"+name, name)
		}
		w := withLibrary(t, modern, s)
		for text, want := range map[string][]string{
			"look at @docs:doc:///000 and @docs:doc:///001": {"text of doc:///000", "text of doc:///001"},
			"@docs:doc:///000 twice @docs:doc:///000":       {"the resource doc:///000 of the MCP server docs"},
			"mail me@docs:doc:///000":                       nil,
			"@other:doc:///000":                             nil,
			"@docs:doc:///none":                             {"it cannot be read"},
			"@docs:doc:///image":                            {"bytes of the type image/gif, which is not text"},
			"@docs:doc:///huge":                             {"The rest is left out"},
			"/mcp__docs__review main.go":                    {"Review main.go, ."},
			"/mcp__docs__review main.go very strict":        {"Review main.go, very strict."},
			`/mcp__docs__review style="a b" file=x.go`:      {"Review x.go, a b."},
			"/mcp__docs__review":                            {"the argument file is missing"},
			`/mcp__docs__review style="a`:                   {"a quotation mark is missing"},
			"/mcp__docs__other x":                           nil,
			"text /mcp__docs__review x":                     nil,
			strings.Repeat(" @docs:doc:///000", 50):         {"doc:///000"},
		} {
			notes := w.Mentioned(t.Context(), w.folder, text, agent.Mentions{})
			if len(notes) != len(want) {
				t.Errorf("modern %t, %.60q: %d notes", modern, text, len(notes))
				continue
			}
			for i, note := range notes {
				if note.Kind != session.NoteServer || !strings.Contains(note.Text, want[i]) || len(note.Text) > 300<<10 {
					t.Errorf("modern %t, %.60q: %.300q", modern, text, note.Text)
				}
			}
		}
		huge := w.Mentioned(t.Context(), w.folder, "@docs:doc:///huge", agent.Mentions{})[0].Text
		if _, inside, ok := strings.Cut(huge, "\n````\n"); !ok || strings.Count(inside, "````") != 1 {
			t.Errorf("modern %t: the fence ends early", modern)
		}
		if got := w.Mentioned(t.Context(), w.folder, "/mcp__docs__review x", agent.Mentions{})[0].Text; !strings.Contains(got, "embedded") || !strings.Contains(got, "comes from that server") {
			t.Errorf("modern %t: %q", modern, got)
		}
	}
}

// TestMentionsAsTheSenderMay: someone who cannot answer approvals attaches what a server lists, and
// nobody attaches anything of a server all of whose tools rules deny.
func TestMentionsAsTheSenderMay(t *testing.T) {
	s := library(1)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "doc:///any/{id}", Name: "any"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "text of " + r.Params.URI}}}, nil
	})
	w := withLibrary(t, true, s)
	denied := func(beginning string) bool { return beginning == "mcp__docs__" }
	for _, c := range []struct {
		text string
		may  agent.Mentions
		want string
	}{
		{"@docs:doc:///000", agent.Mentions{}, "text of doc:///000"},
		{"@docs:doc:///any/1", agent.Mentions{}, "text of doc:///any/1"},
		{"@docs:doc:///000", agent.Mentions{Listed: true}, "text of doc:///000"},
		{"@docs:doc:///any/1", agent.Mentions{Listed: true}, "the server does not list it"},
		{"/mcp__docs__review x", agent.Mentions{Listed: true}, "Review x, ."},
		{"@docs:doc:///000", agent.Mentions{Denied: denied}, "a rule denies every tool"},
		{"/mcp__docs__review x", agent.Mentions{Denied: denied}, "a rule denies every tool"},
	} {
		notes := w.Mentioned(t.Context(), w.folder, c.text, c.may)
		if len(notes) != 1 || !strings.Contains(notes[0].Text, c.want) {
			t.Errorf("%s, listed only %t, denied %t: %+v", c.text, c.may.Listed, c.may.Denied != nil, notes)
		}
	}
}
