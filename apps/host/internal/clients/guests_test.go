package clients_test

import (
	"context"
	"crypto/rand"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorel/scorel/apps/host/internal/clients"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func guestKeys(t *testing.T) *ident.Private {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func guestRequest(keys *ident.Private, lasts time.Duration) api.CreateGuestLinkRequest {
	public := keys.Public()
	return api.CreateGuestLinkRequest{
		SessionID: shared, Label: "a colleague", SignKey: public.Sign.String(), SealKey: public.Seal.String(),
		ExpiresAt: time.Now().Add(lasts).UnixMilli(),
	}
}

// TestGuestLinks: the same keys yield the same client, which sees the session and nothing else,
// with a proof for its id that a relay accepts.
func TestGuestLinks(t *testing.T) {
	h, asked := serve(t)
	local, keys := h.Local(), guestKeys(t)
	request := guestRequest(keys, time.Hour)
	got := dispatchtest.Call(t, local, api.CreateGuestLink, request)
	if got.Client.ID != keys.ID() || got.Client.SessionID != shared || !slices.Equal(got.Client.Grants, []api.Grant{api.GrantView}) || got.Client.ExpiresAt != request.ExpiresAt {
		t.Fatalf("%+v", got.Client)
	}
	var device ident.Public
	if device.Sign.UnmarshalText([]byte(got.DeviceSignKey)) != nil || device.Seal.UnmarshalText([]byte(got.DeviceSealKey)) != nil {
		t.Fatalf("%+v", got)
	}
	claim := wire.ClaimBinding{DeviceID: ident.NewID(ident.KindDevice, device), SignedAt: got.Proof.SignedAt, Proof: got.Proof.Signature}
	if !claim.Verify(device.Sign, keys.ID()) || !claim.Fresh(time.Now()) {
		t.Error("the proof is not one of the device for the guest")
	}
	request.Label = "another name"
	if again := dispatchtest.Call(t, local, api.CreateGuestLink, request); again.Client.Label != "a colleague" || len(h.Clients.List()) != 1 {
		t.Errorf("a retry changed the link: %+v", again.Client)
	}
	dispatchtest.Refused(t, local, api.SetGrant, grantOf(keys.ID(), api.GrantPrompt), api.KindConflict)
	dispatchtest.Refused(t, local, api.SetLimits, limitsOf(keys.ID(), 0), api.KindConflict)
	dispatchtest.Call(t, local, api.RevokeClient, api.RevokeClientRequest{ClientID: keys.ID()})
	if !slices.Equal(asked.closed, []ident.ID{keys.ID()}) || len(h.Clients.List()) != 0 {
		t.Errorf("after revoking it: %+v, %+v", asked, h.Clients.List())
	}
}

func TestGuestLinksAreChecked(t *testing.T) {
	h, _ := serve(t)
	local, known := h.Local(), guestKeys(t)
	if err := h.Clients.Add(known.ID(), known.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*api.CreateGuestLinkRequest)
		kind   api.Kind
	}{
		"an unknown session":   {func(r *api.CreateGuestLinkRequest) { r.SessionID = "none" }, api.KindNotFound},
		"no session":           {func(r *api.CreateGuestLinkRequest) { r.SessionID = "" }, api.KindBadRequest},
		"a blank name":         {func(r *api.CreateGuestLinkRequest) { r.Label = " " }, api.KindBadRequest},
		"a name of two lines":  {func(r *api.CreateGuestLinkRequest) { r.Label = "a\nb" }, api.KindBadRequest},
		"a key that is none":   {func(r *api.CreateGuestLinkRequest) { r.SignKey = r.SignKey[:42] + "!" }, api.KindBadRequest},
		"a short key":          {func(r *api.CreateGuestLinkRequest) { r.SealKey = r.SealKey[1:] }, api.KindBadRequest},
		"a time in the past":   {func(r *api.CreateGuestLinkRequest) { r.ExpiresAt = 1 }, api.KindBadRequest},
		"no end":               {func(r *api.CreateGuestLinkRequest) { r.ExpiresAt = 0 }, api.KindBadRequest},
		"more than 30 days":    {func(r *api.CreateGuestLinkRequest) { r.ExpiresAt += (30 * 24 * time.Hour).Milliseconds() }, api.KindBadRequest},
		"the keys of a client": {func(r *api.CreateGuestLinkRequest) { *r = guestRequest(known, time.Hour) }, api.KindConflict},
	} {
		r := guestRequest(guestKeys(t), time.Hour)
		c.change(&r)
		t.Run(name, func(t *testing.T) { dispatchtest.Refused(t, local, api.CreateGuestLink, r, c.kind) })
	}
	if got := h.Clients.List(); len(got) != 1 || got[0].SessionID != "" {
		t.Errorf("the list is %+v", got)
	}
}

