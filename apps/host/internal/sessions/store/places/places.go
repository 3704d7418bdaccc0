// Package places combines several providers into one: each session is stored by one of them,
// and new ones by the provider chosen for their project. It implements store.Provider, and
// moves sessions between the providers.
//
// If two providers have a session with the same id, as after a copy, the one chosen for its
// project is used, otherwise the first by name. The other copy is logged and left alone.
package places

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Errors of Copy.
var (
	// ErrUnknown: there is no provider with that name.
	ErrUnknown = errors.New("unknown session provider")
	// ErrThere: the provider already has the session.
	ErrThere = errors.New("the session is already there")
	// ErrDiffers: the provider has another state of the session.
	ErrDiffers = errors.New("a different version of this session is already there")
)

// Places combines several providers.
type Places struct {
	// Static after New.
	providers map[string]store.Provider
	names     []string // sorted
	choose    func(projectID string) string
	logger    *slog.Logger

	mu    sync.Mutex
	where map[string]string // id -> name of the provider that has it, as last seen
	away  error             // why a provider was left out of the last list
	// owed are the copies to be deleted once their provider is available, by provider name.
	owed map[string]map[string]bool
}

var (
	_ store.Provider = (*Places)(nil)
	_ store.Tailer   = (*Places)(nil)

	_ store.Incomplete = (*Places)(nil)
)

// New takes ownership of providers by name. choose names the one for new sessions of a project,
// and always one of them.
func New(providers map[string]store.Provider, choose func(projectID string) string, logger *slog.Logger) *Places {
	return &Places{
		providers: providers, names: slices.Sorted(maps.Keys(providers)), choose: choose, logger: logger,
		where: map[string]string{}, owed: map[string]map[string]bool{},
	}
}

// Names lists the providers, sorted.
func (p *Places) Names() []string { return slices.Clone(p.names) }

// find returns the provider that has a session.
func (p *Places) find(ctx context.Context, id string) (string, store.Provider, error) {
	p.mu.Lock()
	name, ok := p.where[id]
	p.mu.Unlock()
	if ok {
		return name, p.providers[name], nil
	}
	if store.CheckName(id) != nil {
		return "", nil, fmt.Errorf("finding session %.140q: %w", id, store.ErrNotFound)
	}
	if _, err := p.List(ctx); err != nil {
		return "", nil, err
	}
	p.mu.Lock()
	name, ok = p.where[id]
	away := p.away
	p.mu.Unlock()
	switch {
	case ok:
		return name, p.providers[name], nil
	case away != nil: // it may have the session
		return "", nil, fmt.Errorf("finding session %s: %w", id, away)
	}
	return "", nil, fmt.Errorf("finding session %s: %w", id, store.ErrNotFound)
}

// Locate implements store.Locator.
func (p *Places) Locate(ctx context.Context, id string) (string, error) {
	_, provider, err := p.find(ctx, id)
	if err != nil {
		return "", err
	}
	if locator, ok := provider.(store.Locator); ok {
		return locator.Locate(ctx, id)
	}
	return id, nil
}

func (p *Places) note(id, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if name == "" {
		delete(p.where, id)
	} else {
		p.where[id] = name
	}
}

// Create implements store.Provider.
func (p *Places) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	h, err := store.CheckHeader(header)
	if err == nil {
		err = p.free(ctx, h.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("creating a session: %w", err)
	}
	name := p.choose(projectID)
	log, err := p.providers[name].Create(ctx, projectID, header, lines...)
	if err == nil {
		p.note(h.ID, name)
	}
	return log, err
}

// free reports whether none of the checked providers has a session with the id. The chosen one
// checks by itself.
func (p *Places) free(ctx context.Context, id string) error {
	if len(p.names) == 1 {
		return nil
	}
	p.mu.Lock()
	_, taken := p.where[id]
	p.mu.Unlock()
	if taken {
		return fmt.Errorf("%w: %s", store.ErrExists, id)
	}
	return ctx.Err()
}

