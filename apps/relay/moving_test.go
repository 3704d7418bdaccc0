package relay_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/internal/channel"
	"github.com/scorel/scorel/apps/relay/internal/cluster"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// staleBus is a bus on which the node that a device has just left answers first: requests
// for a channel reach the device's node, but the first answers that come back are refusals.
type staleBus struct {
	bus.Bus
	stale atomic.Int32 // how many answers are still those of the node that was left
}

type staleNode struct {
	bus.Node
	bus *staleBus
}

func (b *staleBus) Attach(handle func(bus.Message)) (bus.Node, error) {
	n, err := b.Bus.Attach(handle)
	return staleNode{n, b}, err
}

func (n staleNode) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	answer, err := n.Node.Request(ctx, subject, data)
	if err == nil && strings.Contains(string(data), `"`+cluster.NoticeOpen+`"`) && n.bus.stale.Add(-1) >= 0 {
		return json.Marshal(cluster.Refusal(channel.ErrOffline()))
	}
	return answer, err
}

// movedHost pairs a host with an entry whose node hears stale answers.
func movedHost(t *testing.T, stale int32) (host, entry *relaytest.Peer) {
	local, st := bus.NewLocal(), relaytest.OpenStore(t, t.TempDir()+"/relay.db")
	late := &staleBus{Bus: local}
	there := relaytest.Start(t, func(cfg *relay.Config) { cfg.Store, cfg.Bus = st, local })
	here := relaytest.Start(t, func(cfg *relay.Config) { cfg.Store, cfg.Bus = st, late })
	host, entry = apart(t, there, here)
	late.stale.Store(stale)
	return host, entry
}

func TestNodeThatWasLeftAnswersFirst(t *testing.T) {
	host, entry := movedHost(t, 1)
	onEntry, onHost := relaytest.Open(t, entry, host)
	exchange(t, entry, onEntry, host, onHost)
}

// What the device's node opened is closed again if the entry was refused.
func TestRefusedChannelDoesNotStayOpen(t *testing.T) {
	host, entry := movedHost(t, 2)
	entry.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
	entry.ExpectError(wire.KindDeviceOffline)
	opened := relaytest.Expect[wire.ChannelOpened](host)
	if got := relaytest.Expect[wire.ChannelClosed](host); got.Channel != opened.Channel || got.Reason != wire.ReasonPeerGone {
		t.Fatalf("the device received %+v", got)
	}
}
