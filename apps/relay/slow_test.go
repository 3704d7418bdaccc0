package relay_test

import (
	"bytes"
	"testing"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func smallQueues(cfg *relay.Config) {
	cfg.Limits.ChannelQueue = 256 << 10
	cfg.Limits.Queue = 1 << 20
}

// slowConsumerLosesItsChannel floods stuck, which is paired with host and reads
// nothing, until its channel is closed. Relays have smallQueues.
func slowConsumerLosesItsChannel(t *testing.T, host, stuck, good *relaytest.Peer) {
	t.Helper()
	relaytest.Pair(t, good, host)
	_, hostStuck := relaytest.Open(t, stuck, host)
	goodNum, hostGood := relaytest.Open(t, good, host)

	payload := bytes.Repeat([]byte{1}, 32<<10)
	closed := make(chan *wire.ChannelClosed, 1)
	go func() { // reads while the host floods, as a real one does
		f, _, _ := host.Next()
		got, _ := f.(*wire.ChannelClosed)
		closed <- got
	}()
	var got *wire.ChannelClosed
	for sent := 0; got == nil; sent += len(payload) {
		if sent > 256<<20 {
			t.Fatal("256 MiB went to a peer that reads nothing")
		}
		host.SendRecord(hostStuck, payload)
		select {
		case got = <-closed:
		default:
		}
	}
	if got.Channel != hostStuck || got.Reason != wire.ReasonSlowConsumer {
		t.Fatalf("host received %+v", got)
	}
	host.SendRecord(hostGood, []byte("not held up"))
	good.ExpectRecord(goodNum, []byte("not held up"))

	// The slow one is notified, after what it had not read, and continues.
	if f := relaytest.Await[wire.ChannelClosed](stuck); f.Reason != wire.ReasonSlowConsumer {
		t.Fatalf("slow entry received %+v", f)
	}
	relaytest.Open(t, stuck, host)
}