// Import implements store.Provider.
func (p *Places) Import(ctx context.Context, projectID string, data []byte) error {
	parts, err := store.Split(data)
	if err == nil {
		err = p.free(ctx, parts.Header.ID)
	}
	if err != nil {
		return fmt.Errorf("importing a session: %w", err)
	}
	name := p.choose(projectID)
	if err = p.providers[name].Import(ctx, projectID, data); err == nil {
		p.note(parts.Header.ID, name)
	}
	return err
}

// Open implements store.Provider.
func (p *Places) Open(ctx context.Context, id string) (store.Log, error) {
	_, provider, err := p.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return provider.Open(ctx, id)
}

// Read implements store.Provider.
func (p *Places) Read(ctx context.Context, id string) (*session.File, error) {
	_, provider, err := p.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return provider.Read(ctx, id)
}

// Tail implements store.Tailer. A mark is valid for the provider that returned it.
func (p *Places) Tail(ctx context.Context, id, mark string) (store.Tail, error) {
	name, provider, err := p.find(ctx, id)
	if err != nil {
		return store.Tail{}, err
	}
	prefix := name + ":"
	own, ok := strings.CutPrefix(mark, prefix)
	if !ok {
		own = ""
	}
	tail, err := store.ReadTail(ctx, provider, id, own)
	if tail.Mark != "" {
		tail.Mark = prefix + tail.Mark
	}
	return tail, err
}

// Export implements store.Provider.
func (p *Places) Export(ctx context.Context, id string) (string, []byte, error) {
	_, provider, err := p.find(ctx, id)
	if err != nil {
		return "", nil, err
	}
	return provider.Export(ctx, id)
}

// Copy copies a session to another provider byte for byte and verifies the copy; with move it
// then deletes the original. Repeating it changes nothing. An open session is rejected.
// ErrUnknown, ErrThere, ErrDiffers, and the errors of the providers.
func (p *Places) Copy(ctx context.Context, id, to string, move bool) error {
	target, ok := p.providers[to]
	if !ok {
		return fmt.Errorf("%w: %.64q; this host has %s", ErrUnknown, to, strings.Join(p.names, ", "))
	}
	name, from, err := p.find(ctx, id)
	if err != nil {
		return err
	}
	if name == to {
		return fmt.Errorf("%w: session provider %s", ErrThere, to)
	}
	log, err := from.Open(ctx, id) // no one else appends to it, and an old format is migrated
	if err != nil {
		return err
	}
	projectID, err := carry(ctx, from, target, id)
	if err = errors.Join(err, log.Close()); err != nil {
		return fmt.Errorf("copying session %s from %s to %s: %w", id, name, to, err)
	}
	if move {
		if err := from.Delete(ctx, id); err != nil {
			return fmt.Errorf("the session was copied, but is also still in %s: %w", name, err)
		}
	}
	if move || p.choose(projectID) == to {
		p.note(id, to)
	}
	return nil
}

// carry copies a session and verifies the copy.
func carry(ctx context.Context, from, to store.Provider, id string) (projectID string, err error) {
	projectID, data, err := from.Export(ctx, id)
	if err != nil {
		return "", err
	}
	err = to.Import(ctx, projectID, data)
	there := errors.Is(err, store.ErrExists)
	if err != nil && !there {
		return "", err
	}
	_, back, err := to.Export(ctx, id)
	switch {
	case err != nil:
		return "", err
	case bytes.Equal(back, data):
		return projectID, nil
	case there:
		return "", fmt.Errorf("%w: delete the version that you do not need first", ErrDiffers)
	}
	return "", errors.Join(errors.New("the stored copy differs from the original and is deleted again"), to.Delete(ctx, id))
}

// Close implements store.Provider: it closes all.
func (p *Places) Close() error {
	var errs []error
	for _, name := range p.names {
		if err := p.providers[name].Close(); err != nil {
			errs = append(errs, fmt.Errorf("session provider %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
