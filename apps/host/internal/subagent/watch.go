package subagent

import (
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// watch follows one task in its session. It implements sessions.Subscriber.
type watch struct {
	key     string        // clientKey of the prompt
	changed chan struct{} // holds one token if there is something to look at

	mu      sync.Mutex
	now     progress
	news    bool          // now changed since the last call of state
	reports []api.Process // changed operations of the subagent, each once
	records []session.ProcessRecord
}

// progress is how far a task has progressed.
type progress struct {
	turnID    string
	queued    bool // the prompt was seen in the queue
	begun     bool
	ended     bool
	stop      session.StopReason
	errorText string
	text      string // the subagent's latest text
	doing     string // name of a running tool
	tools     []api.RunningTool
	approvals []api.Approval
	decided   []api.ApprovalDecision // the latest, oldest first
	done      session.SubagentWork
}

func newWatch(key string) *watch { return &watch{key: key, changed: make(chan struct{}, 1)} }

// state returns the progress of the task, and whether it is news for watchers of the batch.
func (w *watch) state() (now progress, news bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now, news = w.now, w.news
	w.news = false
	now.approvals, now.decided = slices.Clone(now.approvals), slices.Clone(now.decided)
	return now, news
}

// Away implements sessions.Subscriber: a task is followed until its end.
func (*watch) Away() bool { return false }

// May implements sessions.Subscriber. A task answers nothing: it subscribes without grants.
func (*watch) May(api.Grant) bool { return false }

// Deliver implements sessions.Subscriber.
func (w *watch) Deliver(envelope api.EventEnvelope, _ []byte) {
	w.mu.Lock()
	fresh := w.now.apply(w.key, envelope.Event)
	w.news = w.news || fresh
	if e, ok := envelope.Event.(api.ProcessChanged); ok {
		w.reports, fresh = changed(w.reports, e.Process), true
	}
	if e, ok := envelope.Event.(api.EntryAppended); ok {
		if record, ok := e.Entry.AsProcess(); ok {
			w.records, fresh = append(w.records, record), true
		}
	}
	w.mu.Unlock()
	if fresh {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// apply applies an event and reports whether it matters to watchers of the batch.
func (p *progress) apply(key string, event api.Event) bool {
	switch e := event.(type) {
	case api.TurnStarted:
		if e.Turn.ClientKey == key {
			p.begun, p.turnID = true, e.Turn.TurnID
		}
		return false
	case api.QueueChanged:
		waits := slices.ContainsFunc(e.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == key })
		if p.queued && !waits && !p.begun { // someone removed it from the queue
			p.ended, p.stop = true, session.StopAborted
		}
		p.queued = p.queued || waits
		return p.ended
	case api.EntryAppended:
		return p.entry(e.Entry)
	case api.ToolStarted:
		p.tools = append(p.tools, api.RunningTool{ToolCallID: e.ToolCallID, ToolName: e.ToolName})
		p.doing = e.ToolName
	case api.ApprovalRequested:
		p.approvals = append(p.approvals, e.Approval)
	case api.ApprovalResolved:
		p.approvals = slices.DeleteFunc(p.approvals, func(a api.Approval) bool { return a.ID == e.ApprovalID })
		p.decide(e)
	case api.TurnEnded:
		if e.ClientKey != key {
			return false
		}
		p.ended, p.stop, p.errorText, p.approvals, p.doing = true, e.StopReason, e.Error, nil, ""
	default:
		return false
	}
	return p.begun
}

// maxDecided bounds the decisions of a subagent that its watchers are shown.
const maxDecided = 8

// decide keeps a decision for the people who watch the batch: the log that has it is that of
// another session.
func (p *progress) decide(e api.ApprovalResolved) {
	p.decided = append(p.decided, api.ApprovalDecision{ApprovalID: e.ApprovalID, Decision: e.Decision, DecidedBy: e.DecidedBy, Released: e.Released})
	if extra := len(p.decided) - maxDecided; extra > 0 {
		p.decided = slices.Delete(p.decided, 0, extra)
	}
}

// entry applies the subagent's messages and tool results.
func (p *progress) entry(entry session.Entry) bool {
	m, ok := entry.AsMessage()
	if !ok || p.turnID == "" || m.TurnID != p.turnID {
		return false
	}
	switch m.Message.Role {
	case session.RoleAssistant:
		p.count(entry.ID, m.Message)
		return true
	case session.RoleToolResult:
		p.tools = slices.DeleteFunc(p.tools, func(t api.RunningTool) bool { return t.ToolCallID == m.Message.ToolCallID })
		before := p.doing
		p.doing = ""
		if last := len(p.tools) - 1; last >= 0 {
			p.doing = p.tools[last].ToolName
		}
		return p.doing != before
	}
	return false
}

// count adds the text, the calls and the usage of a message.
func (p *progress) count(entryID string, m session.Message) {
	if text := m.Content.Plain(); strings.TrimSpace(text) != "" {
		p.text, p.done.AssistantMessageID = text, entryID
	}
	for _, call := range m.Content.ToolCalls() {
		p.done.ToolCallCount++
		if !slices.Contains(p.done.ToolNames, call.Name) {
			p.done.ToolNames = append(p.done.ToolNames, call.Name)
		}
	}
	if m.Usage != nil && *m.Usage != (session.Usage{}) {
		var sum session.Usage
		if p.done.Usage != nil {
			sum = *p.done.Usage
		}
		sum = sum.Plus(m.Usage)
		p.done.Usage = &sum
	}
}

// work returns the work so far, safe to hand out.
func (p progress) work() session.SubagentWork {
	work := p.done
	work.ToolNames = slices.Clone(work.ToolNames)
	if p.ended {
		work.Summary = summary(p.text)
	}
	return work
}

// maxSummary bounds the summary of a report, in characters.
const maxSummary = 300

// summary returns the first paragraph of a report on one line, without heading markers.
func summary(report string) string {
	first := ""
	for paragraph := range strings.SplitSeq(report, "\n\n") {
		if first = strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(paragraph), "# ")), " "); first != "" {
			break
		}
	}
	return visible.Shorten(first, maxSummary)
}

// outcome returns the final update of a task.
func (p progress) outcome() update {
	u := update{text: p.text, work: p.work(), decided: p.decided}
	switch p.stop {
	case session.StopAborted:
		u.state = session.ChildCancelled
	case session.StopError:
		u.state, u.errorText = session.ChildFailed, p.errorText
	case session.StopLength:
		u.state = session.ChildCompleted
		u.text += "\n\n[The report ends here because the model reached its output limit.]"
	default:
		u.state = session.ChildCompleted
	}
	return u
}
