package sessions

import (
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Deps are what sessions need of the host. All fields but Ground, Index, Titles,
// Summaries, Processes, Stopped, IdleAfter and Attended are required.
type Deps struct {
	Logger *slog.Logger
	Models Models
	// Tools makes the tools of a session when it is opened; they are closed with it.
	// Those that are agent.Preparer are told of every turn.
	Tools  func(sessionID string) agent.Toolset
	System func(tools []agent.Tool, cwd string, ground agent.Ground) string
	// Ground reads what a session is told of its folder, at its first turn; nil
	// tells nothing.
	Ground func(cwd string) agent.Ground
	// Mode is that of new sessions; "" is api.ModeAsk.
	Mode api.Mode
	// Permissions say what calls are judged by; nil asks before every change.
	Permissions Permissions
	// OnSummary is told of every change of a summary. It does not block.
	OnSummary func(api.SessionSummary)
	// OnDelete is told of every session that was deleted. It does not block.
	OnDelete func(id string)
	// Index serves lists and search; it is closed with the sessions. Without one every
	// session is read at the start, and nothing is searched.
	Index *index.Index
	// Titles makes titles for sessions after their first turn; without one, and where it
	// fails, the first sentence of the first prompt is the title.
	Titles agent.Model
	// IdleAfter is how long a session that nobody uses stays open; 0 is
	// DefaultIdleAfter.
	IdleAfter time.Duration
	Summaries Summaries
	// MaxSteps is how many model calls one turn may make; 0 is agent.DefaultMaxSteps.
	MaxSteps int
	// Project finds a project by its id; nil finds none.
	Project func(id string) (api.Project, bool)
	// Processes keeps the logs of long operations; nil keeps none.
	Processes *process.Logs
	// QuestionTimeout is how long a question of the agent waits for an answer; 0 is for
	// ever.
	QuestionTimeout time.Duration
	// Stopped tells whether the host, when it was started, ended what a call of the host
	// before it had left running; nil ended nothing.
	Stopped func(sessionID, callID string) bool
	// Attended tells whether somebody sees the list of sessions who may give an answer that
	// needs the grant; nil is nobody. Manager.Attend is called where that changes.
	Attended func(grant api.Grant) bool
	// reconsider lets the chosen sessions look again at the calls that wait, because of what
	// a client changed. It does not block. NewManager sets it.
	reconsider func(chosen func(*known) bool, clientID string)
	// account puts into a session's own summary what was spent for it by others. It does not
	// block. NewManager sets it.
	account func(api.SessionSummary) api.SessionSummary
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