// TestWhoMakesGuestLinks: a client with "manage", for a session that it sees and for no longer
// than its own access; no program and no guest.
func TestWhoMakesGuestLinks(t *testing.T) {
	h, _ := serve(t)
	mine, other := h.AddProject().ID, h.AddProject().ID
	soon := time.Now().Add(time.Hour).UnixMilli()
	manager := h.Connect(admit(t, h, api.ClientLimits{ExpiresAt: soon}, api.GrantView, api.GrantManage).String())
	dispatchtest.Refused(t, manager, api.CreateGuestLink, guestRequest(guestKeys(t), 2*time.Hour), api.KindNotAllowed)
	dispatchtest.Call(t, manager, api.CreateGuestLink, guestRequest(guestKeys(t), time.Minute))
	for name, c := range map[string]*dispatchtest.Client{
		"a viewer": h.Connect(admit(t, h, api.ClientLimits{}, api.GrantView, api.GrantPrompt).String()),
		"a token":  h.Connect("program", api.AllGrants()...),
	} {
		t.Run(name, func(t *testing.T) {
			dispatchtest.Refused(t, c, api.CreateGuestLink, guestRequest(guestKeys(t), time.Minute), api.KindNotAllowed)
		})
	}
	for _, projects := range [][]string{{mine}, {other}} {
		limited := h.Connect(admit(t, h, api.ClientLimits{Projects: projects}, api.GrantView, api.GrantManage).String())
		dispatchtest.Refused(t, limited, api.CreateGuestLink, guestRequest(guestKeys(t), time.Minute), api.KindNotFound)
	}
}

// TestTooManyGuestLinks: their number is bounded, also when they are requested at once.
func TestTooManyGuestLinks(t *testing.T) {
	h, _ := serve(t)
	var asking sync.WaitGroup
	for range 4 {
		c := h.Local()
		asking.Go(func() {
			for range api.MaxGuests / 2 {
				keys, err := ident.Generate(ident.KindClient, rand.Reader)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = dispatchtest.Try(t, c, api.CreateGuestLink, guestRequest(keys, time.Hour))
			}
		})
	}
	asking.Wait()
	if got := len(h.Clients.List()); got != api.MaxGuests {
		t.Errorf("%d guest links exist", got)
	}
	dispatchtest.Refused(t, h.Local(), api.CreateGuestLink, guestRequest(guestKeys(t), time.Hour), api.KindConflict)
}

// bindings is a relay that reports what it is asked from several goroutines.
type bindings struct{ closed, revoked chan ident.ID }

func (b bindings) CloseClient(id ident.ID, reason wire.Reason) {
	if reason == wire.ReasonExpired {
		b.closed <- id
	}
}
func (b bindings) Revoke(_ context.Context, id ident.ID) { b.revoked <- id }

// TestGuestLinksEnd: with their time and with their session, and the relays are notified.
func TestGuestLinksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := dispatchtest.New(t)
		relay := bindings{make(chan ident.ID, 8), make(chan ident.ID, 8)}
		options := options(h, nil)
		options.Relay = relay
		c := clients.New(options)
		h.Serve(c.Endpoints())
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.Expire(ctx) })
		local, brief, long := h.Local(), guestKeys(t), guestKeys(t)
		dispatchtest.Call(t, local, api.CreateGuestLink, guestRequest(brief, time.Hour))
		dispatchtest.Call(t, local, api.CreateGuestLink, guestRequest(long, 2*time.Hour))
		begun := time.Now()
		if ended := <-relay.closed; ended != brief.ID() || time.Since(begun) > time.Hour+time.Second {
			t.Errorf("%s ended after %s", ended, time.Since(begun))
		}
		if revoked := <-relay.revoked; revoked != brief.ID() {
			t.Errorf("the relays were asked to end %s", revoked)
		}
		if list := h.Clients.List(); len(list) != 1 || list[0].ID != long.ID() {
			t.Errorf("the list is %+v", list)
		}
		c.EndSession("another")
		c.EndSession(shared)
		if revoked := <-relay.revoked; revoked != long.ID() || len(h.Clients.List()) != 0 {
			t.Errorf("the relays were asked to end %s", revoked)
		}
		cancel()
		running.Wait()
	})
}
