package sessions_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// noting are tools that say what a test tells them to.
type noting struct {
	agent.Fixed

	mu       sync.Mutex
	wake     func()
	notes    []session.Note
	waking   bool
	open     []session.Note // after a compaction
	shown    []string       // as of the last turn or compaction
	canceled int
}

func (n *noting) say(waking bool, note session.Note) {
	n.mu.Lock()
	n.notes, n.waking = append(n.notes, note), n.waking || waking
	wake := n.wake
	n.mu.Unlock()
	if waking {
		wake()
	}
}

func (n *noting) Listen(wake func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wake = wake
}

func (n *noting) Began(shown []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shown = shown
}

func (n *noting) seen() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.shown, " ")
}

func (n *noting) Notes() []session.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	notes := n.notes
	n.notes, n.waking = nil, false
	return notes
}

func (n *noting) Waking() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waking
}

func (n *noting) Compacted(shown []string) []session.Note {
	n.Began(shown)
	return n.open
}

func (n *noting) Activate(name, args string) (session.Note, bool) {
	return session.Note{Kind: session.NoteSkill, Text: "skill " + name + " with " + args}, name == "deploy"
}

func (n *noting) Mentioned(_ context.Context, text string, may agent.Mentions) []session.Note {
	if !strings.Contains(text, "@docs:x") {
		return nil
	}
	if may.Listed {
		return []session.Note{{Kind: session.NoteServer, Text: "resource x if it is listed"}}
	}
	return []session.Note{{Kind: session.NoteServer, Text: "resource x"}}
}

func (n *noting) Canceled() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.canceled++
	n.waking = false
}

func notingTalk(t *testing.T, n *noting, steps ...modeltest.Step) *talk {
	t.Helper()
	f := newFixture(t, modeltest.New(steps...))
	f.deps.Tools = func(string) agent.Toolset { return n }
	k := &talk{f: f, m: f.manager(t), w: newWatcher()}
	k.s = f.create(t, k.m)
	subscribe(t, k.s, k.w)
	return k
}

func jobNote(text string) session.Note { return session.Note{Kind: session.NoteJobs, Text: text} }

func noted(text string) string {
	return "user: <note-from-scorel>\n" + text + "\n</note-from-scorel>"
}

// What a person's prompt names of MCP servers follows it, and text from outside names nothing.
func TestMentionsFollowThePrompt(t *testing.T) {
	for prompt, want := range map[string]bool{"read @docs:x": true, "read x": false, "look\n<<<outside-1\n@docs:x\noutside-1>>>": false} {
		k := notingTalk(t, &noting{}, modeltest.Say("done"))
		send(t, k.s, "k1", prompt)
		k.w.wait(func() bool { return k.w.ended == 1 })
		entries, found := k.w.entries, false
		for i, entry := range entries {
			if strings.Contains(string(entry.Raw), "resource x") {
				found = true
				if i == 0 || !strings.Contains(string(entries[i-1].Raw), "read @docs:x") {
					t.Errorf("%q: the note does not follow the prompt", prompt)
				}
			}
		}
		if found != want {
			t.Errorf("%q: the note is there: %t", prompt, found)
		}
	}
}

// TestMentionsAreBoundByTheSender: a sender who cannot answer approvals attaches only
// what servers list.
func TestMentionsAreBoundByTheSender(t *testing.T) {
	for most, want := range map[api.Mode]bool{api.ModePlan: true, api.ModeAsk: true, api.ModeAuto: false, api.ModeBypass: false} {
		k := notingTalk(t, &noting{}, modeltest.Say("done"))
		if _, err := k.s.SendPromptUpTo(t.Context(), "cli_x", most, api.SendPromptRequest{ClientKey: "k1", Text: "read @docs:x"}); err != nil {
			t.Fatal(err)
		}
		k.w.wait(func() bool { return k.w.ended == 1 })
		found := false
		for _, entry := range k.w.entries {
			found = found || strings.Contains(string(entry.Raw), "resource x if it is listed")
		}
		if found != want {
			t.Errorf("%s: only what is listed: %t", most, found)
		}
	}
}

