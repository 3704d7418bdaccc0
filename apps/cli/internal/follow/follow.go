// Package follow sends one prompt to a session and follows it to its end, over as many
// connections as necessary. A View receives everything exactly once and in order, however
// often the connection is lost.
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

// Verdict is a person's answer to a tool call.
type Verdict struct {
	Decision api.Decision
	Feedback string // feedback for the agent, with a denial
	// Unattended, with a denial, means that no person was asked.
	Unattended bool
}

// Reply is a person's answer to a question of the agent. The zero Reply leaves it to other
// entries.
type Reply struct {
	Answer string
	Skip   bool // let the agent decide
}

// Asker asks a person. It is called from its own goroutine, one call at a time, and must
// return early when ctx ends.
type Asker interface {
	// Decide asks about a tool call.
	Decide(ctx context.Context, approval api.Approval) (Verdict, error)
	// Answer asks a question of the agent.
	Answer(ctx context.Context, question api.Question) (Reply, error)
}

// View displays what happens. Run calls it from one goroutine, except for the Asker.
type View interface {
	Asker
	// Event is called for every event of the session from the prompt on. If events are lost
	// permanently, events that lead to the same state replace them.
	Event(event api.EventEnvelope)
	// Text displays a piece of the answer.
	Text(piece string)
	// EndMessage ends one message of the answer. broken reports that the displayed text is
	// void: another attempt follows.
	EndMessage(broken bool)
	ToolCall(call session.Block)
	ToolResult(result session.Message)
	// Notice describes a change of the connection or the prompt in a sentence.
	Notice(text string)
}

// Config says what to send and how. All fields but Follow, After, Wait, Path, Patience and Sign are required.
type Config struct {
	Dial func(ctx context.Context) (client.Transport, error)
	// Follow has Dial lead to the device that the session was moved to, and returns the name of
	// the device for people. Its error ends the run.
	Follow func(device string) (name string, err error)
	// Prepare creates or finds the session and returns its id. It may run again after a
	// lost connection, so it must create with a client key.
	Prepare func(ctx context.Context, c *client.Client) (sessionID string, err error)
	// Lost reports whether reconnecting may help after an error.
	Lost func(err error) bool
	// After returns how long the other side asked to wait after an error.
	After func(err error) time.Duration
	// Wait waits before another attempt, at most as long as given; nil waits that long. It
	// fails if ctx ends.
	Wait func(ctx context.Context, most time.Duration) error
	// Path names the path of the last connection; nil, or "", says nothing.
	Path func() string
	View View
	Sign Signer // nil sends answers without a signature
	// Unattended reports that no one is present who could answer the agent.
	Unattended bool

	ClientKey string // of the prompt
	Text      string
	Images    [][]byte // sent with the text
	Files     []File   // sent with the text
	AllowAll  bool
	// AllowRules apply to the prompt.
	AllowRules []string
	// Traceparent is the span that the turn belongs to; "" is none.
	Traceparent string
	Mode        session.PromptMode // "" waits for a running turn
	// Patience is how long to retry a lost connection; 0 means a minute.
	Patience time.Duration
}

// Result is how the prompt ended.
type Result struct {
	SessionID  string
	StopReason session.StopReason
	Error      string // for people, if StopReason is StopError
	Text       string // of the last message of the answer
	// Unasked counts the calls denied because of Config.Unattended.
	Unasked int
}

const (
	defaultPatience = time.Minute
	firstPause      = 200 * time.Millisecond
	longestPause    = 2 * time.Second
	cancelTimeout   = 10 * time.Second // from an interrupt to the end of the turn
	// steady is how long a connection must last to count as good even if it brought nothing
	// new.
	steady = 10 * time.Second
)

// ErrQueued reports that the command was interrupted while its prompt was queued: the host
// will still run it.
var ErrQueued = errors.New("interrupted: the prompt is queued on the host and will still run")

// Run sends the prompt and returns when its turn has ended. When ctx ends, Run cancels the
// turn, waits for it to end, and returns the Result with StopAborted.
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
	synced    bool // at least one resync was answered
	moving    bool // the last connection ended in favor of a better path, or of another device
	trail     client.Trail
	unasked   int // calls denied because no one could be asked
}

func (r *runner) run(ctx context.Context) (Result, error) {
	var lostAt time.Time
	pause := firstPause
	for {
		began, before := time.Now(), r.tracker.anchors
		synced, err := r.connection(ctx)
		if end := r.tracker.end; end != nil {
			end.SessionID, end.Unasked = r.sessionID, r.unasked
			return *end, nil
		}
		if device, moved := client.MovedTo(err); moved && ctx.Err() == nil && r.cfg.Follow != nil {
			if err := r.follow(device); err != nil {
				return Result{SessionID: r.sessionID}, err
			}
			lostAt = time.Time{}
			continue
		}
		if ctx.Err() != nil || !r.synced || errors.As(err, new(*refusedError)) || !r.cfg.Lost(err) {
			return Result{SessionID: r.sessionID}, err
		}
		if r.moving = errors.Is(err, client.ErrMoved); r.moving {
			lostAt = time.Time{}
			continue
		}
		if synced || lostAt.IsZero() {
			r.cfg.View.Notice(fmt.Sprintf("connection lost, trying again (%s)", err))
		}
		// A connection that breaks immediately each time does not count as one.
		if good := synced && (r.tracker.learned(before) || time.Since(began) >= steady); good || lostAt.IsZero() {
			lostAt, pause = time.Now(), firstPause
		}
		if time.Since(lostAt) > r.cfg.Patience {
			return Result{SessionID: r.sessionID}, fmt.Errorf(
				"the connection did not come back within %s; %s: %w", r.cfg.Patience, r.whereabouts(), err)
		}
		wait := pause
		if errors.Is(err, client.ErrPathLost) {
			wait = 0
		}
		if err := r.pause(ctx, wait, err); err != nil {
			return Result{SessionID: r.sessionID}, err
		}
		pause = min(2*pause, longestPause)
	}
}

