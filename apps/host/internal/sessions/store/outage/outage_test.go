package outage

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/storetest"
)

// database is a provider in files that can be taken away.
type database struct {
	store.Provider
	away atomic.Bool
}

func (d *database) down() error {
	if d.away.Load() {
		return errDown
	}
	return nil
}

func (d *database) Tail(ctx context.Context, id, mark string) (store.Tail, error) {
	return store.ReadTail(ctx, d.Provider, id, mark)
}

func (d *database) Ping(context.Context) error { return d.down() }

func (d *database) Create(ctx context.Context, projectID string, header json.RawMessage, lines ...json.RawMessage) (store.Log, error) {
	if err := d.down(); err != nil {
		return nil, err
	}
	return d.Provider.Create(ctx, projectID, header, lines...)
}

func opener(d *database) func(context.Context) (Reachable, error) {
	return func(context.Context) (Reachable, error) {
		if err := d.down(); err != nil {
			return nil, err
		}
		return d, nil
	}
}

var errDown = errors.New("no answer")

// TestContract holds the provider to the contract while it can be reached.
func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Open {
		dir := t.TempDir()
		return func(t *testing.T) store.Provider {
			p := New("db", "here", opener(&database{Provider: file.New(dir, slog.New(slog.DiscardHandler))}), slog.New(slog.DiscardHandler))
			p.Await(t.Context())
			return p
		}
	})
}

// TestItComesBack takes the database away before the start and again later.
func TestItComesBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &database{Provider: file.New(dir, slog.New(slog.DiscardHandler))}
		d.away.Store(true)
		p := New("db", "here", opener(d), slog.New(slog.DiscardHandler))
		p.Await(t.Context())
		var changes atomic.Int32
		seen := p.State()
		if seen.Reason != errDown.Error() || seen.Name != "db" || seen.Place != "here" {
			t.Fatalf("state %+v", seen)
		}
		p.Watch(seen, func() { changes.Add(1) })
		expect := func(what string, available bool, told int32) {
			t.Helper()
			synctest.Wait()
			_, err := p.List(t.Context())
			if (err == nil) != available || (p.State().Reason == "") != available || changes.Load() != told {
				t.Errorf("%s: %v, state %+v, %d changes", what, err, p.State(), changes.Load())
			}
			var unavailable *store.UnavailableError
			if !available && (!errors.As(err, &unavailable) || !errors.Is(err, store.ErrUnavailable) || unavailable.Provider != "db") {
				t.Errorf("%s: %v", what, err)
			}
		}
		time.Sleep(time.Minute)
		expect("down from the start", false, 0)

		d.away.Store(false)
		time.Sleep(longestRetry)
		expect("come back", true, 1)

		d.away.Store(true)
		time.Sleep(idleCheck)
		expect("gone while idle", false, 2)

		d.away.Store(false)
		time.Sleep(longestRetry)
		expect("back again", true, 3)

		d.away.Store(true)
		if _, err := p.Create(t.Context(), "prj", json.RawMessage(`{}`)); !errors.Is(err, errDown) {
			t.Errorf("creating: %v", err)
		}
		expect("gone in a request", false, 4) // without waiting for the next check
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}
