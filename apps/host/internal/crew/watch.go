package crew

import (
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// watch follows one task in its session. It implements sessions.Subscriber.
type watch struct {
	key     string        // of the prompt
	changed chan struct{} // holds one token while something is to be looked at

	mu  sync.Mutex
	now progress
}

// progress is how far a task is.
type progress struct {
	turnID    string
	queued    bool // it was seen in the queue
	begun     bool
	ended     bool
	stop      session.StopReason
	errorText string
	text      string // the last that the agent said
	doing     string // a tool that runs
	tools     []api.RunningTool
	approvals []api.Approval
}

func newWatch(key string) *watch { return &watch{key: key, changed: make(chan struct{}, 1)} }

// state returns how far the task is now.
func (w *watch) state() progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now
	now.approvals = slices.Clone(now.approvals)
	return now
}

// Deliver implements sessions.Subscriber.
func (w *watch) Deliver(envelope api.EventEnvelope, _ []byte) {
	w.mu.Lock()
	told := w.now.apply(w.key, envelope.Event)
	w.mu.Unlock()
	if told {
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// apply takes an event; true where it matters to who watches the batch.
func (p *progress) apply(key string, event api.Event) bool {
	switch e := event.(type) {
	case api.TurnStarted:
		if e.Turn.ClientKey == key {
			p.begun, p.turnID = true, e.Turn.TurnID
		}
		return false
	case api.QueueChanged:
		waits := slices.ContainsFunc(e.Queue, func(q session.QueuedPrompt) bool { return q.ClientKey == key })
		if p.queued && !waits && !p.begun { // somebody took it out
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

// entry takes what the agent said, and that a tool has ended.
func (p *progress) entry(entry session.Entry) bool {
	m, ok := entry.AsMessage()
	if !ok || p.turnID == "" || m.TurnID != p.turnID {
		return false
	}
	switch m.Message.Role {
	case session.RoleAssistant:
		if text := m.Message.Content.Plain(); strings.TrimSpace(text) != "" {
			p.text = text
		}
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

// outcome is the end of a task.
func (p progress) outcome() update {
	u := update{text: p.text}
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
