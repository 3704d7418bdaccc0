// Package follow sends one prompt to a session and follows it to its end, over as
// many connections as that takes. A View hears of everything exactly once and in
// order, whatever was cut and whenever.
//
// One goroutine, the caller of Run, owns all of it. Besides, there are the reader
// of the connection and, while a person is asked, one goroutine that waits for
// the answer; Run joins both.
package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Verdict is what a person says to a tool call.
type Verdict struct {
	Decision api.Decision
	Feedback string // a word to the agent, with a denial
}

// Reply is what a person says to a question of the agent. The zero Reply leaves it to
// other entries.
type Reply struct {
	Answer string
	Skip   bool // the agent is to decide
}

// Asker asks a person. It is called from a goroutine of its own, one call at a time,
// and returns early when ctx ends.
type Asker interface {
	// Decide asks about a tool call.
	Decide(ctx context.Context, approval api.Approval) (Verdict, error)
	// Answer passes a question of the agent on.
	Answer(ctx context.Context, question api.Question) (Reply, error)
}

// View shows what happens. Run calls it from one goroutine, but for the Asker.
type View interface {
	Asker
	// Event hears of every event of the session from the prompt on. Where events
	// were lost for good, events that lead to the same state stand for them.
	Event(event api.EventEnvelope)
	// Text is a piece of the answer.
	Text(piece string)
	// EndMessage ends one message of the answer. broken is true when what was
	// shown of it does not count: another attempt follows.
	EndMessage(broken bool)
	ToolCall(call session.Block)
	ToolResult(result session.Message)
	// Notice tells what happens to the connection or the prompt, in a sentence.
	Notice(text string)
}

// Config says what to send and how. All fields but After and Patience
// are needed.
type Config struct {
	Dial func(ctx context.Context) (client.Transport, error)
	// Prepare makes or finds the session and returns its id. It may run again
	// after a lost connection, so what it makes is made with a client key.
	Prepare func(ctx context.Context, c *client.Client) (sessionID string, err error)
	// Lost tells whether dialling again may help after an error.
	Lost func(err error) bool
	// After tells how long the other side asked to wait after an error.
	After func(err error) time.Duration
	View  View
	// Unattended says that nobody sits there who could answer the agent.
	Unattended bool

	ClientKey string // of the prompt
	Text      string
	AllowAll  bool
	// AllowRules hold for the prompt.
	AllowRules []string
	Mode       session.PromptMode // "" waits for a running turn
	// Patience is how long a lost connection is tried again; 0 is a minute.
	Patience time.Duration
}

// Result is how the prompt ended.
type Result struct {
	SessionID  string
	StopReason session.StopReason
	Error      string // for people, when StopReason is StopError
	Text       string // of the last message of the answer
}

const (
	defaultPatience = time.Minute
	firstPause      = 200 * time.Millisecond
	longestPause    = 2 * time.Second
	cancelTimeout   = 10 * time.Second // from an interrupt to the end of the turn
)

// ErrQueued says that the command was interrupted while its prompt waited: the
// host still runs it when its time comes.
var ErrQueued = errors.New("interrupted: the prompt waits on the host and will still run")

// Run sends the prompt and returns when its turn has ended. An ended ctx cancels
// the turn, waits for that, and returns the Result with StopAborted.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if cfg.Patience == 0 {
		cfg.Patience = defaultPatience
	}
	// A pending question is withdrawn, not waited for, when Run returns.
	asking, withdraw := context.WithCancel(context.WithoutCancel(ctx))
	r := &runner{cfg: cfg, questions: newQuestions(asking, cfg.View)}
	defer r.questions.wait()
	defer withdraw()
	r.tracker = newTracker(cfg.ClientKey, cfg.View, r.questions)
	return r.run(ctx)
}

// runner is one run. The caller of Run owns it.
type runner struct {
	cfg       Config
	tracker   *tracker
	questions *questions
	sessionID string
	synced    bool // a resync was answered at least once
}

func (r *runner) run(ctx context.Context) (Result, error) {
	var lostAt time.Time
	pause := firstPause
	for {
		synced, err := r.connection(ctx)
		if end := r.tracker.end; end != nil {
			end.SessionID = r.sessionID
			return *end, nil
		}
		if ctx.Err() != nil || !r.synced || !r.cfg.Lost(err) {
			return Result{SessionID: r.sessionID}, err
		}
		if synced || lostAt.IsZero() {
			lostAt, pause = time.Now(), firstPause
			r.cfg.View.Notice(fmt.Sprintf("connection lost, trying again (%s)", err))
		}
		if time.Since(lostAt) > r.cfg.Patience {
			return Result{SessionID: r.sessionID}, fmt.Errorf(
				"the connection did not come back within %s; the host goes on with the prompt: %w", r.cfg.Patience, err)
		}
		wait := pause
		if r.cfg.After != nil {
			wait = max(wait, r.cfg.After(err))
		}
		if err := sleep(ctx, wait); err != nil {
			return Result{SessionID: r.sessionID}, err
		}
		pause = min(2*pause, longestPause)
	}
}

