package dispatch

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func dispatcherWith(tokens *state.Tokens, endpoints ...Endpoint) *Dispatcher {
	log := slog.New(slog.DiscardHandler)
	return New(Options{Logger: log, Hub: NewHub(log, nil), Tokens: tokens, Endpoints: endpoints})
}

// silent is a transport of a client that sends nothing.
type silent struct{}

func (silent) Send(context.Context, []byte) error { return nil }

func (silent) Receive(ctx context.Context) ([]byte, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

func (silent) Close() error { return nil }

// TestATokenThatWasRevokedMeanwhileGetsNoConnection: between the look at the token
// and the list of connections it may have been revoked.
func TestATokenThatWasRevokedMeanwhileGetsNoConnection(t *testing.T) {
	tokens, err := state.LoadTokens(filepath.Join(t.TempDir(), "tokens.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := dispatcherWith(tokens)
	if err := d.Serve(t.Context(), silent{}, "tok_0123456789abcdef", api.AllGrants()); !errors.Is(err, ErrTokenRevoked) {
		t.Errorf("its connection ended with %v", err)
	}
}

// TestAClientThatWasRemovedMeanwhileGetsNoConnection: between the look at the list of clients,
// from which its grants come, and the hub it may have been removed. Nothing is read from it, and
// it may do nothing.
func TestAClientThatWasRemovedMeanwhileGetsNoConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a connection that stays is a deadlock
		keys, err := ident.Generate(ident.KindClient, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		clients, err := state.LoadClients(filepath.Join(t.TempDir(), "clients.json"))
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcherWith(nil)
		d.Hub.clients = clients
		d.Begun = func(clientID string) {
			for c := range d.Hub.conns {
				if c.clientID == clientID && len(c.Grants()) != 0 {
					t.Errorf("it may %v", c.Grants())
				}
			}
		}
		if err := d.Serve(t.Context(), silent{}, keys.ID().String(), api.AllGrants()); !errors.Is(err, ErrClientRemoved) {
			t.Errorf("its connection ended with %v", err)
		}
	})
}

// TestAConnectionEndsWithItsToken: not before, and not only with the next request.
func TestAConnectionEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens, err := state.LoadTokens(filepath.Join(t.TempDir(), "tokens.json"))
		if err != nil {
			t.Fatal(err)
		}
		token, err := tokens.Add(strings.Repeat("ab", 32), "brief", api.AllGrants(), time.Now().Add(time.Hour).UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		d := dispatcherWith(tokens)
		begun := time.Now()
		if err := d.Serve(t.Context(), silent{}, token.ID, token.Grants); !errors.Is(err, ErrTokenExpired) {
			t.Errorf("its connection ended with %v", err)
		}
		if took := time.Since(begun); took != time.Hour {
			t.Errorf("its connection ended after %s", took)
		}
	})
}

// TestATokenExpiresWhileTheMachineSleeps: its timers stood still, so the clock decides.
func TestATokenExpiresWhileTheMachineSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var slept atomic.Int64
		expires := time.UnixMilli(time.Now().Add(time.Hour).UnixMilli())
		ended := make(chan bool)
		go func() {
			ended <- await(t.Context(), expires, func() time.Time { return time.Now().Add(time.Duration(slept.Load())) })
		}()
		<-time.After(time.Minute)
		slept.Store(int64(2 * time.Hour))
		woke := time.Now()
		if !<-ended || time.Since(woke) > lookEvery {
			t.Errorf("it expired %s after the machine woke", time.Since(woke))
		}
	})
}
