package places

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
)

// List implements store.Provider. It leaves out a provider that is unavailable, which Missing
// then reports. Any other failure makes List fail, because the sessions would appear to be
// deleted.
func (p *Places) List(ctx context.Context) ([]store.Info, error) {
	l := listing{places: p, where: map[string]string{}, at: map[string]int{}}
	for _, name := range p.names {
		infos, err := p.providers[name].List(ctx)
		switch {
		case errors.Is(err, store.ErrUnavailable):
			l.leaveOut(name, err)
		case err != nil:
			return nil, fmt.Errorf("session provider %s: %w", name, err)
		default:
			for _, info := range p.settle(ctx, name, infos) {
				l.add(name, info)
			}
		}
	}
	p.mu.Lock()
	p.where, p.away = l.where, l.away
	p.mu.Unlock()
	return l.list, nil
}

// Missing implements store.Incomplete.
func (p *Places) Missing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.away != nil
}

// listing is a list under construction.
type listing struct {
	places *Places
	list   []store.Info
	where  map[string]string
	at     map[string]int // id -> index in list; absent for sessions that were left out
	away   error
}

// leaveOut keeps what is known about a provider that is unavailable.
func (l *listing) leaveOut(name string, err error) {
	l.away = err
	l.places.mu.Lock()
	known := maps.Clone(l.places.where)
	l.places.mu.Unlock()
	for id, has := range known {
		if _, taken := l.where[id]; has == name && !taken {
			l.where[id] = name
		}
	}
}

func (l *listing) add(name string, info store.Info) {
	id := info.Header.ID
	first, twice := l.where[id]
	if !twice {
		l.where[id], l.at[id] = name, len(l.list)
		l.list = append(l.list, info)
		return
	}
	kept, aside := first, name
	if l.places.choose(info.ProjectID) == name {
		kept, aside = name, first
		l.where[id] = name
		if i, listed := l.at[id]; listed {
			l.list[i] = info
		} else {
			l.at[id] = len(l.list)
			l.list = append(l.list, info)
		}
	}
	l.places.logger.Warn("two session providers have the same session; the second is ignored", "session", id, "used", kept, "aside", aside)
}

// Delete implements store.Provider. It also deletes copies in other providers, because one of
// them would take the session's place. If such a provider is unavailable, its copy is deleted
// as soon as the provider is listed again.
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
		err := p.providers[other].Delete(ctx, id)
		switch {
		case errors.Is(err, store.ErrUnavailable):
			p.owe(other, id)
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return fmt.Errorf("deleting the copy in session provider %s: %w", other, err)
		}
	}
	return nil
}

// owe records a copy to be deleted later. The record is lost when the host ends.
func (p *Places) owe(name, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed[name] == nil {
		p.owed[name] = map[string]bool{}
	}
	p.owed[name][id] = true
}

// settle deletes the copies that became due while a provider was unavailable, and returns the
// remaining sessions.
func (p *Places) settle(ctx context.Context, name string, infos []store.Info) []store.Info {
	p.mu.Lock()
	owed := p.owed[name]
	delete(p.owed, name)
	p.mu.Unlock()
	if len(owed) == 0 {
		return infos
	}
	var left []store.Info
	for _, info := range infos {
		id := info.Header.ID
		if !owed[id] {
			left = append(left, info)
			continue
		}
		if err := p.providers[name].Delete(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			p.logger.Error("deleting the copy of a deleted session", "session", id, "provider", name, "error", err)
			p.owe(name, id)
		}
	}
	return left
}
