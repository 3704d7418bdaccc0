package relay_test

import (
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func TestHostsOpenNoChannels(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	stranger := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "stranger")
	for _, p := range []*relaytest.Peer{host, stranger} {
		p.Send(&wire.OpenChannel{RequestID: "o", DeviceID: host.ID})
		p.ExpectError(wire.KindNotAllowed)
		p.SendRecord(1, []byte("to whoever is online"))
		relaytest.Expect[wire.ChannelClosed](p)
	}
	entry.Quiet()
}

// Ids that a frame adds are not looked at: each side learns who the socket belongs to.
func TestWhoRedeemsIsTheSocketsIdentity(t *testing.T) {
	s := relaytest.Start(t, nil)
	entry := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "entry")
	thief := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "thief")
	victim := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "victim")
	entry.Send(&wire.CreatePairSession{RequestID: "c"})
	slot := relaytest.Expect[wire.PairSession](entry).Slot
	thief.SendMessage(websocket.MessageText, []byte(`{"type":"redeem_pair","requestId":"r","slot":"`+slot+`",`+
		`"deviceId":"`+victim.ID.String()+`","id":"`+victim.ID.String()+`","peerId":"`+victim.ID.String()+`"}`))
	if got := relaytest.Expect[wire.PairJoined](entry); got.Peer.ID != thief.ID {
		t.Fatalf("the other side is said to be %s, and it is %s", got.Peer.ID, thief.ID)
	}
	relaytest.Expect[wire.PairJoined](thief)
	for _, p := range []*relaytest.Peer{entry, thief} {
		p.Send(&wire.PairAccept{Slot: slot})
	}
	if got := relaytest.Expect[wire.PairComplete](entry); got.Peer.ID != thief.ID {
		t.Fatalf("bound to %s", got.Peer.ID)
	}
	victim.Quiet()
}

func TestAPairingThatWaitsForAPersonBlocksNoOne(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	thinking := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "thinking")
	slot := relaytest.Join(t, thinking, host)
	thinking.Send(&wire.PairAccept{Slot: slot}) // and the host's person thinks
	onEntry, onHost := relaytest.Open(t, entry, host)
	entry.SendRecord(onEntry, []byte("continues"))
	host.ExpectRecord(onHost, []byte("continues"))
	other := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "other")
	relaytest.Pair(t, other, host) // another one, and it ends first
	host.Send(&wire.PairAccept{Slot: slot})
	relaytest.Expect[wire.PairComplete](thinking)
}
