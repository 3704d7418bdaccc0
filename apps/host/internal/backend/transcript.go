package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

const (
	// flushEvery is how often text that arrived is published: clients get many small updates as
	// few events.
	flushEvery = 50 * time.Millisecond
	// maxDelta is how much text waits for that, in bytes.
	maxDelta = 16 << 10
	// settleTicks is how many ticks without an update a call may wait for its arguments.
	settleTicks = 20
)

// apiName is the protocol of messages that another program wrote.
const apiName = "acp"

// transcript turns the updates of an agent into messages, events and records. The goroutine of
// the turn owns it.
type transcript struct {
	turn    *agent.Turn
	backend string
	keeper  agent.Keeper

	content   session.Content // of the message that is being written
	started   bool            // it was announced
	messageID string          // of the agent, of the last block
	size      int             // of content, in bytes
	text      strings.Builder // of the last block
	published int             // how much of it was published
	pending   []*toolCall     // calls in content

	calls map[string]*toolCall // by the id of the agent
	made  int
	open  int // calls that have no result
	total int // bytes of the turn
	most  int // that it may have
	// mostCalls is how many calls it may have.
	mostCalls int

	kept    agent.Kept
	records int
	plan    []acp.PlanEntry // not written yet
	written []acp.PlanEntry
	plans   int
	usage   *acp.Usage
	summary map[string]string // of compactions, by id
	ticks   int               // without an update
	model   string
}

func newTranscript(turn *agent.Turn, backend string, keeper agent.Keeper, kept agent.Kept, most, mostCalls int) *transcript {
	return &transcript{
		turn: turn, backend: backend, most: most, mostCalls: mostCalls, keeper: keeper, kept: kept, calls: map[string]*toolCall{}, summary: map[string]string{},
		model: currentModel(kept.Options),
	}
}

// update takes one update. An error ends the turn.
func (t *transcript) update(ctx context.Context, u *acp.Update) error {
	t.ticks = 0
	switch {
	case !u.Known():
		return t.unknown(ctx, u.Kind, u.Raw)
	case u.Kind == acp.UpdateAgentChunk:
		return t.say(ctx, session.BlockText, u)
	case u.Kind == acp.UpdateThoughtChunk:
		return t.say(ctx, session.BlockThinking, u)
	case u.Kind == acp.UpdateUserChunk: // the prompt is in the log
		return nil
	case u.Tool != nil:
		return t.tool(ctx, *u.Tool)
	case u.Kind == acp.UpdatePlan:
		t.plan = u.Plan
		return nil
	case u.Kind == acp.UpdateUsage:
		t.usage = u.Usage
		return nil
	}
	return t.state(ctx, u)
}

// tick publishes what has arrived, and writes calls and plans that nothing followed for a while.
func (t *transcript) tick(ctx context.Context) error {
	t.publish()
	if t.ticks++; t.ticks < settleTicks {
		return nil
	}
	if err := t.writePlan(ctx); err != nil || len(t.pending) == 0 {
		return err
	}
	return t.flush(ctx)
}

