package relay_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// knownFaults are faults that relays and their like were found to have, and the tests
// that hold this one to be without. Faults that only a host, a page or the seal can
// have are left out.
var knownFaults = []struct {
	fault string
	tests []string
}{
	{"an id in a hello is a claim and no proof", []string{"TestLoginIsRefused", "TestHelloCannotBeReplayed", "TestBeforeLogin"}},
	{"a frame of a host reaches an entry without a binding", []string{"TestOpenChannelIsRefused", "TestChannelNumbersOfOthersAreOutOfReach", "TestHostsOpenNoChannels"}},
	{"the frame that redeems names another device than the socket's", []string{"TestWhoRedeemsIsTheSocketsIdentity"}},
	{"a short code without a limit, or in the log", []string{
		"TestAttemptsToPairAreLimited", "TestGuessingACodeIsHopeless", "TestLimitsThatLetCodesBeGuessedAreRefused", "TestLogsHoldNoPayloadCodeOrKey"}},
	{"what a code opens is open for ever", []string{"TestCodeServesOnce", "TestPairingEndsWithoutABinding", "TestInviteLetsNewcomersIn"}},
	{"a second host evicts the first for ever, or a half-open one swallows what is sent", []string{
		"TestNewerHostReplacesTheOlder", "TestReplacedHostIsToldToBackOff", "TestHalfOpenPeerIsFoundInTime", "TestSimultaneousLoginsLeaveOne"}},
	{"no check of origin and host, or one that breaks behind a proxy", []string{
		"TestOriginIsChecked", "TestHostIsChecked", "TestPublicNamesProveALoginBehindAProxy", "TestClientAddr", "TestProxyHeadersOfStrangersAreNotRead"}},
	{"a secret in an address or a log line", []string{"TestLogsHoldNoPayloadCodeOrKey"}},
	{"records dropped, repeated or reordered on the way", []string{
		"TestRecordsPassBothWaysInOrder", "TestRecordsThatWaitLeaveInOneMessageAndInOrder", "TestFirstRecordNeverPassesTheOpening", "TestLostTrunkMessageIsFoundAndTold"}},
	{"no revocation, or one that leaves sockets open", []string{
		"TestRevokeClosesChannelsAtOnceAndTellsBoth", "TestRevocationClosesChannelsOnEveryNode", "TestAllowListIsTheWholeList"}},
	{"one stuck stream stops the others", []string{
		"TestSlowConsumerLosesItsChannelAndNoOther", "TestSlowConsumerAcrossNodes", "TestMemoryIsBoundedUnderSlowReaders", "TestWhoSendsTooMuchIsPaced"}},
	{"frames dropped in silence when a buffer is full", []string{"TestQueueLimits", "TestSlowConsumerLosesItsChannelAndNoOther", "TestPeerThatReadsNoControlFramesIsCut"}},
	{"the store is read for each frame, or torn by a crash", []string{"TestStoreThatCannotAnswerKeepsPeersOut", "TestContract"}},
	{"health that answers while the relay is stuck", []string{"TestHealthFailsWhenTheRoutingStateIsStuck"}},
	{"sockets that nobody closes", []string{"TestNothingIsLeftAfterManyPeersCameAndWent", "TestStuckPeerIsCutByTheWriteTimeout", "TestSlowPeersAreShutOut"}},
	{"a lock that is held while a person thinks", []string{"TestAPairingThatWaitsForAPersonStopsNobody"}},
	{"a frame of a newer peer kills the older one", []string{"TestFramesOfNewerPeersAreSkipped"}},
}

func TestEveryKnownFaultHasItsTests(t *testing.T) {
	there := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				there[f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, known := range knownFaults {
		for _, name := range known.tests {
			if !there[name] {
				t.Errorf("%s: there is no %s", known.fault, name)
			}
		}
	}
}

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

func TestAPairingThatWaitsForAPersonStopsNobody(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	thinking := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "thinking")
	slot := relaytest.Join(t, thinking, host)
	thinking.Send(&wire.PairAccept{Slot: slot}) // and the host's person thinks
	onEntry, onHost := relaytest.Open(t, entry, host)
	entry.SendRecord(onEntry, []byte("goes on"))
	host.ExpectRecord(onHost, []byte("goes on"))
	other := s.Login(t, relaytest.NewKeys(t, ident.KindClient), "other")
	relaytest.Pair(t, other, host) // another one, and it ends first
	host.Send(&wire.PairAccept{Slot: slot})
	relaytest.Expect[wire.PairComplete](thinking)
}