// pause waits before another attempt. What the other side asked for after an error is not
// shortened.
func (r *runner) pause(ctx context.Context, wait time.Duration, err error) error {
	if r.cfg.After != nil {
		if asked := r.cfg.After(err); asked > wait {
			return sleep(ctx, asked)
		}
	}
	if r.cfg.Wait != nil {
		return r.cfg.Wait(ctx, wait)
	}
	return sleep(ctx, wait)
}

// follow continues at the device that the session was moved to.
func (r *runner) follow(device string) error {
	if err := r.trail.Add(device); err != nil {
		return err
	}
	name, err := r.cfg.Follow(device)
	if err != nil {
		return err
	}
	r.cfg.View.Notice(fmt.Sprintf("the session moved to %s; continuing there", name))
	r.moving, r.tracker.movedTo = true, nil
	return nil
}

// whereabouts describes what is known about the prompt.
func (r *runner) whereabouts() string {
	if r.tracker.turnID == "" && !r.tracker.queued {
		return "the host may not have received the prompt"
	}
	return "the host continues with the prompt"
}

// connection handles one connection until it is lost or the turn ends. synced reports
// whether it got as far as following the session.
func (r *runner) connection(ctx context.Context) (synced bool, err error) {
	transport, err := r.cfg.Dial(ctx)
	if err != nil {
		return false, err
	}
	mail := newMailbox()
	c := client.New(transport, mail.put)
	defer func() { _ = c.Close() }() // the response was received
	if r.sessionID == "" {           // nothing was sent yet, so a person can simply try again
		if r.sessionID, err = r.cfg.Prepare(ctx, c); err != nil {
			return false, err
		}
	}
	resync := func() error { return r.resync(ctx, c) }
	if r.synced {
		err = r.persist(ctx, c, "resync_events", resync)
	} else {
		err = resync()
	}
	if err != nil {
		return false, err
	}
	if r.tracker.end != nil {
		return true, nil
	}
	if err := r.persist(ctx, c, "send_prompt", func() error { return r.send(ctx, c) }); err != nil {
		return true, err
	}
	return true, r.loop(ctx, c, mail)
}

func (r *runner) resync(ctx context.Context, c *client.Client) error {
	response, err := client.Call(ctx, c, api.ResyncEvents,
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
	if r.synced && !r.moving {
		r.cfg.View.Notice("connected again" + r.overPath())
	}
	r.synced = true
	r.trail.Found()
	r.tracker.resync(r.sessionID, response)
	return nil
}

// overPath names the path of the connection for a notice.
func (r *runner) overPath() string {
	if r.cfg.Path == nil || r.cfg.Path() == "" {
		return ""
	}
	return " (" + r.cfg.Path() + ")"
}

// send sends the prompt, again on every connection until it is in the log. Its key makes it
// one prompt.
func (r *runner) send(ctx context.Context, c *client.Client) error {
	if r.tracker.turnID != "" {
		return nil
	}
	request := api.SendPromptRequest{
		SessionID: r.sessionID, ClientKey: r.cfg.ClientKey, Text: r.cfg.Text, AllowAll: r.cfg.AllowAll, AllowRules: r.cfg.AllowRules, Traceparent: r.cfg.Traceparent,
		Mode: r.cfg.Mode,
	}
	if err := r.attach(ctx, c, &request); err != nil {
		return err
	}
	response, err := client.Call(ctx, c, api.SendPrompt, request)
	switch {
	case err != nil:
	case response.State == api.PromptRemoved:
		r.tracker.finish(session.StopError, removedText)
	case response.State == api.PromptQueued && r.cfg.Mode == session.ModeSteer:
		r.cfg.View.Notice("the running turn gets this at its next step")
	case response.State == api.PromptQueued:
		r.cfg.View.Notice("another prompt is running: this one is queued on the host")
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
		if moved := r.tracker.movedTo; moved != nil {
			return client.MovedError(*moved)
		}
		if err := r.answer(ctx, life, c); err != nil {
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
			return errors.New("interrupted: the host did not confirm in time that the turn was canceled")
		}
	}
	return nil
}

// cancel asks the host to cancel the prompt's turn.
func (r *runner) cancel(life context.Context, c *client.Client) error {
	if r.tracker.turnID == "" {
		return ErrQueued
	}
	ctx, stop := context.WithTimeout(life, cancelTimeout)
	defer stop()
	_, err := client.Call(ctx, c, api.CancelTurn,
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
