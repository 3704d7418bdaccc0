package sessions_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestArchivePinAndMetadata(t *testing.T) {
	k := newTalk(t, 1, modeltest.Say("later"))
	yes, no, title := true, false, "  the  title "
	for range 2 { // the second time nothing is written
		got, err := k.s.Update(t.Context(), "cli_x", api.UpdateSessionRequest{Title: &title, Archived: &yes, Pinned: &yes, Meta: map[string]string{"ticket": "42", "team": "core"}})
		if err != nil || got.Name != "the title" || !got.Archived || !got.Pinned || got.Meta["ticket"] != "42" {
			t.Fatalf("%+v %v", got, err)
		}
	}
	data, err := os.ReadFile(k.f.file(t))
	if err != nil || strings.Count(string(data), `"scorel.session"`) != 1 || strings.Count(string(data), `"the title"`) != 1 {
		t.Errorf("the log holds the change more than once, %v:\n%s", err, data)
	}
	if _, err := k.s.Update(t.Context(), "cli_x", api.UpdateSessionRequest{Pinned: &no, Meta: map[string]string{"team": ""}}); err != nil {
		t.Fatal(err)
	}
	check := func(when string, s api.SessionSummary) {
		t.Helper()
		if s.Name != "the title" || !s.Archived || s.Pinned || !maps.Equal(s.Meta, map[string]string{"ticket": "42"}) {
			t.Errorf("%s it is %+v", when, s)
		}
	}
	k.restart(t)
	check("after a restart", k.m.List("")[0])

	// A fork is a session of its own; a prompt takes one out of the archive.
	fork, err := k.m.Fork(t.Context(), api.ForkSessionRequest{SessionID: k.m.List("")[0].ID, ClientKey: "fork"})
	if err != nil || fork.Session.Archived || len(fork.Session.Meta) > 0 {
		t.Errorf("the fork is %+v, %v", fork.Session, err)
	}
	send(t, k.s, "kz", "go on")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if s, err := k.s.Summary(t.Context()); err != nil || s.Archived || s.Meta["ticket"] != "42" {
		t.Errorf("after a prompt it is %+v, %v", s, err)
	}
}

func TestMetadataThatIsRefused(t *testing.T) {
	k := newTalk(t, 0)
	many := map[string]string{}
	for i := range api.MaxMeta + 1 {
		many[fmt.Sprint("k", i)] = "v"
	}
	for name, c := range map[string]struct {
		meta map[string]string
		kind api.Kind
		says string
	}{
		"no key":        {map[string]string{"": "v"}, api.KindBadRequest, "1 to 64"},
		"an odd key":    {map[string]string{"a b": "v"}, api.KindBadRequest, "letters"},
		"a long key":    {map[string]string{strings.Repeat("k", 65): "v"}, api.KindBadRequest, "1 to 64"},
		"a long value":  {map[string]string{"k": strings.Repeat("v", 1025)}, api.KindTooLarge, "1024"},
		"no text":       {map[string]string{"k": "\xff"}, api.KindBadRequest, "UTF-8"},
		"too many keys": {many, api.KindTooLarge, "32"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := k.s.Update(t.Context(), "cli_x", api.UpdateSessionRequest{Meta: c.meta})
			wantKind(t, err, c.kind, c.says)
		})
	}
	long := strings.Repeat("x", api.MaxName+1)
	_, err := k.s.Update(t.Context(), "cli_x", api.UpdateSessionRequest{Title: &long})
	wantKind(t, err, api.KindTooLarge, "200")
}

