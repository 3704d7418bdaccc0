package sessions

import (
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// NoticeKind is why a session needs a person.
type NoticeKind string

const (
	NoticeApproval NoticeKind = "approval"
	NoticeQuestion NoticeKind = "question"
	NoticeEnded    NoticeKind = "ended"  // a turn that a person started
	NoticeFailed   NoticeKind = "failed" // a turn
	NoticeBudget   NoticeKind = "budget" // a turn, because a budget is used up
)

// Waits reports whether the session waits until the notice is done.
func (k NoticeKind) Waits() bool { return k == NoticeApproval || k == NoticeQuestion }

// Notice says that a session needs a person.
type Notice struct {
	Kind      NoticeKind
	SessionID string
	// RootID is the session that people see: that itself, or the one whose subagent it is.
	RootID    string
	ProjectID string
	Title     string   // of the session
	Text      string   // what is asked, or how a turn ended
	ID        string   // of the approval, question or turn
	Shown     string   // of an approval: the hash of what is allowed
	Whole     bool     // Text has all that an approval allows
	Choices   []string // of a question
}

// Attention is notified of what needs a person. Its methods do not block and may be called from
// any goroutine.
type Attention interface {
	Needs(Notice)
	// Done says that an approval or question of a session waits no more.
	Done(rootID, id string)
}

// needs notifies of something that needs a person.
func (c *core) needs(n Notice) {
	if c.deps.Attention == nil {
		return
	}
	n.SessionID, n.RootID, n.ProjectID, n.Title = c.id, c.others.rootOf(c.id), c.project.ID, c.summary.Name
	c.deps.Attention.Needs(n)
}

// needsApproval notifies of a call that waits. Text is all of the call where that is short: a
// command is shown in place of its title, which may be a part of it.
func (c *core) needsApproval(a api.Approval) {
	n := Notice{Kind: NoticeApproval, ID: a.ID, Text: a.Title, Shown: a.Shown, Whole: a.Detail == ""}
	if a.Risk != nil && a.Risk.Level == api.RiskHigh { // it is to be read in full
		n.Whole = false
	} else if a.Command != "" && a.Detail == a.Command {
		n.Text, n.Whole = a.Command, true
	}
	c.needs(n)
}

// settled says that an approval or question waits no more.
func (c *core) settled(id string) {
	if c.deps.Attention != nil {
		c.deps.Attention.Done(c.others.rootOf(c.id), id)
	}
}

// needsAfter notifies of the end of a turn. The turns of subagents end for their parents, and a
// turn that a person canceled, or that the host resumes, needs no one.
func (h *scheduler) needsAfter(turn *runningTurn, outcome agent.Outcome) {
	byPerson := turn.prompt.ClientKey != "" && !strings.HasPrefix(turn.prompt.ClientID, "tok_")
	switch {
	case h.parent != "" || h.closing:
	case outcome.OverBudget:
		h.needs(Notice{Kind: NoticeBudget, ID: turn.id, Text: outcome.Error})
	case outcome.StopReason == session.StopError:
		h.needs(Notice{Kind: NoticeFailed, ID: turn.id, Text: outcome.Error})
	case outcome.StopReason == session.StopAborted:
	case byPerson:
		h.needs(Notice{Kind: NoticeEnded, ID: turn.id})
	}
}

// rootOf implements others.
func (g *registry) rootOf(id string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	for range len(g.known) { // whatever a damaged file says
		k := g.known[id]
		if k == nil || k.header.ChildOf == "" || g.known[k.header.ChildOf] == nil {
			break
		}
		id = k.header.ChildOf
	}
	return id
}