// connection lives from one dial to the loss of what was dialled, or to the end
// of the turn. synced tells whether it got as far as to follow the session.
func (r *runner) connection(ctx context.Context) (synced bool, err error) {
	transport, err := r.cfg.Dial(ctx)
	if err != nil {
		return false, err
	}
	mail := newMailbox()
	c := client.New(transport, mail.put)
	defer func() { _ = c.Close() }() // everything that matters was answered
	if r.sessionID == "" {
		if r.sessionID, err = r.cfg.Prepare(ctx, c); err != nil {
			return false, err
		}
	}
	if err := r.resync(ctx, c); err != nil {
		return false, err
	}
	if r.tracker.end != nil {
		return true, nil
	}
	if err := r.send(ctx, c); err != nil {
		return true, err
	}
	return true, r.loop(ctx, c, mail)
}

func (r *runner) resync(ctx context.Context, c *client.Client) error {
	response, err := client.Call[api.ResyncEventsResponse](ctx, c, "resync_events",
		api.ResyncEventsRequest{SessionID: r.sessionID, Anchors: r.tracker.anchors, Unattended: r.cfg.Unattended})
	if err != nil {
		return err
	}
	if seen := r.tracker.anchors.PersistentLastSeq; r.synced && response.Before > seen {
		missed, err := client.Earlier(ctx, c, r.sessionID, response.Before, seen)
		if err != nil {
			return err
		}
		missed = slices.DeleteFunc(missed, func(e session.Entry) bool { return e.Seq <= seen })
		response.Entries = append(missed, response.Entries...)
	}
	if r.synced {
		r.cfg.View.Notice("connected again")
	}
	r.synced = true
	r.tracker.resync(r.sessionID, response)
	return nil
}

// send sends the prompt, again on every connection until it is in the log: the
// key makes it one prompt.
func (r *runner) send(ctx context.Context, c *client.Client) error {
	if r.tracker.turnID != "" {
		return nil
	}
	response, err := client.Call[api.SendPromptResponse](ctx, c, "send_prompt", api.SendPromptRequest{
		SessionID: r.sessionID, ClientKey: r.cfg.ClientKey, Text: r.cfg.Text, AllowAll: r.cfg.AllowAll, AllowRules: r.cfg.AllowRules,
		Mode: r.cfg.Mode,
	})
	switch {
	case err != nil:
	case response.State == api.PromptRemoved:
		r.tracker.finish(session.StopError, removedText)
	case response.State == api.PromptQueued && r.cfg.Mode == session.ModeSteer:
		r.cfg.View.Notice("the running turn gets this at its next step")
	case response.State == api.PromptQueued:
		r.cfg.View.Notice("another prompt is being worked on: this one waits on the host")
	}
	return err
}

// loop follows the session until the turn or the connection ends.
func (r *runner) loop(ctx context.Context, c *client.Client, mail *mailbox) error {
	interrupt := ctx.Done()
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var deadline <-chan time.Time
	for r.tracker.end == nil {
		if err := r.answer(life, c); err != nil {
			return err
		}
		select {
		case <-mail.ready:
			r.tracker.events(mail.take())
		case <-r.questions.decided:
			r.questions.collect()
		case <-c.Done():
			r.tracker.events(mail.take())
			return c.Err()
		case <-interrupt:
			if err := r.cancel(life, c); err != nil {
				return err
			}
			timer := time.NewTimer(cancelTimeout)
			defer timer.Stop()
			interrupt, deadline = nil, timer.C
		case <-deadline:
			return errors.New("interrupted: the host did not confirm in time that the turn was cancelled")
		}
	}
	return nil
}

// cancel asks the host to cancel the turn of the prompt.
func (r *runner) cancel(life context.Context, c *client.Client) error {
	if r.tracker.turnID == "" {
		return ErrQueued
	}
	ctx, stop := context.WithTimeout(life, cancelTimeout)
	defer stop()
	_, err := client.Call[api.CancelTurnResponse](ctx, c, "cancel_turn",
		api.CancelTurnRequest{SessionID: r.sessionID, TurnID: r.tracker.turnID})
	return err
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
