package backend

import (
	"context"
	"errors"
	"slices"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// current returns the state of the session that a program has, after changes beside its turns.
func (b *Backends) current(sessionID string, p *program) acp.SessionState {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.slots[sessionID]; s != nil && s.program == p && s.state != nil {
		return copied(*s.state)
	}
	return p.state
}

// opened notes the session that a program has, for requests beside its turn.
func (b *Backends) opened(sessionID string, p *program) {
	state := copied(p.state)
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.slots[sessionID]; s != nil && s.program == p {
		s.state = &state
	}
}

// copied returns a state that shares nothing that is changed.
func copied(state acp.SessionState) acp.SessionState {
	state.ConfigOptions = slices.Clone(state.ConfigOptions)
	if state.Modes != nil {
		modes := *state.Modes
		state.Modes = &modes
	}
	if state.Models != nil {
		models := *state.Models
		state.Models = &models
	}
	return state
}

// SetOption implements sessions.Backends.
func (b *Backends) SetOption(ctx context.Context, sessionID, name, option, value string) error {
	b.mu.Lock()
	s := b.slots[sessionID]
	if s == nil || s.program == nil || s.state == nil || s.program.definition.Name != name || !s.program.alive() {
		b.mu.Unlock()
		return nil
	}
	p, state := s.program, copied(*s.state)
	b.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, b.options.OptionTimeout)
	defer cancel()
	err := p.set(ctx, &state, option, value)
	var refused *acp.Error
	known := err == nil || errors.Is(err, errNotOffered) || errors.As(err, &refused)
	b.mu.Lock()
	if s.program == p {
		if s.unsure = s.unsure || !known; err == nil {
			s.state = &state
		}
	}
	b.mu.Unlock()
	if err == nil || errors.Is(err, errNotOffered) || !p.alive() { // the next turn sets it
		return nil
	}
	return api.Errorf(api.KindConflict, "%s did not change the option: %v", p.definition.title(), err)
}
