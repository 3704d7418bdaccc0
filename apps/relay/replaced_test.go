package relay_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// deafBus is a bus that loses the notices of logins, as one does on which the subscription of
// the older node has not arrived yet.
type deafBus struct {
	bus.Bus
	lose atomic.Int32 // how many notices are still lost
}

type deafNode struct {
	bus.Node
	bus *deafBus
}

func (b *deafBus) Attach(handle func(bus.Message)) (bus.Node, error) {
	n, err := b.Bus.Attach(handle)
	return deafNode{n, b}, err
}

func (n deafNode) Publish(subject string, data []byte) error {
	if strings.Contains(string(data), `"`+cluster.NoticeLogin+`"`) && n.bus.lose.Add(-1) >= 0 {
		return nil
	}
	return n.Node.Publish(subject, data)
}

func TestAHostWhoseNoticeWasLostReplacesTheOlder(t *testing.T) {
	local, st := bus.NewLocal(), relaytest.OpenStore(t, t.TempDir()+"/relay.db")
	deaf := &deafBus{Bus: local}
	node := func() *relaytest.Server {
		return relaytest.Start(t, func(cfg *relay.Config) { cfg.Store, cfg.Bus = st, deaf })
	}
	first, second := node(), node()
	older := first.Login(t, relaytest.NewKeys(t, ident.KindDevice), "older")
	for range 4 { // with the repeated notices of the older one, which are the next to come
		deaf.lose.Store(2)
		newer := second.Login(t, older.Keys, "newer")
		if got := relaytest.Await[wire.Goodbye](older); got.Reason != wire.ReasonReplaced {
			t.Fatalf("the older host received %+v", got)
		}
		first, second, older = second, first, newer
	}
	older.Quiet()
}
