package sessions

import (
	"context"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/observe"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Deps are what sessions need of the host. A field is required unless its comment says what its
// zero value means.
type Deps struct {
	Logger *slog.Logger
	Models Models
	// Tools makes the tools of a session when it is opened; they are closed with it.
	Tools  func(sessionID string) agent.Toolset
	System func(tools []agent.Tool, cwd string, project agent.ProjectContext) string
	// ProjectContext reads what the model is given about a folder: at the first turn of a
	// session, and later to find what was added. nil gives nothing.
	ProjectContext func(cwd string) agent.ProjectContext
	// Environment describes where a session begins, at its first turn; nil gives nothing.
	Environment func(ctx context.Context, cwd string) session.Environment
	// Memory selects the notes that a session begins with, for sessions that are not a
	// subagent's; nil gives none.
	Memory func(cwd string) session.Memory
	// Journal records a turn that has ended in a session that is not a subagent's; nil
	// records nothing.
	Journal func(project api.Project, turn JournalTurn)
	// Began is called when a turn begins, except in sessions of subagents: it can record the
	// folder before the turn changes it. The turn asks its model at the same time, but runs no
	// tool before Began returns. The context ends with the turn. nil does nothing.
	Began func(ctx context.Context, sessionID string, project api.Project)
	// Mode is that of new sessions; "" is api.ModeAsk.
	Mode api.Mode
	// Permissions decide which calls may run; nil asks before every change.
	Permissions Permissions
	// OnSummary is called after every change of a summary. It does not block.
	OnSummary func(api.SessionSummary)
	// OnDelete is called after a session was deleted. It does not block.
	OnDelete func(projectID, id string)
	// Uploads has the images that clients have sent for a prompt; nil has none.
	Uploads Uploads
	// Index serves lists and search; it is closed with the sessions. Without one every
	// session is read at the start, and nothing is searched.
	Index *index.Index
	// Titles writes the titles of sessions after their first turn. If it is nil or fails, the
	// first sentence of the first prompt is the title.
	Titles agent.Model
	// IdleAfter is how long an unused session stays open; 0 is
	// DefaultIdleAfter.
	IdleAfter time.Duration
	// Summaries configures compactions; with its zero value only people start them.
	Summaries Summaries
	// Agent finds the definition of an agent in a folder, as it is now. The error says why there
	// is none. nil knows none.
	Agent func(cwd, name string) (Persona, error)
	// MaxSteps is how many model calls one turn may make; 0 is agent.DefaultMaxSteps.
	MaxSteps int
	// Project finds a project by its id; nil finds none.
	Project func(id string) (api.Project, bool)
	// Processes keeps the logs of long operations; nil keeps none.
	Processes *process.Logs
	// QuestionTimeout is how long a question of the agent waits for an answer; 0 is forever.
	QuestionTimeout time.Duration
	// Stopped reports whether the host ended, at its start, what a call of the host before it had
	// left running; nil ended nothing.
	Stopped func(sessionID, callID string) bool
	// Attended reports whether someone who sees the list of sessions with those of a project may
	// give answers that need the grant; nil means no one. The host calls Manager.Attend when that
	// changes.
	Attended func(projectID string, grant api.Grant) bool
	// Sign signs heads of sessions with the keys of the host; nil signs none.
	Sign store.Signer
	// CheckAnswer refuses an answer to an approval whose signature is not that of the client, or
	// not of this answer. It is called for signed answers; nil refuses all of these.
	CheckAnswer func(clientID string, approval api.Approval, answer api.AnswerApprovalRequest) error
	// Budgets limit what model calls may cost; nil limits nothing.
	Budgets *state.BudgetStore
	// Attention is notified of what needs a person; nil is not.
	Attention Attention
	// Hooks runs the commands that people attached to events; nil has none.
	Hooks *hook.Manager
	// Moves knows the sessions that move between hosts; nil knows none.
	Moves Moves
	// Working is called when a turn begins to run; ended, when it ends or waits for the next start
	// of the host. Neither blocks. nil does nothing.
	Working func() (ended func())
	// Observe counts and traces steps; nil does not.
	Observe *observe.Observer
	// Backends are other programs that work on turns; nil has none.
	Backends Backends
	// Worktrees are those in which sessions work instead of their project's folder; nil has none.
	Worktrees Worktrees
}

// Uploads are images that clients have sent for prompts to come.
type Uploads interface {
	Get(clientID, sha256 string) (session.Block, bool)
	// Drop removes images that are in a log now.
	Drop(clientID string, sha256 ...string) error
}

// DefaultIdleAfter is how long a session without a turn, a queue and a subscriber
// stays open.
const DefaultIdleAfter = 10 * time.Minute

// Models finds models by their name in the configuration.
type Models interface {
	// Model returns the model of that name, or an *api.Error of KindUnknownModel.
	Model(name string) (agent.Model, api.Model, error)
	// Find returns the name of the model that provider knows as id, or "".
	Find(provider, id string) string
	Default() string
}

// markChanged marks a session as new or changed in the index.
func (d Deps) markChanged(id, projectID string) {
	if d.Index != nil {
		d.Index.Touch(id, projectID)
	}
}
