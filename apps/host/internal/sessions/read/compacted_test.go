package read

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestContextAfterCompaction makes random sessions and compacts them again and
// again: what the model is given then is smaller, is what a strict provider takes,
// ends as before, and holds no result without its call.
func TestContextAfterCompaction(t *testing.T) {
	compacted := 0
	for seed := range uint64(80) {
		w := &writer{t: t, random: rand.New(rand.NewPCG(seed, 7)), w: session.NewWriter(session.NewTree(nil))}
		for range 1 + w.random.IntN(3) {
			for range 1 + w.random.IntN(5) {
				w.turn()
			}
			if w.compact() {
				compacted++
			}
		}
	}
	if compacted < 80 {
		t.Errorf("only %d compactions were made", compacted)
	}
}

type writer struct {
	t      *testing.T
	random *rand.Rand
	w      *session.Writer
}

func (w *writer) stamp() session.Stamp {
	return session.Stamp{ID: fmt.Sprintf("e%d", len(w.w.Tree().Entries())), Timestamp: "2026-01-02T03:04:05.678Z"}
}

func (w *writer) message(steer bool, m session.Message) {
	raw, err := session.Encode(m)
	stamp := w.stamp()
	if steer {
		stamp.Extra = []byte(`{"turnId":"t","steer":true}`)
	}
	if err == nil {
		_, err = w.w.Message(stamp, raw)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *writer) text() session.Content {
	return session.Content{session.Text(strings.Repeat("word ", 1+w.random.IntN(300)))}
}

// turn writes a prompt, some calls with their results, steers among them, and most
// often an answer.
func (w *writer) turn() {
	w.message(false, session.Message{Role: session.RoleUser, Content: w.text(), Timestamp: 1})
	for step := range w.random.IntN(4) {
		var calls session.Content
		for n := range 1 + w.random.IntN(3) {
			calls = append(calls, modeltest.Call(fmt.Sprintf("c%d_%d", step, n), "echo", `{}`))
		}
		w.message(false, session.Message{Role: session.RoleAssistant, Content: calls, StopReason: session.StopToolUse, Timestamp: 1})
		for _, call := range calls {
			w.message(false, session.Message{Role: session.RoleToolResult, ToolCallID: call.ID, ToolName: "echo", Content: w.text(), Timestamp: 1})
		}
		if w.random.IntN(4) == 0 {
			w.message(true, session.Message{Role: session.RoleUser, Content: w.text(), Timestamp: 1})
		}
	}
	switch w.random.IntN(6) {
	case 0:
		w.message(false, session.Message{Role: session.RoleAssistant, StopReason: session.StopError, ErrorMessage: "x", Timestamp: 1})
	case 1: // the host stopped
	default:
		w.message(false, session.Message{Role: session.RoleAssistant, Content: w.text(), StopReason: session.StopEnd, Timestamp: 1})
	}
}

func (w *writer) compact() bool {
	t, tree := w.t, w.w.Tree()
	plan, ok := compact.Prepare(tree, 50+w.random.IntN(1500))
	if !ok {
		return false
	}
	before, last := compact.Tokens(tree), lastPlain(Context(tree).Messages)
	_, err := w.w.Compaction(w.stamp(), session.Compaction{
		Summary: plan.Extract(), FirstKeptEntryID: plan.FirstKept, TokensBefore: plan.TokensBefore,
	})
	if err != nil {
		t.Fatal(err)
	}
	messages := Context(tree).Messages
	if after := compact.Tokens(tree); after >= before {
		t.Fatalf("%d tokens became %d", before, after)
	}
	if got := lastPlain(messages); got != last {
		t.Fatalf("the last message was %.60q and is %.60q", last, got)
	}
	prompt := session.Message{Role: session.RoleUser, Content: session.Content{session.Text("go on")}, Timestamp: 2}
	request := agent.Request{Messages: agent.RepairMessages(append(messages, prompt))}
	if err := modeltest.Check(request); err != nil {
		t.Fatalf("a strict provider refuses it: %v", err)
	}
	return true
}

func lastPlain(messages []session.Message) string {
	return messages[len(messages)-1].Content.Plain()
}
