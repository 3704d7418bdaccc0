package backend

import (
	"context"
	"fmt"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/session"
)

// aside is what the agent's options were before it was set to ask, and after that. Both are nil if it
// was not.
type aside struct{ before, asking []session.BackendOption }

// back returns options at the end of a turn with the values from before it, except where they were
// changed since the agent was set to ask.
func (a aside) back(options []session.BackendOption) []session.BackendOption {
	value := func(options []session.BackendOption, id string) (string, bool) {
		i := slices.IndexFunc(options, func(o session.BackendOption) bool { return o.ID == id })
		if i < 0 {
			return "", false
		}
		return options[i].Value, true
	}
	options = slices.Clone(options)
	for i, o := range options {
		asking, wasSet := value(a.asking, o.ID)
		before, was := value(a.before, o.ID)
		if wasSet && was && o.Value == asking {
			options[i].Value = before
		}
	}
	return options
}

// prepare sets the options of the agent's session for the turn.
func (w *work) prepare(ctx context.Context) (err error) {
	select {
	case <-w.turn.Tighten:
		w.turn.Asking, w.turn.Tighten = true, nil
	default:
	}
	if !w.turn.Asking {
		return w.chooser().restore(ctx)
	}
	w.aside, err = w.chooser().restrain(ctx)
	return err
}

// restrained is the agent's session after it was set to ask in the middle of a turn.
type restrained struct {
	state acp.SessionState
	aside aside
	err   error
}

// restrain has the agent ask from now on. A goroutine waits for the agent's answer, before which updates
// may arrive.
func (w *work) restrain(ctx context.Context) <-chan restrained {
	done := make(chan restrained, 1)
	state := w.backends.current(w.sessionID, w.program)
	w.waiting.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, w.backends.options.OptionTimeout)
		defer cancel()
		kept, err := w.keeper.Kept(ctx)
		r := restrained{state: state, err: err}
		if err == nil {
			r.aside, r.err = chooser{w.program, &r.state, w.definition, kept}.restrain(ctx)
		}
		done <- r
	})
	return done
}

// asks notes that the agent was set to ask. An agent that was not may not continue.
func (w *work) asks(ctx context.Context, r restrained) error {
	if r.err != nil {
		return fmt.Errorf("the agent had to ask from now on, because the session was set to the mode \"plan\", and was ended instead: %w", r.err)
	}
	w.program.state, w.aside = r.state, r.aside
	w.backends.opened(w.sessionID, w.program)
	return w.script.options(ctx, stateOptions(r.state))
}

// settle takes the answer of an agent that had finished the turn by then. One that did not answer ends:
// no one knows its mode.
func (w *work) settle(ctx context.Context) {
	select {
	case r := <-w.restrained:
		if err := w.asks(context.WithoutCancel(ctx), r); err != nil {
			w.program.kill()
		}
	default:
	}
}

// release has the options that were set aside count again for the next turns.
func (w *work) release(ctx context.Context) error {
	if w.aside.asking == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	now, err := w.keeper.Kept(ctx)
	if err != nil {
		return err
	}
	options := w.aside.back(now.Options.Options)
	return w.keeper.Keep(ctx, session.BackendRecord{Kind: session.BackendOptions, Options: options, Decides: agent.Decides(options)})
}