// say adds a chunk of a message.
func (t *transcript) say(ctx context.Context, kind session.BlockType, u *acp.Update) error {
	text, whole := textOf(*u.Content)
	if !whole {
		if err := t.unknown(ctx, u.Kind, u.Raw); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	if err := t.spend(len(text)); err != nil {
		return err
	}
	if len(t.pending) > 0 || t.size > MaxMessage {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	for len(text) > 0 {
		piece := visible.Head(text, MaxMessage)
		t.add(kind, u.MessageID, piece)
		if text = text[len(piece):]; text != "" {
			if err := t.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds text to the last block, or begins one: another message of the agent is another block.
func (t *transcript) add(kind session.BlockType, messageID, text string) {
	last := len(t.content) - 1
	if last < 0 || t.content[last].Type != kind || messageID != "" && messageID != t.messageID {
		t.block(session.Block{Type: kind})
	}
	t.messageID = messageID
	t.size += len(text)
	if t.text.WriteString(text); t.text.Len()-t.published > maxDelta {
		t.publish()
	}
}

// close completes the last block.
func (t *transcript) close() {
	t.publish()
	if t.text.Len() > 0 {
		last := &t.content[len(t.content)-1]
		if last.Type == session.BlockThinking {
			last.Thinking = t.text.String()
		} else {
			last.Text = t.text.String()
		}
	}
	t.text.Reset()
	t.published = 0
}

// block begins a block of the message.
func (t *transcript) block(block session.Block) {
	t.close()
	if !t.started {
		t.started = true
		t.turn.Sink.Emit(api.MessageStarted{})
	}
	t.content = append(t.content, block)
	t.turn.Sink.Emit(api.BlockStarted{Index: len(t.content) - 1, Block: block.Type, ID: block.ID, Name: block.Name})
}

// publish sends the text that has arrived to those who watch.
func (t *transcript) publish() {
	if t.text.Len() == t.published {
		return
	}
	t.turn.Sink.Emit(api.BlockDelta{Index: len(t.content) - 1, Delta: t.text.String()[t.published:]})
	t.published = t.text.Len()
}

// spend counts what the turn produces.
func (t *transcript) spend(bytes int) error {
	if t.total += bytes; t.total > t.most {
		return fmt.Errorf("the agent produced more than %d MiB in one turn and was ended", t.most>>20)
	}
	return nil
}

// flush writes the message so far, and announces its calls. The turn continues after it, so the
// stop reason is that of a call even if there is none: after a kill, the host then ends the turn.
func (t *transcript) flush(ctx context.Context) error {
	return t.write(ctx, session.StopToolUse, "")
}

func (t *transcript) write(ctx context.Context, reason session.StopReason, why string) error {
	t.close()
	if len(t.content) == 0 && reason != session.StopEnd {
		return nil
	}
	for _, call := range t.pending {
		index := slices.IndexFunc(t.content, func(b session.Block) bool { return b.ID == call.id })
		t.content[index].Arguments = call.arguments()
		t.turn.Sink.Emit(api.BlockDelta{Index: index, Delta: string(t.content[index].Arguments)})
	}
	message := session.Message{
		Role: session.RoleAssistant, Content: t.content, API: apiName, Provider: t.backend, Model: t.model, Usage: &session.Usage{},
		StopReason: reason, ErrorMessage: why, Timestamp: time.Now().UnixMilli(),
	}
	if reason != session.StopToolUse {
		t.charge(message.Usage)
	}
	calls := t.pending
	t.content, t.pending, t.started, t.messageID, t.size = nil, nil, false, "", 0
	if err := t.turn.Journal.Append(context.WithoutCancel(ctx), message); err != nil {
		return fmt.Errorf("the last step of this turn was not saved: %w", err)
	}
	for _, call := range calls {
		call.logged = true
		t.turn.Sink.Emit(api.ToolStarted{ToolCallID: call.id, ToolName: call.name()})
		call.output(t.turn.Sink)
	}
	return nil
}

// charge adds what the agent says that its session costs. It says nothing of the tokens of its
// calls, so the usage is partial.
func (t *transcript) charge(usage *session.Usage) {
	usage.Partial = true
	if t.usage == nil {
		return
	}
	usage.Input, usage.TotalTokens = int(t.usage.Used), int(t.usage.Used)
	if cost := t.usage.Cost; cost != nil && cost.Currency == "USD" && cost.Amount != t.kept.Cost {
		if usage.Cost.Total = cost.Amount - t.kept.Cost; cost.Amount < t.kept.Cost { // the agent started counting again
			usage.Cost.Total = max(cost.Amount, 0)
		}
		t.kept.Cost = cost.Amount
	}
}

// end writes the rest of the turn: what was being said, a result for every call that has none,
// and a last message, which every turn has.
func (t *transcript) end(ctx context.Context, outcome agent.Outcome) error {
	err := t.writePlan(ctx)
	if len(t.pending) > 0 {
		err = errors.Join(err, t.flush(ctx))
	}
	for _, call := range t.unanswered() {
		err = errors.Join(err, t.result(ctx, call, true))
	}
	if t.usage != nil {
		record := session.BackendRecord{Kind: session.BackendUsage, Used: t.usage.Used, Size: t.usage.Size}
		if cost := t.usage.Cost; cost != nil {
			record.Cost, record.Currency = cost.Amount, cost.Currency
		}
		err = errors.Join(err, t.keeper.Keep(context.WithoutCancel(ctx), record))
	}
	return errors.Join(err, t.write(ctx, outcome.StopReason, outcome.Error))
}

// unanswered returns the calls without a result in the order in which they were made.
func (t *transcript) unanswered() (calls []*toolCall) {
	for _, call := range t.calls {
		if !call.ended {
			calls = append(calls, call)
		}
	}
	slices.SortFunc(calls, func(a, b *toolCall) int { return a.number - b.number })
	return calls
}

// textOf returns a block as text; whole is false if that is not all of it.
func textOf(block acp.ContentBlock) (text string, whole bool) {
	switch block.Type {
	case acp.BlockText:
		return block.Text, true
	case acp.BlockResourceLink:
		return fmt.Sprintf("[%s](%s)", block.Name, block.URI), true
	case acp.BlockResource:
		if block.Resource != nil && block.Resource.Text != "" {
			return fmt.Sprintf("%s:\n%s", block.Resource.URI, block.Resource.Text), true
		}
	}
	return fmt.Sprintf("[%s]", block.Type), false
}

// asObject returns JSON as the arguments of a call need it.
func asObject(v any) json.RawMessage {
	encoded, err := session.Encode(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return encoded
}
