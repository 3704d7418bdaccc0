package directory

import (
	"context"
	"log/slog"
	"time"

	"github.com/scorel/scorel/apps/relay/internal/metrics"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Store is the relay's store with a time limit for each call. Failures are counted and
// logged.
type Store struct {
	store.Store
	Timeout func() time.Duration
	Log     *slog.Logger
	Metrics *metrics.Metrics
}

// Context bounds one call.
func (s *Store) Context() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), s.Timeout())
}

// Failed counts and logs a call that failed.
func (s *Store) Failed(operation string, err error) {
	s.Metrics.StoreErrors.WithLabelValues(operation).Inc()
	s.Log.Error("store did not answer", "operation", operation, "error", err)
}

// bindings returns the valid bindings of a party.
func (s *Store) bindings(id ident.ID) ([]wire.Peer, error) {
	ctx, cancel := s.Context()
	defer cancel()
	parties, err := s.Bindings(ctx, id)
	if err != nil {
		return nil, err
	}
	peers := make([]wire.Peer, len(parties))
	for i, p := range parties {
		peers[i] = wire.Peer{ID: p.ID, Public: p.Public, Label: p.Label}
	}
	return peers, nil
}

func (s *Store) relabel(self wire.Peer) error {
	ctx, cancel := s.Context()
	defer cancel()
	return s.Relabel(ctx, self.ID, self.Label)
}

func (s *Store) events(n int) ([]store.Event, error) {
	ctx, cancel := s.Context()
	defer cancel()
	return s.Audit(ctx, n)
}

// AsParty returns a peer in the form that the store writes.
func AsParty(p wire.Peer) store.Party { return store.Party{ID: p.ID, Public: p.Public, Label: p.Label} }
