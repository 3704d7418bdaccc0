package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/gateway"
	"github.com/scorel/scorel/apps/host/internal/channel/gateway/gatewaytest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

var errEnough = errors.New("enough")

func options(url string) gateway.Options {
	return gateway.Options{URL: url, Token: "secret", Intents: 1, Check: channel.CheckEndpoint}
}

// TestHeartbeats: they are sent as often as the platform asks.
func TestHeartbeats(t *testing.T) {
	g := gatewaytest.New(t, gatewaytest.Options{Token: "secret", Unauthorized: 4004, Interval: 500})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- gateway.Run(ctx, options(g.URL), gateway.Session{}, func(context.Context, gateway.Event, gateway.Session) error { return nil })
	}()
	for beats := 0; beats < 3; beats, _ = g.Counts() {
		select {
		case err := <-done:
			t.Fatal(err)
		case <-g.Beat:
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// TestResume: the next connection gets what was not handled, and nothing else.
func TestResume(t *testing.T) {
	g := gatewaytest.New(t, gatewaytest.Options{Token: "secret", Unauthorized: 4004})
	var at gateway.Session
	var got []string
	take := func(_ context.Context, e gateway.Event, s gateway.Session) error {
		if e.Type == "READY" {
			g.Send("A", 1)
			g.Send("B", 2)
		}
		if e.Type == "B" && len(got) == 2 { // the disk is full
			got = append(got, "refused")
			return errEnough
		}
		got, at = append(got, e.Type), s
		if e.Type == "RESUMED" {
			return errEnough
		}
		return nil
	}
	for range 2 {
		if err := gateway.Run(t.Context(), options(g.URL), at, take); !errors.Is(err, errEnough) {
			t.Fatal(err)
		}
	}
	if strings.Join(got, " ") != "READY A refused B RESUMED" {
		t.Errorf("got %v", got)
	}
}

// TestADeadConnection: a platform that does not answer heartbeats is left.
func TestADeadConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = socket.CloseNow() }()
		_ = socket.Write(r.Context(), websocket.MessageText, []byte(`{"op":10,"d":{"heartbeat_interval":500}}`))
		for err == nil {
			_, _, err = socket.Read(r.Context())
		}
	}))
	defer server.Close()
	err := gateway.Run(t.Context(), options("ws"+strings.TrimPrefix(server.URL, "http")), gateway.Session{}, nil)
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("the error is %v", err)
	}
}

// TestBadPlatforms: whatever a platform sends, Run ends with an error.
func TestBadPlatforms(t *testing.T) {
	for name, frames := range map[string][]string{
		"no frame":           {"hello"},
		"no hello":           {`{"op":0}`},
		"no interval":        {`{"op":10,"d":{}}`},
		"a negative one":     {`{"op":10,"d":{"heartbeat_interval":-1}}`},
		"reconnect":          {`{"op":10,"d":{"heartbeat_interval":45000}}`, `{"op":7}`},
		"resume again":       {`{"op":10,"d":{"heartbeat_interval":45000}}`, `{"op":9,"d":true}`},
		"a lost session":     {`{"op":10,"d":{"heartbeat_interval":45000}}`, `{"op":9,"d":false}`},
		"a session of no id": {`{"op":10,"d":{"heartbeat_interval":45000}}`, `{"op":0,"t":"READY","s":1,"d":{}}`},
		"null":               {`{"op":10,"d":{"heartbeat_interval":45000}}`, `{"op":0,"t":"READY","s":1,"d":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				socket, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer func() { _ = socket.CloseNow() }()
				for _, f := range frames {
					_ = socket.Write(r.Context(), websocket.MessageText, []byte(f))
				}
				for err == nil {
					_, _, err = socket.Read(r.Context())
				}
			}))
			defer server.Close()
			err := gateway.Run(t.Context(), options("ws"+strings.TrimPrefix(server.URL, "http")), gateway.Session{}, func(context.Context, gateway.Event, gateway.Session) error { return nil })
			if err == nil || errors.Is(err, gateway.ErrSessionLost) != (name == "a lost session") {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestAddresses: a session is never resumed at an address that would get the token unencrypted.
func TestAddresses(t *testing.T) {
	err := gateway.Run(t.Context(), options("wss://example.com"), gateway.Session{ID: "s", URL: "ws://example.com"}, nil)
	if err == nil || !strings.Contains(err.Error(), "unencrypted") {
		t.Errorf("the error is %v", err)
	}
	if text, _ := json.Marshal(gateway.Session{ID: "s", Seq: 3}); string(text) != `{"i":"s","n":3}` {
		t.Errorf("a stored session is %s", text)
	}
}
