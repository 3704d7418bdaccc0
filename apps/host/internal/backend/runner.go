package backend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/session"
)

// runner works on turns of one session. It implements agent.Runner.
type runner struct {
	backends   *Backends
	sessionID  string
	definition Definition
	keeper     agent.Keeper
}

// Run implements agent.Runner.
func (r *runner) Run(ctx context.Context, turn agent.Turn) agent.Outcome {
	if turn.Ready != nil {
		select {
		case <-turn.Ready:
		case <-ctx.Done():
			return agent.Outcome{StopReason: session.StopAborted}
		}
	}
	if turn.Afford != nil {
		if err := turn.Afford(); err != nil {
			return agent.Outcome{StopReason: session.StopError, Error: err.Error(), OverBudget: true}
		}
	}
	kept, err := r.keeper.Kept(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	p, err := r.backends.take(ctx, r.sessionID, r.definition, turn.Cwd)
	if err != nil {
		return failed(ctx, err)
	}
	defer r.backends.give(r.sessionID, p)
	w := newWork(r, p, turn, kept)
	return w.run(ctx)
}

// failed is how a turn ended that could not begin.
func failed(ctx context.Context, err error) agent.Outcome {
	if ctx.Err() != nil {
		return agent.Outcome{StopReason: session.StopAborted}
	}
	return agent.Outcome{StopReason: session.StopError, Error: err.Error()}
}

// work is one turn. The goroutine of run owns it, except for the goroutines that wait for
// people, which answer their request and end.
type work struct {
	*runner
	program *program
	turn    agent.Turn
	kept    agent.Kept
	script  *transcript

	events  chan event
	waiting sync.WaitGroup // for people
	asked   int            // questions so far, for their ids

	aside      aside             // options while the agent has to ask
	restrained <-chan restrained // while it is being set to ask in the middle of the turn
	fault      error             // why the host ended the agent in the middle of the turn

	canceled bool // the agent was asked to end before it answered the prompt
}

func newWork(r *runner, p *program, turn agent.Turn, kept agent.Kept) *work {
	w := &work{runner: r, program: p, turn: turn, kept: kept, events: make(chan event)}
	w.script = newTranscript(&w.turn, r.definition.Name, r.keeper, kept, r.backends.options.MaxTurnBytes, r.backends.options.MaxCalls)
	return w
}

// run opens the agent's session, sends the prompt, and takes what comes until the agent has
// answered it.
func (w *work) run(ctx context.Context) agent.Outcome {
	prompt, err := w.open(ctx)
	if err != nil {
		if !w.program.alive() || ctx.Err() != nil {
			w.program.kill()
		}
		return failed(ctx, err)
	}
	asking, stopAsking := context.WithCancel(ctx)
	defer stopAsking()
	early, detach := w.program.link.attach(w.events)
	defer detach()
	for i := range early {
		w.script.state(ctx, &early[i])
	}
	answered := w.send(prompt)
	response, err := w.follow(ctx, asking, answered)
	stopAsking()
	detach()
	w.waiting.Wait()
	w.settle(ctx)
	return w.finish(ctx, response, err)
}

// answer is the response to a prompt.
type answer struct {
	response acp.PromptResponse
	err      error
}

// send sends the prompt. Its answer arrives after all updates before it have been taken.
func (w *work) send(prompt []acp.ContentBlock) <-chan answer {
	answered := make(chan answer, 1)
	go func() {
		// The connection ends the call: a canceled prompt is answered, too.
		response, err := w.program.agent.Prompt(context.Background(), acp.PromptRequest{SessionID: w.program.session, Prompt: prompt})
		answered <- answer{response, err}
	}()
	return answered
}

// errSilent is why a turn ended whose agent did not react to being canceled.
var errSilent = errors.New("the agent did not react and was ended")

// follow takes events until the prompt is answered. What people are asked ends with asking.
func (w *work) follow(ctx, asking context.Context, answered <-chan answer) (acp.PromptResponse, error) {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	canceled := ctx.Done()
	var silent <-chan time.Time
	tighten := w.turn.Tighten
	stop := func(err error) {
		if w.fault == nil && err != nil {
			w.fault = err
			w.program.kill()
		}
	}
	for {
		select {
		case e := <-w.events:
			if w.fault == nil {
				stop(w.handle(ctx, asking, e))
			}
		case <-tick.C:
			if w.fault == nil {
				stop(w.script.tick(ctx))
			}
		case <-tighten:
			tighten, w.restrained = nil, w.restrain(ctx)
		case r := <-w.restrained:
			w.restrained = nil
			stop(w.asks(ctx, r))
		case <-canceled:
			canceled = nil
			w.cancel()
			timer := time.NewTimer(w.backends.options.CancelGrace)
			defer timer.Stop()
			silent = timer.C
		case <-silent:
			silent = nil
			stop(errSilent)
		case a := <-answered:
			if w.fault != nil {
				return a.response, w.fault
			}
			return a.response, a.err
		}
	}
}

// cancel asks the agent to end the turn. It does not wait for one that reads nothing.
func (w *work) cancel() {
	w.canceled = true
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = w.program.agent.Cancel(ctx, w.program.session) // an agent that cannot be reached is ended for its silence
}

// handle takes one event.
func (w *work) handle(ctx, asking context.Context, e event) error {
	switch {
	case e.update != nil:
		return w.script.update(ctx, e.update)
	case e.permission != nil:
		return w.permission(ctx, asking, e.request, *e.permission)
	default:
		return w.elicit(asking, e.request, *e.elicit)
	}
}

// finish writes what is left, and says how the turn ended.
func (w *work) finish(ctx context.Context, response acp.PromptResponse, err error) agent.Outcome {
	outcome := w.outcome(ctx, response, err)
	if err := cmp.Or(w.script.end(ctx, outcome), w.release(ctx)); err != nil {
		return agent.Outcome{StopReason: session.StopError, Error: err.Error()}
	}
	return outcome
}

func (w *work) outcome(ctx context.Context, response acp.PromptResponse, err error) agent.Outcome {
	title := w.definition.title()
	switch {
	case err != nil && ctx.Err() != nil:
		return agent.Outcome{StopReason: session.StopAborted}
	case w.fault != nil:
		return agent.Outcome{StopReason: session.StopError, Error: fmt.Sprintf("%s: %v", title, w.fault)}
	case err != nil:
		return agent.Outcome{StopReason: session.StopError, Error: fmt.Sprintf("%s: %v", title, w.program.why(ctx, err))}
	}
	if w.canceled { // some agents answer as if they had finished
		return agent.Outcome{StopReason: session.StopAborted}
	}
	switch response.StopReason {
	case acp.StopEndTurn, "":
		return agent.Outcome{StopReason: session.StopEnd}
	case acp.StopMaxTokens:
		return agent.Outcome{StopReason: session.StopLength}
	case acp.StopCancelled:
		return agent.Outcome{StopReason: session.StopAborted}
	case acp.StopRefusal:
		return agent.Outcome{StopReason: session.StopError, Error: title + " refused to continue. Edit the prompt and send it again."}
	case acp.StopMaxTurnRequests:
		return agent.Outcome{StopReason: session.StopError, Error: title + " reached its limit of model calls in one turn. Send another prompt to continue."}
	}
	return agent.Outcome{StopReason: session.StopError, Error: fmt.Sprintf("%s ended the turn: %.200s", title, response.StopReason)}
}
