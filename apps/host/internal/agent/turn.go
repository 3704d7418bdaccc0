package agent

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// DefaultMaxSteps is how many model calls one turn may make.
const DefaultMaxSteps = 200

// appendTimeout bounds one Journal.Append, which a cancel does not stop.
const appendTimeout = 5 * time.Second

// maxParallel bounds how many read tools of one message run at once.
const maxParallel = 8

// Turn is what RunTurn needs. Model, Journal, Gate and Sink are required.
type Turn struct {
	Model   Model
	Tools   []Tool
	Journal Journal
	Gate    Gate
	// Ready is closed when tools may run; nil lets them run at once.
	Ready  <-chan struct{}
	Sink   Sink   // called by one goroutine at a time
	People People // nil: questions cannot be answered
	// Steer returns what the user says to the running turn, once each and persisted
	// already; it is asked before every model call. nil: nothing.
	Steer func(ctx context.Context) ([]session.Message, error)

	System string
	// Messages is the path so far; the last one is the prompt, persisted already.
	Messages []session.Message
	Cwd      string // absolute
	// MaxSteps is how many model calls the turn may make; 0 is DefaultMaxSteps. In the
	// last one the model is asked to sum up and may not call tools.
	MaxSteps int
	// Tell keeps a note for the model in the log and returns it as the message that
	// the model is given; nil keeps none.
	Tell func(ctx context.Context, note session.Note) (session.Message, error)
	// Spent receives tokens that no message carries: those of attempts that were made
	// again. nil does not want to know.
	Spent func(ctx context.Context, usage session.Usage)
	// Afford is called before each model call and returns why it may not be made, which ends
	// the turn; nil allows every call.
	Afford func() error
	// After is called after each call that ran, once its result is in the journal; nil does
	// nothing.
	After func(ctx context.Context, call Call, result Result)
	// Resume says that the last message of the path called tools that do not all have
	// results: those that have none run first. None of them may have been started.
	Resume bool
	// Asking has another program work in a mode in which it asks, whatever was chosen for the
	// session. The own agent asks the Gate in any case.
	Asking bool
	// Tighten is closed when another program has to work in such a mode from now on; nil: never.
	Tighten <-chan struct{}

	Thinking ThinkingLevel // of every call; "" is what the configuration says
	CacheKey string        // of every call; see Request
	// Images says that the model takes images; it reads a note in the place of each else.
	Images bool
	// ContextWindow is how many tokens the model takes; 0 is not known.
	ContextWindow int
	// RoomAt is how many tokens a prompt may have before room is made for it; 0, and
	// whatever is more, is nine tenths of the window.
	RoomAt int
	// Compact makes a history shorter that does not fit, once in a turn; nil does
	// without. It keeps what it did in the log by itself.
	Compact func(ctx context.Context, messages []session.Message) ([]session.Message, error)

	// Provider and ModelID are written into assistant messages that do not carry
	// their own.
	Provider string
	ModelID  string
}

// Outcome is how a turn ended.
type Outcome struct {
	StopReason session.StopReason // StopEnd, StopLength, StopError or StopAborted
	Error      string             // for people; set with StopError
	// Suspended is true when the turn has not ended: the host ends, and a call waits.
	Suspended bool
	// OverBudget is true when Afford ended the turn.
	OverBudget bool
}

// RunTurn calls the model until it stops asking for tools. It returns when every
// tool has ended and every step is in the journal. An ended ctx stops it at any
// point with StopAborted, and no further model call is made.
func RunTurn(ctx context.Context, turn Turn) Outcome {
	r := &runner{Turn: turn, tools: make(map[string]Tool, len(turn.Tools)), ids: newCallIDs(), history: newHistory(turn.Messages)}
	r.Messages = nil // the history has them
	for _, tool := range turn.Tools {
		spec := tool.Spec()
		r.tools[spec.Name] = tool
		r.specs = append(r.specs, spec)
	}
	for i := range r.history.messages {
		r.ids.note(r.history.messages[i].Content)
	}
	if r.MaxSteps <= 0 {
		r.MaxSteps = DefaultMaxSteps
	}
	outcome := r.run(ctx)
	if r.suspended.Load() {
		return Outcome{Suspended: true}
	}
	if ctx.Err() != nil && outcome.StopReason != session.StopError {
		return Outcome{StopReason: session.StopAborted}
	}
	return outcome
}