// The list has the pinned sessions first and no archived ones, page by page.
func TestListOfArchivedAndPinned(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	yes := true
	var ids []string
	for i := range 9 {
		summary, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: fmt.Sprint("k", i)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, summary.ID)
		change := api.UpdateSessionRequest{}
		if i%3 == 0 {
			change.Pinned = &yes
		}
		if i >= 6 {
			change.Archived = &yes
		}
		if _, err := open(t, m, summary.ID).Update(t.Context(), "cli_x", change); err != nil {
			t.Fatal(err)
		}
	}
	paged := func(archived string, limit int) (list []string) {
		for after := ""; ; {
			page, err := m.Page(api.ListSessionsRequest{Archived: archived, Limit: limit, After: after}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page.Sessions {
				list = append(list, s.ID)
			}
			if after = page.Next; after == "" {
				return list
			}
		}
	}
	for archived, count := range map[string]int{"": 6, api.ArchivedOnly: 3, api.ArchivedToo: 9} {
		whole := paged(archived, 0)
		if len(whole) != count || !slices.Equal(whole, paged(archived, 2)) {
			t.Errorf("%q lists %d sessions, and in pages %v", archived, len(whole), paged(archived, 2))
		}
	}
	if first := paged("", 2)[:2]; !slices.Contains(first, ids[0]) || !slices.Contains(first, ids[3]) {
		t.Errorf("the list begins with %v, want the pinned %s and %s", first, ids[0], ids[3])
	}
	_, err := m.Page(api.ListSessionsRequest{Archived: "maybe"}, nil)
	wantKind(t, err, api.KindBadRequest, "only")
}

// A snapshot shows what the next call has, and changes nothing.
func TestSnapshotIsWhatTheModelSees(t *testing.T) {
	model := modeltest.New(modeltest.Calls(modeltest.Call("a", "echo", `{}`)), modeltest.Say("done"), modeltest.Say("again"))
	f := newFixture(t, model, echoTool{agent.RiskRead})
	f.deps.System = agent.SystemPrompt
	f.deps.ProjectContext = func(string) agent.ProjectContext {
		return agent.ProjectContext{Instructions: session.Instructions{Files: []session.InstructionFile{{Path: "/x/AGENTS.md", Content: "be kind"}}}}
	}
	k := &talk{f: f, m: f.manager(t), w: newWatcher()}
	k.s = f.create(t, k.m)
	subscribe(t, k.s, k.w)
	before, err := os.ReadFile(f.file(t))
	if err != nil {
		t.Fatal(err)
	}
	first, err := k.s.Snapshot(t.Context())
	if err != nil || len(first.RuntimeContext.Messages) != 0 || len(first.RuntimeContext.Tools) != 1 || first.RuntimeContext.Tokens <= 0 {
		t.Fatalf("%+v %v", first, err)
	}
	if after, err := os.ReadFile(f.file(t)); err != nil || string(after) != string(before) {
		t.Errorf("a snapshot wrote to the log, %v", err)
	}
	send(t, k.s, "k1", "look")
	k.w.wait(func() bool { return k.w.ended == 1 })
	now, err := k.s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	send(t, k.s, "k2", "and now")
	k.w.wait(func() bool { return k.w.ended == 2 })
	request := model.Requests()[2]
	var system strings.Builder
	for _, part := range now.RuntimeContext.System {
		if part.Name != "" {
			system.WriteString("\n# " + part.Name + "\n\n")
		}
		system.WriteString(part.Text + "\n")
	}
	if system.String() != request.System {
		t.Errorf("the system prompt was\n%s\nand the snapshot says\n%s", request.System, system.String())
	}
	sent := request.Messages[:len(request.Messages)-1] // without the new prompt
	if len(sent) != len(now.RuntimeContext.Messages) || now.Entries < 5 || now.LeafID == "" || now.RuntimeContext.Model.Name != "main" {
		t.Fatalf("%d messages were sent, the snapshot says %+v", len(sent), now)
	}
	for i, m := range now.RuntimeContext.Messages {
		if m.Role != sent[i].Role || m.Content.Plain() != sent[i].Content.Plain() || m.ToolCallID != sent[i].ToolCallID {
			t.Errorf("message %d is %+v, was sent as %+v", i, m, sent[i])
		}
	}
	if tool := now.RuntimeContext.Tools[0]; tool.Name != request.Tools[0].Name || string(tool.Parameters) != string(request.Tools[0].Parameters) {
		t.Errorf("the tool is %+v", tool)
	}
}
