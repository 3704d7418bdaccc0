package hostapi_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/hostapi"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

type models struct{}

func (models) List() []api.Model { return []api.Model{{Name: "m"}} }
func (models) Default() string   { return "m" }

// serve serves requests about a host whose commands a sandbox does not confine. stops counts
// how often it is asked to stop.
func serve(t *testing.T, stops *int) (*dispatchtest.Host, *ident.Private) {
	t.Helper()
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	name, err := state.LoadName(filepath.Join(t.TempDir(), "name.json"), "laptop", "")
	if err != nil {
		t.Fatal(err)
	}
	h := dispatchtest.New(t)
	h.Serve((&hostapi.Host{
		Keys: keys, Name: name, Renamed: func(context.Context) {}, Version: "v1", Models: models{}, Sandbox: sandbox.Detect(t.Context(), sandbox.Config{Off: true}),
		Relay: func() (url, state string) { return "https://relay.example", "connecting" },
		Paths: func() []api.Path {
			return []api.Path{{Kind: api.PathRelay, URL: "https://relay.example", State: "connecting"}}
		},
		Outages: func() []api.Outage { return []api.Outage{{Provider: "postgres"}} },
		MaxMode: func(c *dispatch.Conn) api.Mode {
			if c.May(api.GrantLocal) {
				return api.ModeBypass
			}
			return api.ModeAsk
		},
		Stop: func() { *stops++ },
	}).Endpoints())
	return h, keys
}

// TestGetHostDescribesTheHostToAConnection: the grants and the highest mode are those of the
// connection, and limits of the sandbox are absent where nothing confines commands.
func TestGetHostDescribesTheHostToAConnection(t *testing.T) {
	h, keys := serve(t, new(int))
	for name, c := range map[string]struct {
		client *dispatchtest.Client
		grants []api.Grant
		mode   api.Mode
	}{
		"local":  {h.Local(), api.LocalGrants(), api.ModeBypass},
		"device": {h.Connect("device", api.GrantView), []api.Grant{api.GrantView}, api.ModeAsk},
	} {
		got := dispatchtest.Call(t, c.client, api.GetHost, api.Empty{}).Host
		if !reflect.DeepEqual(got.Grants, c.grants) || got.MaxMode != c.mode {
			t.Errorf("%s: grants %v, highest mode %s", name, got.Grants, got.MaxMode)
		}
		if got.DeviceID != keys.ID() || got.Label != "laptop" || got.Version != "v1" || got.DefaultModel != "m" || len(got.Models) != 1 ||
			got.RelayURL != "https://relay.example" || got.RelayState != "connecting" || len(got.Outages) != 1 || len(got.Paths) != 1 || got.Home == "" {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Sandbox != string(sandbox.None) || got.SandboxLimits != nil {
			t.Errorf("%s: the sandbox is %q, its limits %+v", name, got.Sandbox, got.SandboxLimits)
		}
	}
}

// TestListPathsSignsForTheClientThatAsks: a relay can check the signature, which names no one
// else; connections that belong to no paired client get none.
func TestListPathsSignsForTheClientThatAsks(t *testing.T) {
	h, keys := serve(t, new(int))
	phone, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Clients.Add(phone.ID(), phone.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	got := dispatchtest.Call(t, h.Connect(phone.ID().String(), api.GrantView), api.ListPaths, api.Empty{})
	if len(got.Paths) != 1 || got.Paths[0].Kind != api.PathRelay || got.Proof == nil {
		t.Fatalf("got %+v", got)
	}
	claim := wire.ClaimBinding{DeviceID: keys.ID(), SignedAt: got.Proof.SignedAt, Proof: got.Proof.Signature}
	if !claim.Fresh(time.Now()) || !claim.Verify(keys.Public().Sign, phone.ID()) || claim.Verify(keys.Public().Sign, keys.ID()) {
		t.Errorf("the claim %+v is not good for the phone alone", claim)
	}
	if got := dispatchtest.Call(t, h.Local(), api.ListPaths, api.Empty{}); len(got.Paths) != 1 || got.Proof != nil {
		t.Errorf("a local connection got %+v", got)
	}
}

func TestOnlyLocalClientsStopTheHost(t *testing.T) {
	stops := 0
	h, _ := serve(t, &stops)
	dispatchtest.Refused(t, h.Connect("device", api.AllGrants()...), api.StopHost, api.Empty{}, api.KindNotAllowed)
	if stops != 0 {
		t.Fatal("a device stopped the host")
	}
	dispatchtest.Call(t, h.Local(), api.StopHost, api.Empty{})
	if stops != 1 {
		t.Errorf("it was asked %d times to stop", stops)
	}
}