// runner is the state of one turn. The goroutine of RunTurn owns it; tools reach
// only emit, which is locked.
type runner struct {
	Turn
	tools   map[string]Tool
	specs   []ToolSpec
	history *history
	room    room
	repeats repeats
	last    bool            // the model may call nothing any more
	wasted  []session.Usage // of failed attempts of the running call
	ids     callIDs         // of all tool calls in the log
	closing []string        // what the turn ends with, from the results so far

	suspended atomic.Bool // a call waits for the next start of the host

	sinkMu sync.Mutex
}

// resume gives the calls of the last message that have no result theirs.
func (r *runner) resume(ctx context.Context) error {
	answer, calls := r.history.unanswered()
	if len(calls) == 0 {
		return nil
	}
	return r.answer(ctx, answer, calls)
}

func (r *runner) run(ctx context.Context) Outcome {
	if r.Resume {
		if err := r.resume(ctx); err != nil {
			return failed(err)
		}
		if closed, err := r.close(ctx); closed || err != nil {
			return ended(session.StopEnd, err)
		}
	}
	for step := range r.MaxSteps {
		if ctx.Err() != nil {
			return Outcome{StopReason: session.StopAborted}
		}
		if err := r.steer(ctx); err != nil {
			return failed(err)
		}
		if r.Afford != nil {
			if err := r.Afford(); err != nil {
				outcome := failed(err)
				outcome.OverBudget = true
				return outcome
			}
		}
		if step == r.MaxSteps-1 {
			if err := r.sumUp(ctx); err != nil {
				return failed(err)
			}
		}
		message, kept, err := r.callModel(ctx)
		if err != nil {
			return failed(err)
		}
		calls := message.Content.ToolCalls()
		if kept && len(calls) > 0 {
			if err := r.answer(ctx, message, calls); err != nil {
				return failed(err)
			}
			if closed, err := r.close(ctx); closed || err != nil {
				return ended(session.StopEnd, err)
			}
		}
		switch {
		case message.StopReason == session.StopError:
			return Outcome{StopReason: session.StopError, Error: message.ErrorMessage}
		case message.StopReason == session.StopAborted:
			return Outcome{StopReason: session.StopAborted}
		case len(calls) == 0:
			return Outcome{StopReason: message.StopReason}
		}
	}
	return Outcome{StopReason: session.StopError, Error: fmt.Sprintf(
		"The agent stopped after %d model calls in one turn, which is the limit. Send another prompt to continue.", r.MaxSteps)}
}

// steer adds what the user has sent in the meantime.
func (r *runner) steer(ctx context.Context) error {
	if r.Steer == nil {
		return nil
	}
	messages, err := r.Steer(ctx)
	r.history.add(messages...)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the message to the running turn could not be added: %w", err)
	}
	return nil
}

func ended(reason session.StopReason, err error) Outcome {
	if err != nil {
		return failed(err)
	}
	return Outcome{StopReason: reason}
}

func failed(err error) Outcome {
	return Outcome{StopReason: session.StopError, Error: err.Error()}
}

// sumUp tells the model that its next message is the last one of the turn.
func (r *runner) sumUp(ctx context.Context) error {
	r.last = true
	note := session.Note{Kind: session.NoteLimit, Text: fmt.Sprintf(
		"This turn has made %d model calls, which is the limit. Do not call a tool now: say what was done, what is left, and how to continue.", r.MaxSteps-1)}
	message := NoteMessage(note)
	if r.Tell != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), appendTimeout)
		defer cancel()
		var err error
		if message, err = r.Tell(ctx, note); err != nil {
			return fmt.Errorf("the last step of this turn was not saved: %w", err)
		}
	}
	r.history.add(message)
	return nil
}

func (r *runner) emit(event api.Event) {
	r.sinkMu.Lock()
	defer r.sinkMu.Unlock()
	r.Sink.Emit(event)
}

// append persists a message. A cancel does not stop it: what happened is kept.
func (r *runner) append(ctx context.Context, message session.Message) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), appendTimeout)
	defer cancel()
	if err := r.Journal.Append(ctx, message); err != nil {
		return fmt.Errorf("the last step of this turn was not saved: %w", err)
	}
	r.history.add(message)
	return nil
}
