package backend

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// toolCall is a call of the agent.
type toolCall struct {
	id     string // in the log; the agent's own may occur again
	number int
	acp    acp.ToolCall
	logged bool // its message is in the log
	ended  bool // its result is in the log
	shown  string
}

// ToolPrefix begins the names of tools of other programs; the kind follows.
const ToolPrefix = "acp_"

// name is the name of the tool in the log: that of its kind, since the vendor's own may be that
// of one of scorel's tools with other arguments. The arguments have the vendor's.
func (c *toolCall) name() string {
	switch c.acp.Kind {
	case acp.ToolRead, acp.ToolEdit, acp.ToolDelete, acp.ToolMove, acp.ToolSearch, acp.ToolExecute, acp.ToolThink, acp.ToolFetch, acp.ToolSwitchMode:
		return ToolPrefix + c.acp.Kind
	}
	return ToolPrefix + acp.ToolOther
}

// callArguments are the arguments of a call in the log.
type callArguments struct {
	Title     string          `json:"title,omitempty"`
	Tool      string          `json:"tool,omitempty"` // the vendor's name
	Locations []acp.Location  `json:"locations,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// arguments are what is known of the call when its message is written. What changes later is in
// the details of its result.
func (c *toolCall) arguments() json.RawMessage {
	args := callArguments{Title: clip(c.acp.Title, MaxRecord), Tool: clip(c.acp.Name, 256), Locations: c.acp.Locations, Input: storable(c.acp.RawInput)}
	if len(args.Locations) > 100 {
		args.Locations = args.Locations[:100]
	}
	return asObject(args)
}

// storable returns JSON that the log can hold: not too deep, and not too long, or a text that
// says so.
func storable(data json.RawMessage) json.RawMessage {
	switch {
	case len(data) == 0 || string(data) == "null":
		return nil
	case len(data) > MaxResult:
		return asObject(clip(string(data), MaxResult))
	case exactjson.DeeperThan(data, exactjson.MaxDepth-8):
		return asObject(string(data))
	}
	return data
}

// errTooWide is why a turn ended whose agent began calls without end.
var errTooWide = fmt.Errorf("the agent ran more than %d tool calls at once and was ended", MaxOpenCalls)

// tool takes a call, or a change of one.
func (t *transcript) tool(ctx context.Context, change acp.ToolCall) error {
	call, known := t.calls[change.ID]
	if known && call.ended {
		return t.late(ctx, change)
	}
	if !known {
		var err error
		if call, err = t.begin(ctx, change); err != nil {
			return err
		}
	} else {
		call.acp.Apply(change)
	}
	if err := t.spend(len(change.Title) + len(change.RawInput) + len(change.RawOutput) + contentSize(change.Content)); err != nil {
		return err
	}
	if call.acp.Status != "" && call.acp.Status != acp.ToolPending && !call.logged {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	if call.logged {
		call.output(t.turn.Sink)
	}
	if call.acp.Ended() {
		return t.result(ctx, call, false)
	}
	return nil
}

func contentSize(content []acp.ToolContent) (size int) {
	for _, c := range content {
		size += len(c.Raw)
	}
	return size
}

// begin adds a call to the message that is being written.
func (t *transcript) begin(ctx context.Context, made acp.ToolCall) (*toolCall, error) {
	t.made++
	switch {
	case t.made > t.mostCalls:
		return nil, fmt.Errorf("the agent made more than %d tool calls in one turn and was ended", t.mostCalls)
	case t.open >= MaxOpenCalls:
		return nil, errTooWide
	}
	if t.size > MaxMessage {
		if err := t.flush(ctx); err != nil {
			return nil, err
		}
	}
	call := &toolCall{id: callID(), number: t.made, acp: made}
	t.calls[made.ID] = call
	t.open++
	t.pending = append(t.pending, call)
	t.block(session.Block{Type: session.BlockToolCall, ID: call.id, Name: call.name()})
	return call, nil
}

func callID() string { return "acp_" + strings.ToLower(rand.Text()[:16]) }

// late keeps what an agent says of a call after its end.
func (t *transcript) late(ctx context.Context, change acp.ToolCall) error {
	raw, err := session.Encode(change)
	if err != nil {
		return fmt.Errorf("encoding an update: %w", err)
	}
	return t.unknown(ctx, acp.UpdateToolChange, raw)
}

// output publishes what the call shows besides what was published.
func (c *toolCall) output(sink agent.Sink) {
	text := contentText(c.acp.Content)
	if text == c.shown {
		return
	}
	delta := text
	if strings.HasPrefix(text, c.shown) {
		delta = text[len(c.shown):]
	}
	c.shown = text
	for len(delta) > 0 {
		piece := delta[:min(len(delta), maxDelta)]
		if len(piece) < len(delta) {
			if piece = strings.ToValidUTF8(piece, ""); piece == "" {
				piece = delta[:maxDelta]
			}
		}
		delta = delta[len(piece):]
		sink.Emit(api.ToolOutput{ToolCallID: c.id, Delta: strings.ToValidUTF8(piece, "\uFFFD")})
	}
}

// resultDetails are the details of a result: the call as the agent described it last.
type resultDetails struct {
	ACP json.RawMessage `json:"acp,omitempty"`
	// Cut is true if the call was too long to be kept as a whole.
	Cut bool `json:"cut,omitempty"`
}

// result writes the result of a call. interrupted says that the agent did not report one.
func (t *transcript) result(ctx context.Context, call *toolCall, interrupted bool) error {
	if !call.logged {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	call.ended = true
	t.open--
	isError := interrupted || call.acp.Status == acp.ToolFailed
	message := session.Message{
		Role: session.RoleToolResult, ToolCallID: call.id, ToolName: call.name(), Content: call.content(interrupted),
		Details: call.details(), IsError: &isError, Timestamp: time.Now().UnixMilli(),
	}
	if err := t.turn.Journal.Append(context.WithoutCancel(ctx), message); err != nil {
		return fmt.Errorf("the last step of this turn was not saved: %w", err)
	}
	if t.turn.After != nil && !interrupted {
		t.turn.After(ctx, agent.Call{ID: call.id, Name: call.name(), Arguments: call.arguments(), Cwd: t.turn.Cwd}, agent.Result{
			Content: message.Content, Details: message.Details, IsError: isError,
		})
	}
	call.acp, call.shown = acp.ToolCall{ID: call.acp.ID}, "" // the log has it
	return nil
}

// content is the result as models and people read it.
func (c *toolCall) content(interrupted bool) session.Content {
	text := contentText(c.acp.Content)
	if text == "" {
		text = outputText(c.acp.RawOutput)
	}
	content := session.Content{}
	for _, shown := range c.acp.Content {
		if block := shown.Content; block != nil && block.Type == acp.BlockImage && len(block.Data) <= MaxMessage {
			content = append(content, session.Block{Type: session.BlockImage, Data: block.Data, MimeType: block.MimeType})
		}
	}
	if interrupted {
		text = strings.TrimSpace(text + "\n[The agent reported no result before the turn ended.]")
	}
	if text != "" || len(content) == 0 {
		content = append(session.Content{session.Text(clip(text, MaxResult))}, content...)
	}
	return content
}

func (c *toolCall) details() json.RawMessage {
	kept := c.acp
	for i := range kept.Content { // pictures are in the content
		if block := kept.Content[i].Content; block != nil && block.Type == acp.BlockImage {
			kept.Content = append([]acp.ToolContent(nil), kept.Content...)
			kept.Content[i] = acp.Shown(acp.Text("[image]"))
		}
	}
	encoded, err := session.Encode(kept)
	cut := err != nil || len(encoded) > MaxResult || exactjson.DeeperThan(encoded, exactjson.MaxDepth-8)
	if cut {
		kept.RawInput, kept.RawOutput, kept.Meta, kept.Content = nil, nil, nil, nil
		kept.Title = clip(kept.Title, MaxRecord)
		if kept.Locations = kept.Locations[:min(len(kept.Locations), 100)]; err == nil {
			encoded, err = session.Encode(kept)
		}
	}
	if err != nil || len(encoded) > MaxResult {
		return nil
	}
	return asObject(resultDetails{ACP: encoded, Cut: cut})
}

// contentText is what a call shows as text.
func contentText(content []acp.ToolContent) string {
	var parts []string
	for _, c := range content {
		switch {
		case c.Type == acp.ToolContentDiff:
			parts = append(parts, diffText(c))
		case c.Type == acp.ToolContentBlock && c.Content != nil && c.Content.Type != acp.BlockImage:
			text, _ := textOf(*c.Content)
			parts = append(parts, text)
		case c.Type == acp.ToolContentTerminal:
			parts = append(parts, "[terminal "+c.TerminalID+"]")
		case c.Content == nil:
			parts = append(parts, clip(string(c.Raw), MaxRecord))
		}
	}
	return strings.Join(parts, "\n")
}

// maxDiffed bounds the texts that a diff is computed of, in bytes.
const maxDiffed = 256 << 10

// diffText is a change as a unified diff.
func diffText(c acp.ToolContent) string {
	old := ""
	if c.OldText != nil {
		old = *c.OldText
	}
	if len(old)+len(c.NewText) > maxDiffed {
		return fmt.Sprintf("%s: %d bytes became %d bytes", c.Path, len(old), len(c.NewText))
	}
	return udiff.Unified(c.Path, c.Path, old, c.NewText)
}

// outputText is the raw output of a tool as text: that of its usual fields, or JSON.
func outputText(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
