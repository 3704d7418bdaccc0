package clients_test

import (
	"context"
	"crypto/rand"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/clients"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// relay records what a host asks of its relay.
type relay struct{ closed, revoked []ident.ID }

func (r *relay) CloseClient(id ident.ID, _ wire.Reason) { r.closed = append(r.closed, id) }
func (r *relay) Revoke(_ context.Context, id ident.ID)  { r.revoked = append(r.revoked, id) }

func serve(t *testing.T) (h *dispatchtest.Host, asked *relay) {
	h, asked = dispatchtest.New(t), &relay{}
	h.Serve(handlers(h, asked).Endpoints())
	return h, asked
}

// shared is the only session of the host.
const shared = "shared-session"

func handlers(h *dispatchtest.Host, asked *relay) *clients.Clients {
	return clients.New(options(h, asked))
}

func options(h *dispatchtest.Host, asked *relay) clients.Options {
	keys, err := ident.Generate(ident.KindDevice, rand.Reader)
	if err != nil {
		panic(err)
	}
	return clients.Options{
		Logger: h.Log, List: h.Clients, Tokens: h.Tokens, Hub: h.Hub, Relay: asked, Projects: h.Projects, Changed: func(string) {},
		Keys: keys, Exists: func(id string) bool { return id == shared },
	}
}

// pair adds a client to the list, as pairing does.
func pair(t *testing.T, h *dispatchtest.Host) ident.ID {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Clients.Add(keys.ID(), keys.Public(), "phone"); err != nil {
		t.Fatal(err)
	}
	return keys.ID()
}

// TestARevokedClientIsDisconnected: it leaves the list, its connections end, the relay is
// asked to forget it, and the others are notified. A second time there is no such client.
func TestARevokedClientIsDisconnected(t *testing.T) {
	h, asked := serve(t)
	id := pair(t, h)
	local, phone := h.Local(), h.Connect(id.String(), api.GrantView, api.GrantManage)
	list := func(c *dispatchtest.Client) []api.Client {
		return dispatchtest.Call(t, c, api.ListClients, api.Empty{}).Clients
	}
	list(phone)
	if got := list(local); len(got) != 1 || got[0].ID != id || got[0].Label != "phone" || !got[0].Online {
		t.Fatalf("before: %+v", got)
	}
	dispatchtest.Call(t, local, api.RevokeClient, api.RevokeClientRequest{ClientID: id})
	<-phone.Done()
	if got := list(local); len(got) != 0 {
		t.Errorf("after: %+v", got)
	}
	if !slices.Equal(asked.closed, []ident.ID{id}) || !slices.Equal(asked.revoked, []ident.ID{id}) {
		t.Errorf("the relay was asked %+v", asked)
	}
	if got := <-local.Events; got != (api.ClientsChanged{}).EventType() {
		t.Errorf("the others were sent %s", got)
	}
	dispatchtest.Refused(t, local, api.RevokeClient, api.RevokeClientRequest{ClientID: id}, api.KindNotFound)
	if len(asked.revoked) != 1 {
		t.Error("the relay was asked about a client that is not on the list")
	}
}

// TestSetGrantChangesOpenConnections: an extra grant is given and taken away at once; the
// grants of pairing cannot be changed.
func TestSetGrantChangesOpenConnections(t *testing.T) {
	h, _ := serve(t)
	id := pair(t, h)
	local := h.Local()
	extra := api.ExtraGrants()[0]
	for _, given := range []bool{true, false} {
		got := dispatchtest.Call(t, local, api.SetGrant, api.SetGrantRequest{ClientID: id, Grant: extra, Given: given}).Client
		if slices.Contains(got.Grants, extra) != given || !slices.Contains(got.Grants, api.GrantView) {
			t.Errorf("given %v: %v", given, got.Grants)
		}
		if got := <-local.Events; got != (api.ClientsChanged{}).EventType() {
			t.Errorf("given %v: the others were sent %s", given, got)
		}
	}
	stranger, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dispatchtest.Refused(t, local, api.SetGrant, api.SetGrantRequest{ClientID: stranger.ID(), Grant: extra, Given: true}, api.KindNotFound)
	dispatchtest.Refused(t, local, api.SetGrant, api.SetGrantRequest{ClientID: id, Grant: api.GrantView, Given: true}, api.KindBadRequest)
	dispatchtest.Refused(t, local, api.SetGrant, api.SetGrantRequest{ClientID: id, Grant: api.GrantLocal, Given: true}, api.KindBadRequest)
}

// TestRenameClient: the host's name for a client changes, and nothing else of it.
func TestRenameClient(t *testing.T) {
	h, _ := serve(t)
	id := pair(t, h)
	local, phone := h.Local(), h.Connect(id.String(), api.GrantView, api.GrantManage)
	before, _ := h.Clients.Get(id)
	got := dispatchtest.Call(t, phone, api.RenameClient, api.RenameClientRequest{ClientID: id, Label: " Annas Handy "}).Client
	after, _ := h.Clients.Get(id)
	if before.Label = "Annas Handy"; got.Label != before.Label || got.ID != id || !got.Online || !reflect.DeepEqual(after, before) {
		t.Errorf("the answer is %+v, the list has %+v", got, after)
	}
	dispatchtest.Call(t, local, api.RenameClient, api.RenameClientRequest{ClientID: id, Label: "Annas Handy"})
	dispatchtest.Call(t, local, api.ListClients, api.Empty{})
	if got := <-phone.Events; got != (api.ClientsChanged{}).EventType() || len(phone.Events) != 0 {
		t.Errorf("the others were sent %s and %d more", got, len(phone.Events))
	}
	for name, label := range map[string]string{"blank": "  ", "two lines": "a\nb", "direction": "a\u202eb"} {
		t.Run(name, func(t *testing.T) {
			dispatchtest.Refused(t, local, api.RenameClient, api.RenameClientRequest{ClientID: id, Label: label}, api.KindBadRequest)
		})
	}
	dispatchtest.Refused(t, local, api.RenameClient, api.RenameClientRequest{ClientID: id, Label: strings.Repeat("ä", 33)}, api.KindTooLarge)
	dispatchtest.Refused(t, h.Connect("viewer", api.GrantView), api.RenameClient, api.RenameClientRequest{ClientID: id, Label: "x"}, api.KindNotAllowed)
	stranger, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dispatchtest.Refused(t, local, api.RenameClient, api.RenameClientRequest{ClientID: stranger.ID(), Label: "x"}, api.KindNotFound)
}

// TestLastSeenIsListed: for clients that the host saw, by a channel or by SeenOnline.
func TestLastSeenIsListed(t *testing.T) {
	h := dispatchtest.New(t)
	c := handlers(h, &relay{})
	h.Serve(c.Endpoints())
	online, never := pair(t, h), pair(t, h)
	since := time.Now().Truncate(time.Minute).UnixMilli()
	dispatchtest.Call(t, h.Connect(online.String(), api.GrantManage), api.ListClients, api.Empty{})
	c.SeenOnline()
	seen := map[ident.ID]int64{}
	for _, client := range dispatchtest.Call(t, h.Local(), api.ListClients, api.Empty{}).Clients {
		seen[client.ID] = client.LastSeen
	}
	if len(seen) != 2 || seen[online] < since || seen[never] != 0 {
		t.Errorf("seen: %v, since %d", seen, since)
	}
}

// TestPresenceIsNotifiedWhenItHolds: a list that is requested at the event shows the client as
// connected or gone, and when it was seen. The client itself gets no event, and connections of
// others than paired clients cause none.
func TestPresenceIsNotifiedWhenItHolds(t *testing.T) {
	h := dispatchtest.New(t)
	c := handlers(h, &relay{})
	h.Presence = c.Presence
	h.Serve(c.Endpoints())
	id := pair(t, h)
	since := time.Now().Truncate(time.Minute).UnixMilli()
	local := h.Local()
	listed := func() api.Client {
		return dispatchtest.Call(t, local, api.ListClients, api.Empty{}).Clients[0]
	}
	if before := listed(); before.Online || before.LastSeen != 0 {
		t.Fatalf("before: %+v", before)
	}
	dispatchtest.Call(t, h.Connect("viewer", api.GrantManage), api.ListClients, api.Empty{})
	phone := h.Connect(id.String(), api.GrantManage)
	<-local.Events
	if with := listed(); !with.Online || with.LastSeen < since {
		t.Errorf("connected: %+v", with)
	}
	dispatchtest.Call(t, phone, api.ListClients, api.Empty{})
	if n := len(local.Events) + len(phone.Events); n > 0 {
		t.Errorf("%d events more", n)
	}
	if err := phone.Close(); err != nil {
		t.Error(err)
	}
	<-local.Events
	if after := listed(); after.Online || after.LastSeen < since {
		t.Errorf("gone: %+v", after)
	}
}

func TestCreateTokenChecksItsFields(t *testing.T) {
	h, _ := serve(t)
	local := h.Local()
	good := func() api.CreateTokenRequest {
		return api.CreateTokenRequest{Hash: strings.Repeat("ab", 32), Label: "robot", Grants: []api.Grant{api.GrantView}}
	}
	hour := time.Now().Add(time.Hour).UnixMilli()
	for name, change := range map[string]func(*api.CreateTokenRequest){
		"a short hash":          func(r *api.CreateTokenRequest) { r.Hash = r.Hash[2:] },
		"a hash in upper case":  func(r *api.CreateTokenRequest) { r.Hash = strings.ToUpper(r.Hash) },
		"an invalid hash":       func(r *api.CreateTokenRequest) { r.Hash = strings.Repeat("xy", 32) },
		"a label of two lines":  func(r *api.CreateTokenRequest) { r.Label = "a\nb" },
		"no grants":             func(r *api.CreateTokenRequest) { r.Grants = []api.Grant{} },
		"the local grant":       func(r *api.CreateTokenRequest) { r.Grants = []api.Grant{api.GrantLocal} },
		"a grant twice":         func(r *api.CreateTokenRequest) { r.Grants = []api.Grant{api.GrantView, api.GrantView} },
		"an expiry in the past": func(r *api.CreateTokenRequest) { r.ExpiresAt = 1 },
		"an expiry in seconds":  func(r *api.CreateTokenRequest) { r.ExpiresAt = hour / 1000 },
		"an expiry in µs":       func(r *api.CreateTokenRequest) { r.ExpiresAt = hour * 1000 },
	} {
		r := good()
		change(&r)
		t.Run(name, func(t *testing.T) { dispatchtest.Refused(t, local, api.CreateToken, r, api.KindBadRequest) })
	}
	first := dispatchtest.Call(t, local, api.CreateToken, good()).Token
	if again := dispatchtest.Call(t, local, api.CreateToken, good()).Token; again.ID != first.ID {
		t.Errorf("a retry made another token: %+v, %+v", first, again)
	}
	if list := dispatchtest.Call(t, local, api.ListTokens, api.Empty{}).Tokens; len(list) != 1 || list[0].Label != "robot" {
		t.Errorf("the list is %+v", list)
	}
}

func TestARevokedTokenIsDisconnected(t *testing.T) {
	h, _ := serve(t)
	local := h.Local()
	token := dispatchtest.Call(t, local, api.CreateToken, api.CreateTokenRequest{Hash: strings.Repeat("ab", 32), Label: "robot", Grants: api.AllGrants()}).Token
	robot := h.Connect(token.ID, token.Grants...)
	dispatchtest.Call(t, robot, api.ListClients, api.Empty{})
	dispatchtest.Call(t, local, api.RevokeToken, api.RevokeTokenRequest{TokenID: token.ID})
	<-robot.Done()
	dispatchtest.Refused(t, local, api.RevokeToken, api.RevokeTokenRequest{TokenID: token.ID}, api.KindNotFound)
}
