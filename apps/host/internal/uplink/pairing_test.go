package uplink

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// TestPairingsThatAreLeftEnd: those that nobody awaits any more do not keep others from pairing
// until the host is restarted.
func TestPairingsThatAreLeftEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		options := Options{Logger: slog.New(slog.DiscardHandler)}
		p := NewPairings(NewAll(nil, options), options)
		begin := func() (string, error) { return p.add(&client.Pairing{}) }
		for range maxPairings - 1 {
			if _, err := begin(); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(wire.PairTimeout)
		last, err := begin()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(wire.PairTimeout + time.Second)
		if _, err := begin(); err != nil {
			t.Errorf("after those before have expired: %v", err)
		}
		if _, err := p.get(last); err != nil {
			t.Errorf("one that can still be finished: %v", err)
		}
	})
}
