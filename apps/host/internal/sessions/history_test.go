package sessions_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// talk is a session in which so many turns have ended.
type talk struct {
	f *fixture
	m *sessions.Manager
	s *sessions.Session
	w *watcher
}

func newTalk(t *testing.T, turns int, more ...modeltest.Step) *talk {
	t.Helper()
	var steps []modeltest.Step
	for i := range turns {
		steps = append(steps, modeltest.Say("answer "+string(rune('a'+i))))
	}
	f := newFixture(t, modeltest.New(append(steps, more...)...), echoTool{agent.RiskRead})
	k := &talk{f: f, m: f.manager(t), w: newWatcher()}
	k.s = f.create(t, k.m)
	subscribe(t, k.s, k.w)
	for i := range turns {
		send(t, k.s, "k"+string(rune('a'+i)), "question "+string(rune('a'+i)))
		k.w.wait(func() bool { return k.w.ended == i+1 })
	}
	return k
}

// restart ends the host and begins it again.
func (k *talk) restart(t *testing.T) {
	t.Helper()
	id := k.m.List("")[0].ID
	if err := k.m.Close(); err != nil {
		t.Fatal(err)
	}
	k.m, k.w = k.f.manager(t), newWatcher()
	k.s = open(t, k.m, id)
	subscribe(t, k.s, k.w)
}

func (k *talk) tree(t *testing.T) api.GetTreeResponse {
	t.Helper()
	tree, err := k.s.Outline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// node returns the entry of that role whose text begins so.
func (k *talk) node(t *testing.T, text string) string {
	t.Helper()
	for _, node := range k.tree(t).Nodes {
		if strings.HasPrefix(node.Text, text) {
			return node.ID
		}
	}
	t.Fatalf("no entry begins with %q", text)
	return ""
}

// asked returns what the model was given last, one line a message.
func (k *talk) asked(t *testing.T) string {
	t.Helper()
	requests := k.f.deps.Models.(oneModel).model.(*modeltest.Scripted).Requests()
	var lines []string
	for _, m := range requests[len(requests)-1].Messages {
		lines = append(lines, string(m.Role)+": "+m.Content.Plain())
	}
	return strings.Join(lines, "\n")
}

func wantKind(t *testing.T, err error, kind api.Kind, says string) {
	t.Helper()
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != kind || !strings.Contains(refused.Message, says) {
		t.Errorf("got %v, want %s that says %q", err, kind, says)
	}
}

func TestRewindToAMessageOfTheUser(t *testing.T) {
	k := newTalk(t, 2, modeltest.Say("better"))
	r := api.RewindSessionRequest{ClientKey: "r1", ExpectedLeaf: k.tree(t).LeafID, TargetEntryID: k.node(t, "question b")}
	moved, err := k.s.Rewind(t.Context(), "cli_x", r)
	if err != nil || moved.Text != "question b" || moved.LeafID != k.tree(t).LeafID {
		t.Fatalf("%+v, %v", moved, err)
	}
	first := k.node(t, "question b")
	end := k.node(t, "answer b")
	n := len(read(k.w, func() []session.Entry { return k.w.entries }))
	if again, err := k.s.Rewind(t.Context(), "cli_x", r); err != nil || !reflect.DeepEqual(again, moved) {
		t.Fatalf("a retry: %+v, %v; want %+v", again, err, moved)
	}
	k.restart(t)
	if again, err := k.s.Rewind(t.Context(), "cli_x", r); err != nil || !reflect.DeepEqual(again, moved) || len(k.w.entries) != n {
		t.Fatalf("a retry after a restart: %+v, %v; want %+v", again, err, moved)
	}
	send(t, k.s, "kc", "question c")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got, want := k.asked(t), "user: question a\nassistant: answer a\nuser: question c"; got != want {
		t.Errorf("the model was given\n%s\nwant\n%s", got, want)
	}
	versions, err := k.s.Versions(t.Context())
	want := []api.VersionPlace{{Versions: []api.MessageVersion{{EntryID: first, End: end}, {EntryID: k.node(t, "question c"), End: k.tree(t).LeafID}}}}
	if err != nil || !reflect.DeepEqual(versions.Places, want) {
		t.Errorf("the versions are %v, %v; want %v", versions.Places, err, want)
	}
}

func TestRewindIsRefused(t *testing.T) {
	k := newTalk(t, 2,
		modeltest.Calls(modeltest.Call("c1", "echo", `{}`)), modeltest.Say("with a tool"),
		modeltest.Step{Content: session.Content{session.Text("waits")}, Stall: true})
	first := k.node(t, "answer a")
	leaf := k.tree(t).LeafID
	rewind := func(expected, target string) error {
		_, err := k.s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ClientKey: "r", ExpectedLeaf: expected, TargetEntryID: target})
		return err
	}
	wantKind(t, rewind("other", first), api.KindConflict, "has changed in the meantime")
	wantKind(t, rewind(leaf, "nobody"), api.KindNotFound, "no entry")
	_, err := k.s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ExpectedLeaf: leaf, TargetEntryID: first})
	wantKind(t, err, api.KindBadRequest, "clientKey")

	send(t, k.s, "kc", "call")
	k.w.wait(func() bool { return k.w.ended == 3 })
	leaf = k.tree(t).LeafID
	for _, e := range read(k.w, func() []session.Entry { return slices.Clone(k.w.entries) }) {
		m, ok := e.AsMessage()
		if ok && (m.Message.Role == session.RoleToolResult || m.Message.StopReason == session.StopToolUse) {
			wantKind(t, rewind(leaf, e.ID), api.KindBadRequest, "inside a turn")
		}
	}
	if _, err := k.s.Navigate(t.Context(), "cli_x", api.NavigateSessionRequest{ClientKey: "n", ExpectedLeaf: leaf, TargetEntryID: first}); err != nil {
		t.Fatal(err)
	}
	wantKind(t, rewind(k.tree(t).LeafID, k.node(t, "answer b")), api.KindBadRequest, "another branch")

	send(t, k.s, "kd", "wait")
	k.w.wait(func() bool { return len(k.w.live.Partial) > 0 })
	wantKind(t, rewind(k.tree(t).LeafID, first), api.KindConflict, "a turn is running")
	_, err = k.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c"})
	wantKind(t, err, api.KindConflict, "a turn is running")
	_, err = k.m.Fork(t.Context(), api.ForkSessionRequest{SessionID: k.m.List("")[0].ID, ClientKey: "f"})
	wantKind(t, err, api.KindConflict, "a turn is running")
}

