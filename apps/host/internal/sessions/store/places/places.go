// Package places makes one provider of several: each session is kept by one of
// them, new ones by the one that is chosen for their project. It keeps the contract
// of store.Provider, and moves sessions between the providers.
//
// Where two providers hold a session of one id, as after a copy, the one that is
// chosen for its project counts, else the first by name. The other is left alone,
// with a note in the log.
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
	// ErrUnknown: there is no provider of that name.
	ErrUnknown = errors.New("there is no such session provider")
	// ErrThere: the session is kept by that provider already.
	ErrThere = errors.New("the session is there already")
	// ErrDiffers: that provider holds another state of the session.
	ErrDiffers = errors.New("another state of this session is there")
)

// Places is several providers.
type Places struct {
	// Static after New.
	providers map[string]store.Provider
	names     []string // sorted
	choose    func(projectID string) string
	logger    *slog.Logger

	mu    sync.Mutex
	where map[string]string // id -> name of the provider that has it, as last seen
}

var (
	_ store.Provider = (*Places)(nil)
	_ store.Tailer   = (*Places)(nil)
)

// New takes over providers by their names. choose names the one for new sessions of
// a project, and always one of them.
func New(providers map[string]store.Provider, choose func(projectID string) string, logger *slog.Logger) *Places {
	return &Places{
		providers: providers, names: slices.Sorted(maps.Keys(providers)), choose: choose, logger: logger, where: map[string]string{},
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
	p.mu.Unlock()
	if !ok {
		return "", nil, fmt.Errorf("finding session %s: %w", id, store.ErrNotFound)
	}
	return name, p.providers[name], nil
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

// free tells whether no provider that was looked at has a session of the id. The
// one that is chosen looks itself.
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

// Tail implements store.Tailer. A mark holds for the provider that gave it.
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

// List implements store.Provider. A provider that cannot be asked fails the whole:
// its sessions would look as if they were gone.
func (p *Places) List(ctx context.Context) ([]store.Info, error) {
	where, at := map[string]string{}, map[string]int{}
	var list []store.Info
	for _, name := range p.names {
		infos, err := p.providers[name].List(ctx)
		if err != nil {
			return nil, fmt.Errorf("session provider %s: %w", name, err)
		}
		for _, info := range infos {
			id := info.Header.ID
			first, twice := where[id]
			if !twice {
				where[id], at[id] = name, len(list)
				list = append(list, info)
				continue
			}
			kept, aside := first, name
			if p.choose(info.ProjectID) == name {
				kept, aside = name, first
				where[id], list[at[id]] = name, info
			}
			p.logger.Warn("two session providers hold one session; the second is left aside", "session", id, "used", kept, "aside", aside)
		}
	}
	p.mu.Lock()
	p.where = where
	p.mu.Unlock()
	return list, nil
}

// Delete implements store.Provider. Copies that other providers hold go too: one of
// them would be found in its place.
func (p *Places) Delete(ctx context.Context, id string) error {
	name, provider, err := p.find(ctx, id)
	if err != nil {
		return err
	}
	if err := provider.Delete(ctx, id); err != nil {
		return err
	}
	p.note(id, "")
	for _, other := range p.names {
		if other == name {
			continue
		}
		if err := p.providers[other].Delete(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return fmt.Errorf("deleting the copy that session provider %s holds: %w", other, err)
		}
	}
	return nil
}

// Copy copies a session to another provider, every byte of it, and reads it back to
// compare; with move it takes it away where it was. Doing it again changes nothing.
// A session that is open is refused. ErrUnknown, ErrThere, ErrDiffers, and those of
// the providers.
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
	log, err := from.Open(ctx, id) // nobody adds to it meanwhile, and an old form is brought to the newest
	if err != nil {
		return err
	}
	projectID, err := carry(ctx, from, target, id)
	if err = errors.Join(err, log.Close()); err != nil {
		return fmt.Errorf("copying session %s from %s to %s: %w", id, name, to, err)
	}
	if move {
		if err := from.Delete(ctx, id); err != nil {
			return fmt.Errorf("the session is copied, and still in %s too: %w", name, err)
		}
	}
	if move || p.choose(projectID) == to {
		p.note(id, to)
	}
	return nil
}

// carry copies a session and compares.
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
		return "", fmt.Errorf("%w: delete the one that is not needed first", ErrDiffers)
	}
	return "", errors.Join(errors.New("what was stored is not what was sent; it is taken away again"), to.Delete(ctx, id))
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
