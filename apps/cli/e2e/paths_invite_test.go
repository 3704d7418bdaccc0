package e2e

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// TestAnInviteIsForOneRelay: a client shows its invite to the relay that it paired on, and to
// no other path.
func TestAnInviteIsForOneRelay(t *testing.T) {
	st := relaytest.OpenStore(t, filepath.Join(t.TempDir(), "relay.db"))
	code, invite, err := store.NewInvite(1, 0, time.Now())
	if err == nil {
		err = st.(store.Inviter).AddInvite(t.Context(), invite)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Store, cfg.Admission.Mode = st, relay.AdmitByInvite })
	device := relaytest.NewKeys(t, ident.KindDevice)
	for _, tt := range []struct {
		paired string
		want   wire.Kind
	}{{"https://relay.example", wire.KindInviteRequired}, {s.URL, wire.KindUnauthorized}} {
		d := &paths.Dialer{Keys: newKeys(t), Label: "phone", Invite: code, InviteURL: tt.paired, Device: device.ID(), Seal: device.Public().Seal, Name: "desk"}
		_, err := d.Dial(t.Context(), paths.Path{Kind: paths.Relay, URL: s.URL})
		if refused := new(wire.Error); !errors.As(err, &refused) || refused.Kind != tt.want {
			t.Errorf("paired at %s: %v, want %s", tt.paired, err, tt.want)
		}
	}
}
