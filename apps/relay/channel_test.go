package relay_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestRecordsPassBothWaysInOrder(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	onEntry, onHost := relaytest.Open(t, entry, host)
	passBothWays(entry, onEntry, host, onHost, 500)
}

// passBothWays sends n small records up, and a few of the largest down.
func passBothWays(entry *relaytest.Peer, onEntry uint32, host *relaytest.Peer, onHost uint32, n int) {
	for i := range n {
		entry.SendRecord(onEntry, fmt.Appendf(nil, "up %d", i))
	}
	for i := range n {
		host.ExpectRecord(onHost, fmt.Appendf(nil, "up %d", i))
	}
	big := bytes.Repeat([]byte{7}, wire.MaxRecordPayload)
	for range 8 {
		host.SendRecord(onHost, big)
	}
	for range 8 {
		entry.ExpectRecord(onEntry, big)
	}
}

func TestBatchOfManyChannels(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	type channel struct{ onEntry, onHost uint32 }
	var channels []channel
	var batch []byte
	for i := range 16 {
		a, b := relaytest.Open(t, entry, host)
		channels = append(channels, channel{a, b})
		batch = wire.AppendRecord(batch, a, bytes.Repeat([]byte{byte(i + 1)}, 10_000))
	}
	entry.SendMessage(websocket.MessageBinary, batch)
	for i, c := range channels {
		host.ExpectRecord(c.onHost, bytes.Repeat([]byte{byte(i + 1)}, 10_000))
	}
}

func TestManyTabsOfOneEntryAreDistinguished(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, first := s.PairedPeers(t)
	second := s.Login(t, first.Keys, "second tab")
	if len(second.Welcome.Peers) != 1 || second.Welcome.Peers[0].ID != host.ID || !second.Welcome.Peers[0].Online {
		t.Fatalf("welcome of the second tab: %+v", second.Welcome)
	}
	firstNum, hostFirst := relaytest.Open(t, first, host)
	secondNum, hostSecond := relaytest.Open(t, second, host)
	host.SendRecord(hostSecond, []byte("for the second"))
	host.SendRecord(hostFirst, []byte("for the first"))
	first.ExpectRecord(firstNum, []byte("for the first"))
	second.ExpectRecord(secondNum, []byte("for the second"))

	second.Close()
	if got := relaytest.Expect[wire.ChannelClosed](host); got.Channel != hostSecond || got.Reason != wire.ReasonPeerGone {
		t.Fatalf("host received %+v", got)
	}
	first.SendRecord(firstNum, []byte("still here"))
	host.ExpectRecord(hostFirst, []byte("still here"))
}

func TestCloseChannel(t *testing.T) {
	for _, tc := range []struct{ given, told wire.Reason }{
		{"", wire.ReasonClosed},
		{wire.ReasonSealBroken, wire.ReasonSealBroken},
		{wire.ReasonNotAuthorized, wire.ReasonNotAuthorized},
		{wire.ReasonRevoked, wire.ReasonClosed}, // only the relay says this
		{"made up \x00 by a peer", wire.ReasonClosed},
	} {
		t.Run(string(tc.told), func(t *testing.T) {
			s := relaytest.Start(t, nil)
			host, entry := s.PairedPeers(t)
			onEntry, onHost := relaytest.Open(t, entry, host)
			closeWithReason(t, host, onHost, tc.given, entry, onEntry, tc.told)
			// A record that crosses the close is dropped, and no connection is affected.
			entry.SendRecord(onEntry, []byte("too late"))
			entry.Send(&wire.CloseChannel{Channel: onEntry})
			entry.Quiet()
			again, _ := relaytest.Open(t, entry, host)
			if again == onEntry {
				t.Fatalf("channel number %d was used twice", again)
			}
		})
	}
}

// closeWithReason closes a channel behind a record: both arrive, in order.
func closeWithReason(t *testing.T, host *relaytest.Peer, onHost uint32, given wire.Reason, entry *relaytest.Peer, onEntry uint32, told wire.Reason) {
	t.Helper()
	host.SendRecord(onHost, []byte("last words"))
	host.Send(&wire.CloseChannel{Channel: onHost, Reason: given})
	entry.ExpectRecord(onEntry, []byte("last words"))
	if got := relaytest.Expect[wire.ChannelClosed](entry); got.Channel != onEntry || got.Reason != told {
		t.Fatalf("entry received %+v, want %s", got, told)
	}
}

func TestRecordForAChannelThatNeverWas(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	onEntry, onHost := relaytest.Open(t, entry, host)
	for range 3 {
		entry.SendRecord(99, []byte("x"))
	}
	if got := relaytest.Expect[wire.ChannelClosed](entry); got.Channel != 99 || got.Reason != wire.ReasonUnknownChannel {
		t.Fatalf("received %+v", got)
	}
	entry.Quiet() // once, not three times
	entry.SendRecord(onEntry, []byte("good"))
	host.ExpectRecord(onHost, []byte("good"))
	for i := range uint32(64) {
		entry.SendRecord(1000+i, []byte("x"))
	}
	for range 63 {
		relaytest.Expect[wire.ChannelClosed](entry)
	}
	entry.ExpectError(wire.KindUnknownChannel)
	entry.ExpectEnd(wire.ReasonBadFrame)
}

func TestOpenChannelIsRefused(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Limits.ChannelsPerEntry = 2
		cfg.Limits.Opens.Burst = 6
		cfg.Limits.Opens.Every = 1 << 40
	})
	host, entry := s.PairedPeers(t)
	stranger := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "not paired")

	open := func(id ident.ID) { entry.Send(&wire.OpenChannel{RequestID: "r", DeviceID: id}) }
	open(stranger.ID)
	if f := entry.ExpectError(wire.KindUnauthorized); f.RequestID != "r" {
		t.Fatalf("error names request %q", f.RequestID)
	}
	stranger.Quiet()
	host.Send(&wire.OpenChannel{RequestID: "h", DeviceID: host.ID})
	host.ExpectError(wire.KindNotAllowed)

	relaytest.Open(t, entry, host)
	relaytest.Open(t, entry, host)
	open(host.ID)
	entry.ExpectError(wire.KindLimit)

	host.Close()
	relaytest.Await[wire.DeviceOffline](entry)
	open(host.ID)
	entry.ExpectError(wire.KindDeviceOffline)
	open(host.ID)
	entry.ExpectError(wire.KindDeviceOffline)
	open(host.ID)
	entry.ExpectError(wire.KindRateLimited)
}

func TestSlowConsumerLosesItsChannelAndNoOther(t *testing.T) {
	s := relaytest.Start(t, smallQueues)
	host, stuck := s.PairedPeers(t)
	slowConsumerLosesItsChannel(t, host, stuck, s.Login(t, relaytest.NewKeys(t, ident.KindClient), "good"))
}
