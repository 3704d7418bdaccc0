package relay_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// A loopback name is that of every machine: a listener on one of them, as the end of
// a tunnel or as another user, could carry a login that is signed for it to a relay
// elsewhere.
func TestALoopbackLoginServesOnItsOwnMachineOnly(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} // who comes through it is elsewhere
	for name, tc := range map[string]struct {
		public []string
		from   string
		ok     bool
	}{
		"from this machine":              {[]string{"https://relay.example"}, "", true},
		"from this machine, by a proxy":  {[]string{"https://relay.example"}, "::1", true},
		"from elsewhere":                 {[]string{"https://relay.example"}, "203.0.113.7", false},
		"from elsewhere, without a name": {nil, "203.0.113.7", true},
	} {
		s := relaytest.Start(t, func(cfg *relay.Config) { cfg.PublicURLs, cfg.TrustedProxies = tc.public, trusted })
		header := http.Header{}
		if tc.from != "" {
			header.Set("X-Forwarded-For", tc.from)
		}
		ws, _, err := websocket.Dial(t.Context(), s.URL+wire.ConnectPath, &websocket.DialOptions{HTTPHeader: header, Subprotocols: []string{wire.Subprotocol}})
		if err != nil {
			t.Fatal(err)
		}
		if got := logIn(t, ws, strings.TrimPrefix(s.URL, "http://")); (got == "welcome") != tc.ok {
			t.Errorf("%s: %s", name, got)
		}
		_ = ws.CloseNow() // the relay notices
	}
}

// logIn says hello with authority and returns the type of the answer.
func logIn(t *testing.T, ws *websocket.Conn, authority string) string {
	t.Helper()
	read := func() wire.Frame {
		_, data, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		frame, err := wire.DecodeControl(data, wire.MaxControl)
		if err != nil {
			t.Fatal(err)
		}
		return frame
	}
	own := wire.Hello{Authority: authority, Label: "x"}
	own.Sign(relaytest.NewKeys(t, ident.KindClient), read().(*wire.RelayHello).Nonce)
	hello, err := wire.EncodeControl(wire.EntryHello{Hello: own})
	if err == nil {
		err = ws.Write(t.Context(), websocket.MessageText, hello)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read().FrameType()
}
