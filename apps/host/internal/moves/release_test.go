package moves

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// TestTheClientOfAMoveIsReleased: the client that moved a session here is removed when its
// connection ends, and not by a host that has ended itself: the next one does that, and may be
// running already.
func TestTheClientOfAMoveIsReleased(t *testing.T) {
	for name, ended := range map[string]bool{"while the host runs": false, "after the host has ended": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, one, client := confirmed(t, 0)
				if err := m.target.abort(one); err != nil {
					t.Fatal(err)
				}
				public := ident.Public{}
				if _, err := m.target.admission.clients.Admit(state.Client{ID: client, Public: public, Label: "source", Grants: []api.Grant{api.GrantMove}}); err != nil {
					t.Fatal(err)
				}
				removed := make(chan ident.ID, 1)
				m.target.admission.remove = func(_ context.Context, id ident.ID) error { removed <- id; return nil }
				ctx, stop := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { m.Run(ctx) })
				synctest.Wait()
				h := dispatchtest.New(t)
				h.Serve(m.Endpoints())
				c := h.Connect(client.String(), api.GrantMove)
				dispatchtest.Call(t, c, api.EndMove, api.EndMoveRequest{MoveID: "mov_1", Outcome: api.MoveForget})
				if ended {
					stop()
					running.Wait()
				}
				_ = c.Close() // what counts is that it ends
				synctest.Wait()
				if got := len(removed) == 1; got == ended {
					t.Errorf("the client was removed: %t", got)
				}
				stop()
				running.Wait()
			})
		})
	}
}