func TestRewindToTheBeginning(t *testing.T) {
	k := newTalk(t, 1, modeltest.Say("new"))
	if _, err := k.s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ClientKey: "r", ExpectedLeaf: k.tree(t).LeafID}); err != nil {
		t.Fatal(err)
	}
	k.restart(t)
	send(t, k.s, "kb", "anew")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := k.asked(t); got != "user: anew" {
		t.Errorf("the model was given\n%s", got)
	}
}

func TestNavigateWithASummary(t *testing.T) {
	for name, model := range map[string]agent.Model{
		"writes": modeltest.New(modeltest.Say("They tried b.")),
		"fails":  modeltest.New(modeltest.Step{Stop: session.StopError, Error: "HTTP 500"}),
	} {
		t.Run(name, func(t *testing.T) {
			k := newTalk(t, 2, modeltest.Say("on"))
			k.f.deps.Summaries.Model = model
			k.restart(t)
			from := k.tree(t).LeafID
			moved, err := k.s.Navigate(t.Context(), "cli_x", api.NavigateSessionRequest{
				ClientKey: "n", ExpectedLeaf: from, TargetEntryID: k.node(t, "answer a"), Summarize: true,
			})
			if err != nil || !moved.Working {
				t.Fatalf("%+v, %v", moved, err)
			}
			send(t, k.s, "kc", "question c") // waits for the summary
			k.w.wait(func() bool { return k.w.ended == 1 })
			want := "question b"
			if name == "writes" {
				want = "They tried b."
			}
			got := k.asked(t)
			if !strings.Contains(got, want) || strings.Contains(got, "user: question b") || !strings.HasSuffix(got, "user: question c") {
				t.Errorf("the model was given\n%s", got)
			}
			if again, err := k.s.Navigate(t.Context(), "cli_x", api.NavigateSessionRequest{
				ClientKey: "n", ExpectedLeaf: from, TargetEntryID: k.node(t, "answer a"), Summarize: true,
			}); err != nil || again.Working {
				t.Errorf("a retry: %+v, %v", again, err)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	k := newTalk(t, 1)
	target := k.node(t, "answer a")
	label := func(key, text string) error {
		return k.s.SetLabel(t.Context(), "cli_x", api.SetLabelRequest{ClientKey: key, EntryID: target, Label: text})
	}
	if err := errors.Join(label("l1", " a  place\n"), label("l1", "again")); err != nil {
		t.Fatal(err)
	}
	k.restart(t)
	if got := k.tree(t).Nodes[1].Label; got != "a place" {
		t.Errorf("the label is %q", got)
	}
	if err := label("l2", ""); err != nil || k.tree(t).Nodes[1].Label != "" {
		t.Errorf("the label stays: %v", err)
	}
	wantKind(t, label("l3", strings.Repeat("x", api.MaxLabel+1)), api.KindTooLarge, "the limit is 100")
}

func TestFork(t *testing.T) {
	k := newTalk(t, 2, modeltest.Say("forked"))
	id := k.m.List("")[0].ID
	r := api.ForkSessionRequest{SessionID: id, ClientKey: "f1", EntryID: k.node(t, "question b")}
	forked, err := k.m.Fork(t.Context(), r)
	if err != nil || forked.Text != "question b" || forked.Session.MessageCount != 2 || forked.Session.ID == id {
		t.Fatalf("%+v, %v", forked, err)
	}
	k.restart(t)
	if again, err := k.m.Fork(t.Context(), r); err != nil || again.Session.ID != forked.Session.ID || len(k.m.List("")) != 2 {
		t.Fatalf("a retry made %+v, %v", again, err)
	}
	header, err := file.New(k.f.dir, k.f.deps.Logger).Read(t.Context(), forked.Session.ID)
	if err != nil || !strings.HasSuffix(header.Header.ParentSession, "_"+id+".jsonl") {
		t.Errorf("the fork comes from %q, %v", header.Header.ParentSession, err)
	}
	s, w := open(t, k.m, forked.Session.ID), newWatcher()
	subscribe(t, s, w)
	send(t, s, "ka", "question c") // the key was used in the other session before it
	files, err := filepath.Glob(filepath.Join(k.f.dir, "*", "*"+forked.Session.ID+"*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	clone, err := k.m.Fork(t.Context(), api.ForkSessionRequest{SessionID: id, ClientKey: "f2"})
	if err != nil || clone.Session.MessageCount != 4 || clone.Text != "" {
		t.Errorf("a clone: %+v, %v", clone, err)
	}
}
