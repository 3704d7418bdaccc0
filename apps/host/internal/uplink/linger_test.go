package uplink

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// paired returns the keys of a host and an entry that a relay knows as paired, and the host's
// list with the entry.
func paired(t *testing.T, relay *relaytest.Server) (host, entry *ident.Private, clients *state.Clients) {
	t.Helper()
	onHost, onEntry := relay.PairedPeers(t)
	onHost.Close()
	onEntry.Close()
	clients, err := state.LoadClients(filepath.Join(t.TempDir(), "clients.json"))
	if err == nil {
		err = clients.Add(onEntry.ID, onEntry.Keys.Public(), "entry")
	}
	if err != nil {
		t.Fatal(err)
	}
	return onHost.Keys, onEntry.Keys, clients
}

// TestAHangingRequestDoesNotKeepTheHostOffline: a request that does not end with its connection
// delays the next one for a moment only, and Run waits for it.
func TestAHangingRequestDoesNotKeepTheHostOffline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		relay := relaytest.StartInMemory(t, nil)
		host, entry, clients := paired(t, relay)
		serving, release := make(chan struct{}, 2), make(chan struct{})
		all := NewAll([]Link{{URL: relay.URL, HTTP: relay.Client()}}, Options{
			Keys: host, Clients: clients, Logger: slog.New(slog.DiscardHandler), Label: func() string { return "host" }, Notify: func(api.Event) {},
			Serve: func(context.Context, client.Transport, string, []api.Grant) error {
				serving <- struct{}{}
				<-release
				return nil
			},
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { all.Run(ctx); close(ended) }()
		if _, err := all.all[0].await(t.Context()); err != nil {
			t.Fatal(err)
		}
		open := func() {
			t.Helper()
			e, err := client.DialEntry(t.Context(), relayconn.Config{RelayURL: relay.URL, Keys: entry, Label: "entry", HTTPClient: relay.Client()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			if _, err := e.OpenDevice(t.Context(), host.ID(), host.Public().Seal, "host"); err != nil {
				t.Fatal(err)
			}
			<-serving
		}
		open()
		all.Renew(t.Context()) // the old connection has ended
		if _, err := all.all[0].await(t.Context()); err != nil {
			t.Fatalf("while a request hangs: %v", err)
		}
		open()
		cancel()
		synctest.Wait()
		select {
		case <-ended:
			t.Error("Run returned before its requests had ended")
		default:
		}
		close(release)
		<-ended
	})
}
