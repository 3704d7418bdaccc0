// Package stores opens the session providers that config.toml names: files in the home,
// and databases that may be unavailable for a while.
package stores

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/mysql"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/outage"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/places"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/postgres"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// startWait is how long a starting host waits for its session databases. It uses one that
// answers later from then on.
const startWait = 10 * time.Second

// sessionDatabase says how a session provider that is a database is opened.
type sessionDatabase struct {
	place func(address string) (string, error)
	open  func(context.Context, string, *slog.Logger) (*rows.Provider, error)
}

// Stores are the session providers of a host.
type Stores struct {
	*places.Places
	choose    func(projectID string) string // names the provider of a project's new sessions
	databases map[string]*outage.Provider   // by name
	seen      map[string]outage.State       // as they were when the sessions were first listed
}

// Open opens every session provider whose address is known. An address that cannot
// be read is an error. A database that cannot be reached is not: its sessions are
// unavailable until it can. beneath, unless it is nil, wraps each provider.
func Open(ctx context.Context, config state.Config, dir string, beneath func(store.Provider) store.Provider, logger *slog.Logger) (*Stores, error) {
	if beneath == nil {
		beneath = func(p store.Provider) store.Provider { return p }
	}
	s := &Stores{choose: config.SessionProvider, databases: map[string]*outage.Provider{}, seen: map[string]outage.State{}}
	providers := map[string]store.Provider{state.SessionsInFiles: beneath(file.New(dir, logger))}
	for name, database := range map[string]sessionDatabase{
		state.SessionsInPostgres: {postgres.Place, postgres.Open}, state.SessionsInMySQL: {mysql.Place, mysql.Open},
	} {
		address := config.SessionURL(name)
		if address == "" {
			continue
		}
		place, err := database.place(address)
		if err != nil {
			return nil, errors.Join(state.Misconfigured(fmt.Errorf("session provider %s: %w", name, err)), places.New(providers, config.SessionProvider, logger).Close())
		}
		s.databases[name] = outage.New(name, place, func(ctx context.Context) (outage.Reachable, error) {
			provider, err := database.open(ctx, address, logger)
			if err != nil {
				return nil, err
			}
			return reachable{beneath(provider), provider}, nil
		}, logger)
		providers[name] = s.databases[name]
	}
	s.Places = places.New(providers, config.SessionProvider, logger)
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for name, database := range s.databases {
		database.Await(ctx)
		s.seen[name] = database.State()
	}
	return s, nil
}

// reachable is a provider whose database is asked directly whether it answers.
type reachable struct {
	store.Provider
	database *rows.Provider
}

func (r reachable) Ping(ctx context.Context) error { return r.database.Ping(ctx) }

// Tail implements store.Tailer.
func (r reachable) Tail(ctx context.Context, id, mark string) (store.Tail, error) {
	return store.ReadTail(ctx, r.Provider, id, mark)
}

// Watch has fn called after a database became available or unavailable.
func (s *Stores) Watch(fn func()) {
	for name, database := range s.databases {
		database.Watch(s.seen[name], fn)
	}
}

// Outages lists the databases that are unavailable, by name.
func (s *Stores) Outages() []api.Outage {
	var list []api.Outage
	for _, name := range s.Names() {
		database, ok := s.databases[name]
		if !ok {
			continue
		}
		if now := database.State(); now.Reason != "" {
			list = append(list, api.Outage{Provider: name, Place: now.Place, Reason: now.Reason, Since: now.Since.UnixMilli()})
		}
	}
	return list
}

// Unavailable returns why the sessions of a project cannot be reached, or "".
func (s *Stores) Unavailable(projectID string) string {
	database, ok := s.databases[s.choose(projectID)]
	if !ok {
		return ""
	}
	return database.State().Reason
}
