package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/scorel/scorel/packages/acp"
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
		err := w.choose(ctx, func(id, category string) bool { return category == wanted.category }, wanted.value)
		if errors.Is(err, errNotOffered) && w.definition.BuiltIn { // another version of the program has other modes
			continue
		}
		if err != nil {
			return fmt.Errorf("setting the %s %q: %w", wanted.category, wanted.value, err)
		}
	}
	return nil
}

// restore sets the options of a loaded session to those in the log, which programs forget when
// they end: without it, a session would continue in a mode that asks less. The log of an import
// has none.
func (w *work) restore(ctx context.Context) error {
	if len(w.kept.Options.Options) == 0 {
		return w.configure(ctx)
	}
	for _, kept := range w.kept.Options.Options {
		err := w.choose(ctx, func(id, _ string) bool { return id == kept.ID }, kept.Value)
		if err != nil && !errors.Is(err, errNotOffered) && kept.Category == acp.CategoryMode {
			return fmt.Errorf("setting the mode %q again: %w", kept.Value, err)
		}
	}
	return nil
}

// modeOption is the id of the option that stands for the modes of agents without options.
const modeOption = "mode"

// choose sets the first option that is meant and has a value.
func (w *work) choose(ctx context.Context, is func(id, category string) bool, value string) error {
	state := &w.program.state
	hasMode := false
	for _, option := range state.ConfigOptions {
		hasMode = hasMode || option.Category == acp.CategoryMode
		if !is(option.ID, option.Category) {
			continue
		}
		if option.Current() == value {
			return nil
		}
		if !slices.ContainsFunc(option.Choices(), func(c acp.ConfigChoice) bool { return c.Value == value }) {
			continue
		}
		return w.setOption(ctx, option.ID, value)
	}
	if state.Modes == nil || hasMode || !is(modeOption, acp.CategoryMode) {
		return errNotOffered
	}
	if state.Modes.CurrentModeID == value {
		return nil
	}
	if !slices.ContainsFunc(state.Modes.AvailableModes, func(m acp.Mode) bool { return m.ID == value }) {
		return errNotOffered
	}
	err := w.program.agent.SetMode(ctx, state.SessionID, value)
	if err == nil {
		state.Modes.CurrentModeID = value
	}
	return err
}

func (w *work) setOption(ctx context.Context, id, value string) error {
	encoded, err := json.Marshal(value)
	if err != nil {
		return err
	}
	state := &w.program.state
	options, err := w.program.agent.SetOption(ctx, acp.SetConfigOptionRequest{SessionID: state.SessionID, ConfigID: id, Value: encoded})
	if err == nil && options != nil {
		state.ConfigOptions = options
	}
	return err
}