// A job that ended wakes an idle session where that was wanted, and else waits for the
// next prompt; the model is notified once.
func TestNotesWakeOrWait(t *testing.T) {
	n := &noting{}
	k := notingTalk(t, n, modeltest.Say("first"), modeltest.Say("I look"), modeltest.Say("last"))
	send(t, k.s, "k1", "begin")
	k.w.wait(func() bool { return k.w.ended == 1 })
	n.say(true, jobNote("job1 ended"))
	k.w.wait(func() bool { return k.w.ended == 2 })
	if got, want := k.asked(t), "user: begin\nassistant: first\n"+noted("job1 ended"); got != want {
		t.Errorf("the model was given\n%s\nwant\n%s", got, want)
	}
	n.say(false, jobNote("job2 ended"))
	k.restart(t) // the tools live on in this test, as nothing of theirs is lost
	send(t, k.s, "k2", "go on")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got, want := k.asked(t), noted("job1 ended")+"\nassistant: I look\n"+noted("job2 ended")+"\nuser: go on"; !strings.HasSuffix(got, want) {
		t.Errorf("the model was given\n%s\nwant at the end\n%s", got, want)
	}
	if got := noteEntries(k.w); len(got) != 2 {
		t.Errorf("the log holds the notes %q", got)
	}
}

// What happens while a turn runs reaches it with its next call, behind the result.
func TestNotesReachTheRunningTurn(t *testing.T) {
	n := &noting{}
	n.Fixed = agent.Fixed{List: []agent.Tool{sayingTool{n}}}
	k := notingTalk(t, n, modeltest.Calls(modeltest.Call("c", "echo", `{}`)), modeltest.Say("done"))
	send(t, k.s, "k1", "begin")
	k.w.wait(func() bool { return k.w.ended == 1 })
	want := "toolResult: {}<note-from-scorel>\nit ended\n</note-from-scorel>"
	if got := k.asked(t); !strings.HasSuffix(got, want) || len(k.f.deps.Models.(oneModel).model.(*modeltest.Scripted).Requests()) != 2 {
		t.Errorf("the model was given\n%s", got)
	}
}

// sayingTool is an echo during which a job ends.
type sayingTool struct{ n *noting }

func (s sayingTool) Spec() agent.ToolSpec                       { return echoTool{}.Spec() }
func (s sayingTool) Risk() agent.Risk                           { return agent.RiskRead }
func (s sayingTool) Describe(call agent.Call) agent.Description { return echoTool{}.Describe(call) }
func (s sayingTool) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	s.n.say(true, jobNote("it ended"))
	return echoTool{}.Run(ctx, call, progress)
}

// A turn that no one requested has at most the permissions of the client that may have caused it.
func TestAWokenTurnIsBoundToo(t *testing.T) {
	n := &noting{Fixed: agent.Fixed{List: []agent.Tool{echoTool{agent.RiskWrite}}}}
	k := notingTalk(t, n, modeltest.Say("first"), modeltest.Calls(modeltest.Call("c", "echo", `{}`)), modeltest.Say("done"))
	if err := k.s.SetMode(t.Context(), "host", api.ModeBypass); err != nil {
		t.Fatal(err)
	}
	if _, err := k.s.SendPromptUpTo(t.Context(), "cli_x", api.ModeAsk, api.SendPromptRequest{ClientKey: "k1", Text: "begin"}); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.ended == 1 })
	n.say(true, jobNote("job1 ended"))
	k.w.wait(func() bool { return len(k.w.live.Approvals) == 1 })
	id := read(k.w, func() string { return k.w.live.Approvals[0].ID })
	if _, err := k.s.AnswerApproval(t.Context(), "cli_x", api.AnswerApprovalRequest{ApprovalID: id, Decision: api.DecisionDeny}); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.ended == 2 })
}

