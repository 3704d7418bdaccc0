package chats

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// giving is a host with a channel and paired clients that connect chats.
type giving struct {
	*dispatchtest.Host
	t        *testing.T
	chats    *Chats
	platform *channeltest.Memory
	project  api.Project
}

// newGiving runs the chats of a folder, in which there may be a channel already, until stop is called.
func newGiving(t *testing.T, folder string, chats ...*bound) (g *giving, stop func()) {
	t.Helper()
	g = &giving{Host: dispatchtest.New(t), t: t, platform: channeltest.NewMemory()}
	g.project = g.AddProject()
	for _, b := range chats {
		b.ProjectID = g.project.ID
	}
	if _, err := newStore(filepath.Join(folder, "chn_1.json"), &record{ID: "chn_1", Kind: "telegram", Chats: chats}); err != nil {
		t.Fatal(err)
	}
	var err error
	g.chats, err = New(Options{
		Logger: g.Log, Folder: folder, Secrets: noSecrets{}, Projects: g.Projects, Hub: g.Hub, Now: time.Now, NameOf: func(string) string { return "" },
		Giver: func(id string) (dispatch.Access, bool) {
			parsed, err := ident.ParseClientID(id)
			if err != nil {
				return dispatch.Access{Grants: api.LocalGrants()}, id == dispatch.LocalID
			}
			one, known := g.Clients.Get(parsed)
			return dispatch.Access{Grants: one.Grants, ClientLimits: one.ClientLimits}, known
		},
		Open: func(string, map[string]string, bool) (channel.Platform, error) { return g.platform, nil },
		Serve: func(ctx context.Context, transport client.Transport, clientID string) error {
			return dispatch.New(dispatch.Options{Logger: g.Log, Hub: g.Hub, Tokens: g.Tokens, Unwatched: func() {}}).Serve(ctx, transport, clientID, nil)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Serve(g.chats.Endpoints())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.chats.Run(ctx)
	}()
	return g, func() { cancel(); <-ended }
}

// admit pairs a client whose access ends at a time, or never.
func (g *giving) admit(expiresAt int64) *dispatchtest.Client {
	g.t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		g.t.Fatal(err)
	}
	one := state.Client{ID: keys.ID(), Public: keys.Public(), Label: "phone", Grants: api.AllGrants(), ClientLimits: api.ClientLimits{ExpiresAt: expiresAt}}
	if _, err := g.Clients.AdmitNew(one, func([]state.Client) error { return nil }); err != nil {
		g.t.Fatal(err)
	}
	return g.Connect(keys.ID().String())
}

// token connects a program.
func (g *giving) token() *dispatchtest.Client {
	g.t.Helper()
	token, err := g.Tokens.Add(strings.Repeat("ab", 32), "robot", api.AllGrants(), 0)
	if err != nil {
		g.t.Fatal(err)
	}
	return g.Connect(token.ID, token.Grants...)
}

// revoke removes all paired clients, as revoking each does.
func (g *giving) revoke() {
	g.t.Helper()
	for _, one := range g.Clients.List() {
		if _, err := g.Clients.Remove(one.ID); err != nil {
			g.t.Fatal(err)
		}
	}
	g.chats.Recheck()
}

func (g *giving) pairing(grants ...api.Grant) api.PairChannelRequest {
	return api.PairChannelRequest{ID: "chn_1", ProjectID: g.project.ID, Grants: grants}
}

// says writes in a chat and waits for what the chat shows then.
func (g *giving) says(chat channel.Chat, from channel.Sender, text, answer string) {
	g.t.Helper()
	g.platform.Fake().Say(chat, from, text)
	deadline := time.After(time.Minute)
	for {
		changed, shown := g.platform.Changed(), g.platform.Fake().Shown(chat)
		for _, m := range shown {
			if strings.Contains(m.Text, answer) {
				return
			}
		}
		select {
		case <-changed:
		case <-deadline:
			g.t.Fatalf("waiting for %q, the chat shows %+v", answer, shown)
		}
	}
}

// bound returns the chats that are bound.
func (g *giving) bound() []*bound { return g.chats.list()[0].store.read().Chats }

var (
	team = channel.Chat{ID: "7", Title: "Team", Direct: true}
	ada  = channel.Sender{ID: "4711", Name: "Ada"}
	eve  = channel.Sender{ID: "666", Name: "Eve"}
)

// old is a chat of an earlier version, which did not record who connected it.
func old() *bound {
	return &bound{ClientID: "chat_1", Chat: team, Grants: []api.Grant{api.GrantView}, Senders: []listed{{Sender: ada}}}
}

// TestChatsLastNoLongerThanTheirGivers: a client whose access expires gives none for longer, neither
// with a code nor by allowing a sender, and a token gives none.
func TestChatsLastNoLongerThanTheirGivers(t *testing.T) {
	t.Parallel()
	g, stop := newGiving(t, t.TempDir(), old())
	defer stop()
	until := time.Now().Add(time.Hour).UnixMilli()
	limited, forever, token := g.admit(until), g.admit(0), g.token()
	later, same, allow := g.pairing(), g.pairing(), api.AllowSenderRequest{ID: "chn_1", ChatID: team.ID, SenderID: eve.ID, Allowed: true}
	later.ExpiresAt, same.ExpiresAt = until+1, until
	for _, c := range []*dispatchtest.Client{limited, token} {
		dispatchtest.Refused(t, c, api.PairChannel, g.pairing(), api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.PairChannel, later, api.KindNotAllowed)
		dispatchtest.Refused(t, c, api.AllowSender, allow, api.KindNotAllowed)
	}
	dispatchtest.Refused(t, token, api.PairChannel, same, api.KindNotAllowed)
	if b := g.bound(); len(b) != 1 || len(b[0].Senders) != 1 {
		t.Fatalf("the chats are %+v", b)
	}
	dispatchtest.Call(t, limited, api.PairChannel, same)
	dispatchtest.Call(t, forever, api.PairChannel, g.pairing())
	dispatchtest.Call(t, forever, api.AllowSender, allow)
	allow.Allowed = false
	dispatchtest.Call(t, limited, api.AllowSender, allow)
}

// TestChatsEndWithTheirGivers revokes a client that connected a chat, has a code left, and allowed a
// sender in a chat of another. What others gave stays.
func TestChatsEndWithTheirGivers(t *testing.T) {
	t.Parallel()
	g, stop := newGiving(t, t.TempDir(), old())
	defer stop()
	phone, local := g.admit(0), g.Local()
	theirs, mine := channel.Chat{ID: "8", Direct: true}, channel.Chat{ID: "9", Direct: true}
	g.says(theirs, eve, dispatchtest.Call(t, phone, api.PairChannel, g.pairing()).Code, "Connected to")
	g.says(mine, ada, dispatchtest.Call(t, local, api.PairChannel, g.pairing()).Code, "Connected to")
	left := dispatchtest.Call(t, phone, api.PairChannel, g.pairing()).Code
	dispatchtest.Call(t, phone, api.AllowSender, api.AllowSenderRequest{ID: "chn_1", ChatID: team.ID, SenderID: eve.ID, Allowed: true})
	chat := g.bound()[1].ClientID
	if access, _ := g.chats.Access(chat); len(access.Grants) == 0 {
		t.Fatal("a chat has no access")
	}
	g.revoke()
	g.says(theirs, eve, "still here?", "This chat is not connected.")
	g.says(theirs, eve, left, "was revoked")
	if access, _ := g.chats.Access(chat); len(access.Grants) != 0 {
		t.Errorf("the chat of a revoked client may %v", access.Grants)
	}
	b := g.bound()
	if len(b) != 2 || b[0].Chat.ID != team.ID || b[1].Chat.ID != mine.ID || b[0].lists(eve.ID) || !b[0].lists(ada.ID) || !b[1].lists(ada.ID) {
		t.Errorf("the chats are %+v", b)
	}
}

// TestChatsOfRevokedClientsAtTheStart: the host was killed after it removed a client from the list and
// before it ended the chat. The chat may do nothing, and is removed.
func TestChatsOfRevokedClientsAtTheStart(t *testing.T) {
	t.Parallel()
	b := old()
	b.By = gone(t)
	g, stop := newGiving(t, t.TempDir(), b)
	defer stop()
	if access, _ := g.chats.Access(b.ClientID); len(access.Grants) != 0 {
		t.Errorf("the chat may %v", access.Grants)
	}
	g.says(team, ada, "still here?", "This chat is not connected.")
}

// limit changes the limits and grants of the only paired client, as changing each does.
func (g *giving) limit(limits api.ClientLimits, without ...api.Grant) {
	g.t.Helper()
	id := g.Clients.List()[0].ID
	if _, _, _, err := g.Clients.SetLimits(id, func(state.Client) (api.ClientLimits, error) { return limits, nil }); err != nil {
		g.t.Fatal(err)
	}
	for _, grant := range without {
		if _, _, _, err := g.Clients.SetGrant(id, grant, false, func(state.Client) error { return nil }); err != nil {
			g.t.Fatal(err)
		}
	}
	g.chats.Recheck()
}

// TestAChatHasNoMoreThanItsGiver: the access of a client that connected a chat, and allowed a sender in
// another one, is shortened, limited and extended again.
func TestAChatHasNoMoreThanItsGiver(t *testing.T) {
	t.Parallel()
	g, stop := newGiving(t, t.TempDir(), old())
	defer stop()
	phone := g.admit(0)
	theirs := channel.Chat{ID: "8", Direct: true}
	g.says(theirs, eve, dispatchtest.Call(t, phone, api.PairChannel, g.pairing(api.GrantPrompt, api.GrantApprove)).Code, "Connected to")
	dispatchtest.Call(t, phone, api.AllowSender, api.AllowSenderRequest{ID: "chn_1", ChatID: team.ID, SenderID: eve.ID, Allowed: true})
	connected, other := g.bound()[1], g.bound()[0]
	soon, past := time.Now().Add(time.Hour).UnixMilli(), time.Now().Add(-time.Hour).UnixMilli()
	for _, c := range []struct {
		limits  api.ClientLimits
		expires int64
		ended   bool
	}{
		{api.ClientLimits{ExpiresAt: soon}, soon, false},
		{api.ClientLimits{ExpiresAt: past}, 0, true},
		{api.ClientLimits{Projects: []string{"prj_other"}}, 0, true},
		{api.ClientLimits{Projects: []string{g.project.ID}}, 0, false},
		{api.ClientLimits{}, 0, false},
	} {
		g.limit(c.limits)
		access, _ := g.chats.Access(connected.ClientID)
		if ended := len(access.Grants) == 0; ended != c.ended || access.ExpiresAt != c.expires {
			t.Errorf("%+v: the chat may %+v", c.limits, access)
		}
		if g.chats.allows(other, eve.ID) == c.ended || !g.chats.allows(other, ada.ID) {
			t.Errorf("%+v: the sender that the client allowed is heard: %v", c.limits, !c.ended)
		}
	}
	g.limit(api.ClientLimits{}, api.GrantApprove)
	if access, _ := g.chats.Access(connected.ClientID); !slices.Equal(access.Grants, []api.Grant{api.GrantView, api.GrantPrompt}) {
		t.Errorf("the client lost a grant, and the chat may %v", access.Grants)
	}
	g.limit(api.ClientLimits{ExpiresAt: past})
	g.says(theirs, eve, "still here?", "The access of this chat has expired")
}

// gone is the id of a client that is on no list.
func gone(t *testing.T) string {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return keys.ID().String()
}

// everyone is a list of clients on which everyone is, with all grants.
func everyone(string) (dispatch.Access, bool) { return dispatch.Access{Grants: api.AllGrants()}, true }
