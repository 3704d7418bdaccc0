package relay_test

import (
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/natstest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Nodes write their times into the store that they share. Times are for people:
// what was revoked is found by the order of writing, whichever clock is wrong.
func TestAWrongClockHidesNoRevocation(t *testing.T) {
	for name, clocks := range map[string]struct{ others, revoker time.Duration }{
		"others are ahead":      {others: time.Hour},
		"the revoker is behind": {revoker: -time.Hour},
		"the revoker is ahead":  {revoker: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			st := relaytest.OpenStore(t, t.TempDir()+"/relay.db")
			bus := natstest.Start(t)
			node := startNodes(t, st, nil, bus.URL())[0]
			host, entry := node.PairedPeers(t)
			relaytest.Open(t, entry, host)
			other, marker := node.PairedPeers(t)
			relaytest.Open(t, marker, other)
			bus.Stop() // only the store tells from here on
			revoke := func(host, entry *relaytest.Peer, clock time.Duration) {
				t.Helper()
				if err := st.Revoke(t.Context(), host.ID, entry.ID, host.ID, time.Now().Add(clock)); err != nil {
					t.Fatal(err)
				}
				if got := relaytest.Await[wire.ChannelClosed](entry); got.Reason != wire.ReasonRevoked {
					t.Errorf("received %+v", got)
				}
			}
			// More than one look at the audit holds. The node has seen them when it
			// has seen what follows.
			a, b := partyOf(t, ident.KindDevice), partyOf(t, ident.KindClient)
			for i := range 300 {
				if err := st.Bind(t.Context(), a, b, time.Now().Add(clocks.others+time.Duration(i)*time.Microsecond)); err != nil {
					t.Fatal(err)
				}
			}
			revoke(other, marker, clocks.others+time.Minute)
			revoke(host, entry, clocks.revoker)
		})
	}
}

func partyOf(t *testing.T, kind ident.Kind) store.Party {
	t.Helper()
	keys := relaytest.NewKeys(t, kind)
	return store.Party{ID: keys.ID(), Public: keys.Public(), Label: "wrong clock"}
}
