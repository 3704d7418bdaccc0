package relay_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func byInvite(cfg *relay.Config) { cfg.Admission.Mode = relay.AdmitByInvite }

func makeInvite(t *testing.T, s *relaytest.Server, uses int, lifetime time.Duration, made time.Time) string {
	t.Helper()
	code, invite, err := store.NewInvite(uses, lifetime, made)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Store.(store.Inviter).AddInvite(t.Context(), invite); err != nil {
		t.Fatal(err)
	}
	return code
}

// loginWith logs in with an invite and returns the refusal, or nil.
func loginWith(t *testing.T, s *relaytest.Server, keys *ident.Private, invite string) *wire.ErrorFrame {
	t.Helper()
	p := s.Dial(t, keys)
	defer p.Close()
	p.SendHello(func(h *wire.Hello) { h.Invite = invite })
	frame, _, err := p.Next()
	if err != nil {
		t.Fatal(err)
	}
	switch f := frame.(type) {
	case *wire.Welcome:
		return nil
	case *wire.ErrorFrame:
		p.ExpectEnd(wire.ReasonLoginFailed)
		return f
	default:
		t.Fatalf("answer to the hello: %T", f)
		return nil
	}
}

func TestInviteLetsNewcomersIn(t *testing.T) {
	s := relaytest.Start(t, byInvite)
	now := time.Now()
	once, expired := makeInvite(t, s, 1, time.Hour, now), makeInvite(t, s, 1, time.Hour, now.Add(-2*time.Hour))
	newcomer, late := relaytest.NewKeys(t, ident.KindDevice), relaytest.NewKeys(t, ident.KindClient)
	for _, tc := range []struct {
		name   string
		keys   *ident.Private
		invite string
		want   string // part of the refusal; "" for a welcome
	}{
		{"no invite", newcomer, "", "ask its operator"},
		{"no invite by form", newcomer, "let me in", "does not know the invite"},
		{"unknown invite", newcomer, "0000-0000-0000-0000", "does not know the invite"},
		{"expired invite", newcomer, expired, "is expired"},
		{"as people type it", newcomer, strings.ToLower(strings.ReplaceAll(once, "-", " ")), ""},
		{"known without one", newcomer, "", ""},
		{"known with a used one", newcomer, once, ""},
		{"used up", late, once, "is used up"},
	} {
		refused := loginWith(t, s, tc.keys, tc.invite)
		switch {
		case refused == nil && tc.want != "":
			t.Errorf("%s: was let in", tc.name)
		case refused != nil && (tc.want == "" || refused.Kind != wire.KindInviteRequired || !strings.Contains(refused.Message, tc.want)):
			t.Errorf("%s: refused with %+v, want %q", tc.name, refused, tc.want)
		}
	}
}

func TestInvitesCannotBeTriedWithoutEnd(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		byInvite(cfg)
		cfg.Limits.LoginFailures = relay.Rate{Burst: 2, Every: time.Hour}
	})
	for range 2 {
		if refused := loginWith(t, s, relaytest.NewKeys(t, ident.KindClient), "0000-0000-0000-0000"); refused == nil {
			t.Fatal("was let in")
		}
	}
	_, resp, err := websocket.Dial(t.Context(), s.URL+wire.ConnectPath, &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("third try: response %v, error %v; want 429", resp, err)
	}
}

func TestAllowListIsTheWholeList(t *testing.T) {
	listed, stranger := relaytest.NewKeys(t, ident.KindDevice), relaytest.NewKeys(t, ident.KindDevice)
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Admission = relay.Admission{Mode: relay.AdmitListed, Allow: []ident.ID{listed.ID()}}
	})
	if refused := loginWith(t, s, stranger, ""); refused == nil || refused.Kind != wire.KindNotAdmitted || !strings.Contains(refused.Message, stranger.ID().String()) {
		t.Fatalf("a stranger: %+v", refused)
	}
	in := s.Login(t, listed, "listed")
	if err := s.Relay.SetAdmission(relay.Admission{Mode: relay.AdmitListed, Allow: []ident.ID{stranger.ID()}}); err != nil {
		t.Fatal(err)
	}
	in.ExpectError(wire.KindNotAdmitted)
	in.ExpectEnd(wire.ReasonLoginFailed)
	if refused := loginWith(t, s, stranger, ""); refused != nil {
		t.Fatalf("listed now: %+v", refused)
	}
	if refused := loginWith(t, s, listed, ""); refused == nil {
		t.Fatal("no longer listed, and let in")
	}
}

func TestReloadChangesAdmissionAndLimitsTogetherOrNotAtAll(t *testing.T) {
	s := relaytest.Start(t, nil)
	in := s.Login(t, relaytest.NewKeys(t, ident.KindDevice), "in")
	nobody := relay.Admission{Mode: relay.AdmitListed}
	for name, bad := range map[string]relay.Settings{
		"admission": {Admission: &relay.Admission{Mode: "closed"}},
		"limits":    {Admission: &nobody, Limits: relay.Limits{Connections: -1}},
		"guessing":  {Admission: &nobody, Limits: relay.Limits{AllPairs: relay.Rate{Burst: 1 << 30, Every: time.Second}}},
	} {
		if err := s.Relay.Reload(bad); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if err := s.Relay.Reload(relay.Settings{}); err != nil { // leaves admission as it is
		t.Fatal(err)
	}
	in.Quiet()
	if err := s.Relay.Reload(relay.Settings{Admission: &nobody}); err != nil {
		t.Fatal(err)
	}
	in.ExpectError(wire.KindNotAdmitted)
}

func TestAdmissionFailsClosed(t *testing.T) {
	st := &brokenStore{Store: relaytest.OpenStore(t, t.TempDir()+"/relay.db"), broken: make(chan struct{})}
	close(st.broken)
	s := relaytest.Start(t, func(cfg *relay.Config) { byInvite(cfg); cfg.Store = st })
	if refused := loginWith(t, s, relaytest.NewKeys(t, ident.KindDevice), "0000-0000-0000-0000"); refused == nil || refused.Kind != wire.KindUnavailable {
		t.Fatalf("a store that does not answer: %+v", refused)
	}
}

func TestBadAdmissionIsRefused(t *testing.T) {
	id := relaytest.NewKeys(t, ident.KindDevice).ID()
	for want, a := range map[string]relay.Admission{
		"unknown admission": {Mode: "closed"},
		"ids are list":      {Allow: []ident.ID{id}},
	} {
		_, err := relay.New(relay.Config{Store: relaytest.OpenStore(t, t.TempDir()+"/relay.db"), Admission: a})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}
