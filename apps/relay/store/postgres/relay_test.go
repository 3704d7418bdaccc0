package postgres_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/archive"
	"github.com/scorel/scorel/apps/relay/store/postgres"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
	"github.com/scorel/scorel/packages/testdb"
)

// onStore runs a relay on a store that closes with the test.
func onStore(t *testing.T, st store.Store) *relaytest.Server {
	t.Helper()
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("closing the store: %v", err)
		}
	})
	return relaytest.Start(t, func(cfg *relay.Config) { cfg.Store = st })
}

// TestARelayMovesWithoutPairingAgain pairs on SQLite, moves to PostgreSQL, and
// opens a channel there. The one that was shut out stays out.
func TestARelayMovesWithoutPairingAgain(t *testing.T) {
	before := relaytest.Start(t, nil)
	host, entry := before.PairedPeers(t)
	lost := before.Login(t, relaytest.NewKeys(t, ident.KindClient), "lost")
	relaytest.Pair(t, lost, host)
	host.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: lost.ID})
	relaytest.Expect[wire.BindingRevoked](host)
	before.Stop(t)

	var export bytes.Buffer
	if _, err := archive.Export(t.Context(), before.Store.(store.Archive), &export); err != nil {
		t.Fatal(err)
	}
	db := open(t, testdb.Postgres(t))
	if _, _, err := archive.Import(t.Context(), db, &export); err != nil {
		t.Fatal(err)
	}

	after := onStore(t, db)
	host = after.Login(t, host.Keys, "host")
	entry = after.Login(t, entry.Keys, "entry")
	onEntry, onHost := relaytest.Open(t, entry, host)
	entry.SendRecord(onEntry, []byte("sealed before the move as after it"))
	host.ExpectRecord(onHost, []byte("sealed before the move as after it"))
	lost = after.Login(t, lost.Keys, "lost")
	lost.Send(&wire.OpenChannel{RequestID: "open", DeviceID: host.ID})
	lost.ExpectError(wire.KindUnauthorized)

	// Pairing and revoking continue in the new store.
	third := after.Login(t, relaytest.NewKeys(t, ident.KindClient), "third")
	relaytest.Pair(t, third, host)
	entry.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: host.ID})
	relaytest.Await[wire.BindingRevoked](entry)
	report, err := archive.Check(t.Context(), db)
	if err != nil || len(report.Problems) != 0 || report.Bindings != 3 || report.Revoked != 2 || report.Events != 5 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestADatabaseThatIsGoneMeansNo: without its database a relay admits no one and
// writes no pairing, says so, carries on with the channels that are open, and works
// again when the database does.
func TestADatabaseThatIsGoneMeansNo(t *testing.T) {
	dsn := testdb.Postgres(t)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimPrefix(u.Path, "/")
	u.Path = "/postgres"
	admin := u.String()
	srv := onStore(t, open(t, dsn))
	host, entry := srv.PairedPeers(t)
	onEntry, onHost := relaytest.Open(t, entry, host)

	exec(t, admin, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS false`)
	exec(t, admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '`+name+`'`)

	again := srv.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	again.SendHello(nil)
	again.ExpectError(wire.KindUnavailable)
	again.ExpectEnd(wire.ReasonLoginFailed)
	entry.SendRecord(onEntry, []byte("still here"))
	host.ExpectRecord(onHost, []byte("still here"))
	// A revocation that cannot be written closes the channel all the same.
	host.Send(&wire.RevokeBinding{RequestID: "revoke", PeerID: entry.ID})
	relaytest.Await[wire.ChannelClosed](entry)
	if e := relaytest.Await[wire.ErrorFrame](host); e.Kind != wire.KindUnavailable {
		t.Errorf("the revocation was answered with %s: %s", e.Kind, e.Message)
	}

	exec(t, admin, `ALTER DATABASE `+name+` ALLOW_CONNECTIONS true`)
	back := srv.Login(t, entry.Keys, "entry")
	relaytest.Open(t, back, srv.Login(t, host.Keys, "host"))
}

// TestTwoRelaysShareADatabase: what one wrote counts on the other at the next login.
func TestTwoRelaysShareADatabase(t *testing.T) {
	dsn := testdb.Postgres(t)
	var nodes [2]*relaytest.Server
	for i := range nodes {
		db, err := postgres.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		nodes[i] = onStore(t, db)
	}
	host, entry := nodes[0].PairedPeers(t)
	there := nodes[1].Login(t, host.Keys, "host")
	relaytest.Open(t, nodes[1].Login(t, entry.Keys, "entry"), there)
}
