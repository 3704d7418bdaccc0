package editors

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// view is what the editor has been sent of a session. It sends the difference to what the session
// is, so that nothing is sent twice, however often the connection was made again.
type view struct {
	o       *open
	live    api.Live
	lastSeq uint64          // of the last entry that was sent
	known   map[string]bool // entries without a seq that were sent
	said    []saying        // blocks of the message that streams
	message int             // number of that message
	calls   map[string]bool // tool calls that were sent
	outputs map[string]sentOutput
	asked   map[string]*asking // approvals and questions that the editor was asked
	stop    session.StopReason // of the last message of the model
	wrong   string             // its error
}

// saying is a block that streams: what was sent of it.
type saying struct {
	kind session.BlockType
	text string
}

type sentOutput struct {
	text string
	at   time.Time
}

// outputEvery is how often the output of a running tool is sent: each time all of it.
const outputEvery = 300 * time.Millisecond

func newView(o *open) view {
	return view{
		o: o, live: api.NewLive(), known: map[string]bool{}, calls: map[string]bool{}, outputs: map[string]sentOutput{},
		asked: map[string]*asking{},
	}
}

// isNew reports whether an entry was not sent, and notes it.
func (v *view) isNew(e session.Entry) bool {
	if e.Seq == 0 {
		old := v.known[e.ID]
		v.known[e.ID] = true
		return !old
	}
	if e.Seq <= v.lastSeq {
		return false
	}
	v.lastSeq = e.Seq
	return true
}

// skip notes entries that the editor does not want.
func (v *view) skip(entries []session.Entry) {
	for _, e := range entries {
		v.isNew(e)
	}
}

// skipLive does the same for a message that streams already.
func (v *view) skipLive() {
	for _, block := range v.live.Partial {
		v.said = append(v.said, saying{block.Type, block.Text})
	}
	v.questions()
}

// entries sends entries that are new.
func (v *view) entries(entries []session.Entry) {
	for _, e := range entries {
		if v.isNew(e) {
			v.entry(e)
		}
	}
}

func (v *view) entry(e session.Entry) {
	switch e.Type {
	case session.TypeMessage:
		if m, ok := e.AsMessage(); ok {
			v.turnMessage(m)
		}
	case session.TypeCompaction, session.TypeBranchSummary:
		v.notice("Earlier messages were summarized.")
	case session.TypeCustom:
		c, ok := e.AsCustom()
		if ok && c.CustomType == session.CustomQueue {
			v.removed(c.Data)
		}
		if ok && c.CustomType == session.CustomBackend {
			v.backendSaid(c.Data)
		}
	}
}

// removed ends prompts that someone took from the queue.
func (v *view) removed(data json.RawMessage) {
	var q session.Queue
	if json.Unmarshal(data, &q) != nil {
		return
	}
	for _, key := range q.Removed {
		v.o.end(key, promptEnd{reason: acp.StopCancelled})
	}
}

// notice tells people something that is not part of the conversation.
func (v *view) notice(text string) {
	if capable := v.o.s.capabilities().Session; capable != nil && capable.Notices != nil {
		v.o.send(acp.Update{Kind: acp.UpdateNotice, Notice: &acp.Notice{Severity: "info", Title: text}})
	}
}

func (v *view) turnMessage(m session.MessageEntry) {
	id := "msg_" + strconv.Itoa(v.message)
	switch m.Message.Role {
	case session.RoleUser:
		v.prompt(m, id)
	case session.RoleAssistant:
		v.answer(m.Message, id)
	case session.RoleToolResult:
		v.result(m.Message)
	}
}

// prompt sends a message of the user, unless this editor wrote it and shows it already.
func (v *view) prompt(m session.MessageEntry, id string) {
	v.o.seen(m.ClientKey)
	v.o.mu.Lock()
	own := v.o.prompts[m.ClientKey] != nil
	v.o.mu.Unlock()
	if own {
		return
	}
	v.message++
	for _, block := range m.Message.Content {
		switch {
		case block.Type == session.BlockText:
			v.chunk(acp.UpdateUserChunk, id, block.Text)
		case block.Type == session.BlockImage && block.Data != "":
			content := acp.Image(block.MimeType, block.Data)
			v.o.send(acp.Update{Kind: acp.UpdateUserChunk, MessageID: id, Content: &content})
		case block.Type == session.BlockImage:
			v.chunk(acp.UpdateUserChunk, id, "[image "+block.MimeType+"]")
		}
	}
}

func (v *view) chunk(kind, id, text string) {
	if text == "" {
		return
	}
	content := acp.Text(text)
	v.o.send(acp.Update{Kind: kind, MessageID: id, Content: &content})
}

