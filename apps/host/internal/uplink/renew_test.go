package uplink

import (
	"context"
	"crypto/rand"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// onConnected is a log that calls a function at its first line, which says that the uplink
// logged in and has not begun to serve.
type onConnected struct {
	slog.Handler
	once sync.Once
	call func()
}

func (o *onConnected) Enabled(context.Context, slog.Level) bool { return true }

func (o *onConnected) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "connected to the relay" {
		o.once.Do(o.call)
	}
	return nil
}

// TestNothingBeginsOnAConnectionThatWasRenewed: when the name of the machine is chosen while it
// logs in, the old connection is about to end. A pairing waits for the new one.
func TestNothingBeginsOnAConnectionThatWasRenewed(t *testing.T) {
	relay := relaytest.Start(t, nil)
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	clients, err := state.LoadClients(filepath.Join(t.TempDir(), "clients.json"))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	label := "before"
	var all *Uplinks
	log := &onConnected{Handler: slog.DiscardHandler}
	log.call = func() {
		mu.Lock()
		label = "after"
		mu.Unlock()
		all.Renew(t.Context())
	}
	began := make(chan error, 8)
	all = NewAll([]Link{{URL: relay.URL}}, Options{
		Keys: keys, Clients: clients, Logger: slog.New(log),
		Label: func() string {
			mu.Lock()
			defer mu.Unlock()
			return label
		},
		Notify: func(api.Event) {
			if r, err := all.all[0].current(); err == nil {
				began <- r.ctx.Err()
			}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { all.Run(ctx); close(ended) }()
	if err := <-began; err != nil {
		t.Errorf("an ended connection can be used: %v", err)
	}
	cancel()
	<-ended
}
