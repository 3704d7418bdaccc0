package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/session"
)

// errNotOffered means that an agent has no such option or value.
var errNotOffered = errors.New("the agent does not offer it")

// configure sets the mode and the model that config.toml asks for. A value that the agent does
// not offer is an error only if people chose it.
func (w *work) configure(ctx context.Context) error {
	for _, wanted := range []struct{ category, value string }{{acp.CategoryMode, w.definition.Mode}, {acp.CategoryModel, w.definition.Model}} {
		if wanted.value == "" {
			continue
		}
		err := w.choose(ctx, func(o session.BackendOption) bool { return o.Category == wanted.category }, wanted.value)
		if errors.Is(err, errNotOffered) && w.definition.BuiltIn { // another version of the program has other modes
			continue
		}
		if err != nil {
			return fmt.Errorf("setting the %s %q: %w", wanted.category, wanted.value, err)
		}
	}
	return nil
}

// restore sets the options of the agent to those in the log: programs forget them when they end,
// and without it a session would continue in a mode that asks less. People may also have changed
// one since the last turn. The log of a new session has none, and those of a session that was imported
// or moved here do not count.
func (w *work) restore(ctx context.Context) error {
	if w.turn.Asking {
		return w.restrain(ctx)
	}
	if len(w.kept.Options.Options) == 0 {
		return w.configure(ctx)
	}
	for _, kept := range w.kept.Options.Options {
		err := w.choose(ctx, func(o session.BackendOption) bool { return o.ID == kept.ID }, kept.Value)
		if err != nil && !errors.Is(err, errNotOffered) && kept.Category == acp.CategoryMode {
			return fmt.Errorf("setting the mode %q again: %w", kept.Value, err)
		}
	}
	return nil
}

// restrain sets the agent to a mode in which it asks, and other options that may decide what it asks
// for to the values that they had before people changed them.
func (w *work) restrain(ctx context.Context) error {
	if len(w.kept.Options.Options) == 0 {
		if err := w.configure(ctx); err != nil {
			return err
		}
	}
	for _, first := range w.kept.First {
		err := w.choose(ctx, func(o session.BackendOption) bool { return o.ID == first.ID }, w.restrained(first))
		if err != nil && !errors.Is(err, errNotOffered) && !agent.Harmless(first.Category) {
			return fmt.Errorf("setting the option %q back: %w", first.ID, err)
		}
	}
	mode, _ := w.definition.asking()
	if mode == "" || w.asks(mode) {
		return nil
	}
	err := w.choose(ctx, func(o session.BackendOption) bool { return o.Category == acp.CategoryMode }, mode)
	if errors.Is(err, errNotOffered) {
		return fmt.Errorf("%s does not offer the mode %q, in which it would ask, and this prompt may not run in another one: send it on the host's own machine, or name a mode in config.toml", w.definition.title(), mode)
	}
	return err
}

// asks reports whether the agent knows the mode in which it asks, and is in that one or in another
// one in which it does not decide by itself.
func (w *work) asks(mode string) bool {
	return slices.ContainsFunc(stateOptions(w.program.state), func(o session.BackendOption) bool {
		knows := slices.ContainsFunc(o.Choices, func(c session.BackendChoice) bool { return c.Value == mode })
		return o.Category == acp.CategoryMode && knows && !agent.DecidesIn(o.Value)
	})
}

// restrained returns the value that an option has while the agent is to ask.
func (w *work) restrained(first session.BackendOption) string {
	for _, kept := range w.kept.Options.Options {
		asks := kept.Category == acp.CategoryMode && !agent.DecidesIn(kept.Value)
		if kept.ID == first.ID && (asks || agent.Harmless(kept.Category)) {
			return kept.Value
		}
	}
	return first.Value
}

// The ids of the options that stand for the modes and models of agents without such options.
const (
	modeOption  = "mode"
	modelOption = "model"
)

// choose sets the first option that is meant and has a value.
func (w *work) choose(ctx context.Context, is func(session.BackendOption) bool, value string) error {
	state := &w.program.state
	for _, option := range stateOptions(*state) {
		if !is(option) {
			continue
		}
		if option.Value == value {
			return nil
		}
		if !slices.ContainsFunc(option.Choices, func(c session.BackendChoice) bool { return c.Value == value }) {
			continue
		}
		return w.program.set(ctx, state, option.ID, value)
	}
	return errNotOffered
}

// set sets an option of the agent's session, and notes it in state.
func (p *program) set(ctx context.Context, state *acp.SessionState, id, value string) error {
	i := slices.IndexFunc(state.ConfigOptions, func(o acp.ConfigOption) bool { return o.ID == id })
	switch {
	case i >= 0:
		return p.setOption(ctx, state, state.ConfigOptions[i], value)
	case id == modeOption && state.Modes != nil:
		err := p.agent.SetMode(ctx, state.SessionID, value)
		if err == nil {
			state.Modes.CurrentModeID = value
		}
		return err
	case id == modelOption && state.Models != nil:
		err := p.agent.SetModel(ctx, state.SessionID, value)
		if err == nil {
			state.Models.CurrentModelID = value
		}
		return err
	}
	return errNotOffered
}

func (p *program) setOption(ctx context.Context, state *acp.SessionState, option acp.ConfigOption, value string) error {
	r := acp.SetConfigOptionRequest{SessionID: state.SessionID, ConfigID: option.ID, Value: asObject(value)}
	if option.Type == acp.OptionBoolean {
		r.Type, r.Value = acp.OptionBoolean, json.RawMessage(value) // "true" or "false", which are its choices
	}
	options, err := p.agent.SetOption(ctx, r)
	if err == nil && options != nil {
		state.ConfigOptions = options
	}
	return err
}
