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

// chooser sets the options of a program's session. It notes them in state.
type chooser struct {
	program    *program
	state      *acp.SessionState
	definition Definition
	kept       agent.Kept
}

// chooser returns one for the program of the turn.
func (w *work) chooser() chooser { return chooser{w.program, &w.program.state, w.definition, w.kept} }

// configure sets the mode and the model that config.toml asks for. A value that the agent does
// not offer is an error only if people chose it.
func (c chooser) configure(ctx context.Context) error {
	for _, wanted := range []struct{ category, value string }{{acp.CategoryMode, c.definition.Mode}, {acp.CategoryModel, c.definition.Model}} {
		if wanted.value == "" {
			continue
		}
		err := c.choose(ctx, func(o session.BackendOption) bool { return o.Category == wanted.category }, wanted.value)
		if errors.Is(err, errNotOffered) && c.definition.BuiltIn { // another version of the program has other modes
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
func (c chooser) restore(ctx context.Context) error {
	if len(c.kept.Options.Options) == 0 {
		return c.configure(ctx)
	}
	for _, kept := range c.kept.Options.Options {
		err := c.choose(ctx, func(o session.BackendOption) bool { return o.ID == kept.ID }, kept.Value)
		if err != nil && !errors.Is(err, errNotOffered) && kept.Category == acp.CategoryMode {
			return fmt.Errorf("setting the mode %q again: %w", kept.Value, err)
		}
	}
	return nil
}

// restrain sets the agent to a mode in which it asks, and other options that may decide what it asks
// for to the values that they had before people changed them. It returns what was set aside.
func (c chooser) restrain(ctx context.Context) (aside, error) {
	mode, asks := c.definition.asking()
	if !asks {
		return aside{}, fmt.Errorf("%s has no mode in which it asks", c.definition.title())
	}
	before := c.kept.Options.Options
	if len(before) == 0 {
		if err := c.configure(ctx); err != nil {
			return aside{}, err
		}
		before = stateOptions(*c.state)
	}
	for _, first := range c.kept.First {
		err := c.choose(ctx, func(o session.BackendOption) bool { return o.ID == first.ID }, c.restrained(first))
		if err != nil && !errors.Is(err, errNotOffered) && !agent.Harmless(first.Category) {
			return aside{}, fmt.Errorf("setting the option %q back: %w", first.ID, err)
		}
	}
	if mode != "" && !c.asks(mode) {
		err := c.choose(ctx, func(o session.BackendOption) bool { return o.Category == acp.CategoryMode }, mode)
		if errors.Is(err, errNotOffered) {
			return aside{}, fmt.Errorf("%s does not offer the mode %q, in which it would ask, and this prompt may not run in another one: send it on the host's own machine, or name a mode in config.toml", c.definition.title(), mode)
		}
		if err != nil {
			return aside{}, err
		}
	}
	return aside{before: before, asking: stateOptions(*c.state)}, nil
}

// asks reports whether the agent knows the mode in which it asks, and is in that one or in another
// one in which it does not decide by itself.
func (c chooser) asks(mode string) bool {
	return slices.ContainsFunc(stateOptions(*c.state), func(o session.BackendOption) bool {
		knows := slices.ContainsFunc(o.Choices, func(c session.BackendChoice) bool { return c.Value == mode })
		return o.Category == acp.CategoryMode && knows && !agent.DecidesIn(o.Value)
	})
}

// restrained returns the value that an option has while the agent is to ask.
func (c chooser) restrained(first session.BackendOption) string {
	for _, kept := range c.kept.Options.Options {
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
func (c chooser) choose(ctx context.Context, is func(session.BackendOption) bool, value string) error {
	for _, option := range stateOptions(*c.state) {
		if !is(option) {
			continue
		}
		if option.Value == value {
			return nil
		}
		if !slices.ContainsFunc(option.Choices, func(c session.BackendChoice) bool { return c.Value == value }) {
			continue
		}
		return c.program.set(ctx, c.state, option.ID, value)
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
