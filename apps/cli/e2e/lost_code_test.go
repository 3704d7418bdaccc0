package e2e

import (
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestACodeDiesWithItsConnection: an entry that shows a code learns that the connection which it
// belongs to was lost, and does not wait for someone who cannot come.
func TestACodeDiesWithItsConnection(t *testing.T) {
	w := newWorld(t)
	created := ask(t, w.local, api.CreatePairing, api.CreatePairingRequest{})
	ended := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), w.local, api.AwaitPairing, api.PairingRequest{PairingID: created.PairingID})
		ended <- err
	}()
	w.relay.Stop(t)
	err := <-ended
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindPairing || !strings.Contains(refused.Message, "connection to the relay was lost") {
		t.Errorf("got %v", err)
	}
	_, err = client.Call(t.Context(), w.local, api.FinishPairing, api.FinishPairingRequest{PairingID: created.PairingID})
	if !errors.As(err, &refused) || refused.Kind != api.KindNotFound {
		t.Errorf("the pairing is still there: %v", err)
	}
}