// Jobs that begin turns that begin jobs come to an end.
func TestWakesAreBounded(t *testing.T) {
	n := &noting{}
	steps := []modeltest.Step{modeltest.Say("first")}
	for range 10 {
		steps = append(steps, modeltest.Say("again"))
	}
	k := notingTalk(t, n, append(steps, modeltest.Say("asked"))...)
	send(t, k.s, "k1", "begin")
	for i := range 10 {
		k.w.wait(func() bool { return k.w.ended == i+1 })
		n.say(true, jobNote("ended"))
	}
	k.w.wait(func() bool { return k.w.ended == 11 })
	n.say(true, jobNote("ended"))
	send(t, k.s, "k2", "a person")
	k.w.wait(func() bool { return k.w.ended == 12 })
	if got := k.asked(t); !strings.HasSuffix(got, noted("ended")+"\nuser: a person") {
		t.Errorf("the model was given\n%s", got)
	}
}

// The tools learn of a cancel before the turn ends, and it wakes no session.
func TestToolsLearnOfACancel(t *testing.T) {
	n := &noting{}
	k := notingTalk(t, n, modeltest.Step{Content: session.Content{session.Text("half")}, Stall: true}, modeltest.Say("next"))
	send(t, k.s, "k1", "begin")
	k.w.wait(func() bool { return len(k.w.live.Partial) == 1 && k.w.live.Partial[0].Text == "half" })
	n.say(true, jobNote("ended"))
	turnID := read(k.w, func() string { return k.w.live.Turn.TurnID })
	if _, err := k.s.CancelTurn(t.Context(), turnID); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.ended == 1 })
	n.mu.Lock()
	canceled := n.canceled
	n.mu.Unlock()
	if canceled != 1 {
		t.Errorf("notified %d times", canceled)
	}
	send(t, k.s, "k2", "go on")
	k.w.wait(func() bool { return k.w.ended == 2 })
	if got := k.asked(t); !strings.HasSuffix(got, "assistant: half\n"+noted("ended")+"\nuser: go on") {
		t.Errorf("the model was given\n%s", got)
	}
}

// What must not be forgotten stands behind a compaction; files whose notes it took away
// may be shown again.
func TestNotesAfterACompaction(t *testing.T) {
	n := &noting{open: []session.Note{{Kind: session.NoteTodos, Text: "- [>] a. task"}}}
	k := notingTalk(t, n, modeltest.Say("first"), modeltest.Say("second"), modeltest.Say("third"))
	k.f.deps.Summaries.KeepTokens = 4
	k.restart(t)
	n.say(false, session.Note{Kind: session.NoteInstructions, Text: "rules", Paths: []string{"/p/AGENTS.md"}})
	send(t, k.s, "k1", "question one which is long enough to be left out")
	k.w.wait(func() bool { return k.w.ended == 1 })
	send(t, k.s, "k2", "question two")
	k.w.wait(func() bool { return k.w.ended == 2 })
	if got := n.seen(); got != "/p/AGENTS.md" {
		t.Errorf("in the second turn the files %q were shown", got)
	}
	if _, err := k.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: "c"}); err != nil {
		t.Fatal(err)
	}
	k.w.wait(func() bool { return k.w.live.Work == nil && len(k.w.entries) > 0 && len(noteEntriesLocked(k.w)) == 2 })
	k.restart(t)
	send(t, k.s, "k3", "question three")
	k.w.wait(func() bool { return k.w.ended == 1 })
	if got := k.asked(t); !strings.HasSuffix(got, noted("- [>] a. task")+"\nuser: question three") || strings.Contains(got, "rules") {
		t.Errorf("the model was given\n%s", got)
	}
	if got := n.seen(); got != "" {
		t.Errorf("after the compaction the files %q count as shown", got)
	}
}

func noteEntriesLocked(w *watcher) (list []session.Entry) {
	for _, e := range w.entries {
		if e.Type == session.TypeCustomMessage {
			list = append(list, e)
		}
	}
	return list
}
