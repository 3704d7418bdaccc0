package sessions

import (
	"cmp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/session"
)

// JournalTurn is a turn that has ended, as the journal of its project records it.
type JournalTurn struct {
	Session string
	Title   string
	// Said is the text that the agent answered last, or the error of a failed turn.
	Said   string
	Failed bool
}

// recordTurn adds the turn that has ended to the project's journal. Canceled turns and those of
// subagents are left out.
func (h *scheduler) recordTurn(outcome agent.Outcome) {
	if h.deps.Journal == nil || h.parent != "" || outcome.StopReason == session.StopAborted {
		return
	}
	said := JournalTurn{Session: h.id, Title: cmp.Or(h.digest.Name, h.digest.Title)}
	switch {
	case outcome.StopReason == session.StopError:
		said.Said, said.Failed = outcome.Error, true
	case read.FromOutside(h.log.Tree()): // what was said there is not given to other sessions
		said.Said = "a run with text from outside"
	case h.digest.LastRole == string(session.RoleAssistant):
		said.Said = h.digest.LastText
	}
	h.deps.Journal(h.project, said)
}