// answer sends what a complete message of the model has besides what was streamed of it.
func (v *view) answer(m session.Message, id string) {
	for i, block := range m.Content {
		switch block.Type {
		case session.BlockText:
			v.grow(i, session.BlockText, block.Text, id)
		case session.BlockThinking:
			v.grow(i, session.BlockThinking, block.Thinking, id)
		case session.BlockToolCall:
			v.call(block)
		}
	}
	v.stop, v.wrong = m.StopReason, m.ErrorMessage
	v.said = nil
	v.message++
	v.usage(m)
}

// grow sends the rest of a block. If what was sent before is not its beginning, as after an
// attempt that failed, all of it is sent.
func (v *view) grow(index int, kind session.BlockType, text, id string) {
	for len(v.said) <= index {
		v.said = append(v.said, saying{kind: kind})
	}
	said := &v.said[index]
	rest, ok := strings.CutPrefix(text, said.text)
	if said.kind != kind || !ok {
		rest = text
	}
	said.kind, said.text = kind, text
	update := acp.UpdateAgentChunk
	if kind == session.BlockThinking {
		update = acp.UpdateThoughtChunk
	}
	v.chunk(update, id, rest)
}

// event notes what no state tells.
func (v *view) event(event api.Event) {
	switch e := event.(type) {
	case api.MessageReset: // what streams next is another attempt
		if len(v.said) > 0 {
			v.said = nil
			v.message++
		}
		v.notice("The request to the model failed and is repeated: " + e.Reason)
	case api.ToolStarted:
		v.o.send(acp.Update{Kind: acp.UpdateToolChange, Tool: &acp.ToolCall{ID: e.ToolCallID, Status: acp.ToolInProgress}})
	case api.ApprovalResolved:
		v.decided(e)
	}
}

// sync sends what the state of the session has and the editor does not.
func (v *view) sync() {
	id := "msg_" + strconv.Itoa(v.message)
	for i, block := range v.live.Partial {
		switch block.Type {
		case session.BlockText, session.BlockThinking:
			v.grow(i, block.Type, wholeRunes(block.Text), id)
		case session.BlockToolCall:
			v.begun(block)
		}
	}
	for _, tool := range v.live.Tools {
		v.output(tool)
	}
	v.questions()
}

// wholeRunes leaves out an incomplete character at the end.
func wholeRunes(text string) string {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return text[:len(text)-n]
			}
			break
		}
	}
	return text
}

// output sends the output of a running tool, not too often.
func (v *view) output(tool api.RunningTool) {
	sent := v.outputs[tool.ToolCallID]
	if tool.Output == sent.text || time.Since(sent.at) < outputEvery {
		return
	}
	v.outputs[tool.ToolCallID] = sentOutput{tool.Output, time.Now()}
	v.o.send(acp.Update{Kind: acp.UpdateToolChange, Tool: &acp.ToolCall{
		ID: tool.ToolCallID, Status: acp.ToolInProgress, Content: []acp.ToolContent{acp.Shown(acp.Text(tool.Output))},
	}})
}

// usage sends how full the context is.
func (v *view) usage(m session.Message) {
	if m.Usage == nil || m.Usage.TotalTokens == 0 {
		return
	}
	info, err := v.o.s.hostInfo(v.o.ctx)
	if err != nil {
		return
	}
	summary := v.o.current()
	at := slices.IndexFunc(info.Models, func(model api.Model) bool { return model.Name == summary.Model })
	if at < 0 || info.Models[at].ContextWindow == 0 {
		return
	}
	usage := &acp.Usage{Used: int64(m.Usage.TotalTokens), Size: int64(info.Models[at].ContextWindow)}
	v.o.send(acp.Update{Kind: acp.UpdateUsage, Usage: usage})
}

// endOf returns how the turn of a prompt ended that ended while there was no connection.
func (v *view) endOf(string) promptEnd {
	return endOf(api.TurnEnded{StopReason: v.stop, Error: v.wrong})
}

// commands sends what a prompt can begin with.
func (v *view) commands() {
	if v.o.current().Backend != "" {
		v.backendCommands()
		return
	}
	commands := []acp.Command{{
		Name: "compact", Description: "Summarize older messages", Input: &acp.CommandInput{Hint: "what the summary should focus on"},
	}}
	list, err := do(v.o.ctx, v.o.s, api.ListSkills, api.ListSkillsRequest{ProjectID: v.o.current().ProjectID})
	if err != nil {
		v.o.s.cfg.Logger.Warn("listing skills", "error", err)
	}
	for _, skill := range list.Skills {
		if !skill.Disabled {
			commands = append(commands, acp.Command{Name: skill.Name, Description: skill.Description, Input: &acp.CommandInput{Hint: "what it should do"}})
		}
	}
	v.o.send(acp.Update{Kind: acp.UpdateCommands, Commands: commands})
}
