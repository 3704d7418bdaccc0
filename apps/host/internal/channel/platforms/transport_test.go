package platforms_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel/platforms"
)

var errUnreachable = errors.New("not by this transport")

// entry answers what a platform asks before it connects to its gateway, and refuses the rest.
type entry struct{ gateways int }

func (e *entry) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Upgrade") != "" {
		e.gateways++
		return nil, errUnreachable
	}
	for path, answer := range map[string]string{
		"/users/@me": `{"id":"1","username":"bot"}`, "/auth.test": `{"ok":true,"user_id":"U1","user":"bot"}`, "/apps.connections.open": `{"ok":true,"url":"wss://gateway.example.com"}`,
		"/gateway/bot": `{"url":"wss://gateway.example.com"}`, "/gateway": `{"url":"wss://gateway.example.com"}`, "/app/getAppAccessToken": `{"access_token":"x","expires_in":7200}`,
	} {
		if strings.HasSuffix(r.URL.Path, path) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
		}
	}
	return nil, errUnreachable
}

type refusing struct{}

func (refusing) RoundTrip(*http.Request) (*http.Response, error) { return nil, errUnreachable }

// TestPlatformsConnectByTheirTransport: a platform whose settings name a server makes no connection
// beside the transport that it was given, neither for requests nor for a gateway.
func TestPlatformsConnectByTheirTransport(t *testing.T) {
	values := map[string]string{
		"token": "1:abc", "app-token": "xapp-1", "app-id": "1", "secret": "0123456789abcdef", "api": "https://192.0.2.1", "url": "https://192.0.2.1",
	}
	for _, k := range platforms.Kinds() {
		settings := map[string]string{}
		for _, s := range k.Settings {
			if settings[s.Name] = values[s.Name]; k.Name == "slack" && s.Name == "token" {
				settings[s.Name] = "xoxb-1"
			}
		}
		if len(k.Servers(settings)) == 0 {
			continue
		}
		p, err := k.Open(settings, refusing{})
		if err != nil {
			t.Fatalf("%s: %v", k.Name, err)
		}
		if _, err := p.Check(t.Context()); err == nil || !strings.Contains(err.Error(), errUnreachable.Error()) {
			t.Errorf("%s: a request: %v", k.Name, err)
		}
		if err := p.Run(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), errUnreachable.Error()) {
			t.Errorf("%s: receiving: %v", k.Name, err)
		}
		via := &entry{}
		if p, err = k.Open(settings, via); err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), errUnreachable.Error()) {
			t.Errorf("%s: connecting to the gateway: %v", k.Name, err)
		}
		if has := slices.Contains([]string{"slack", "discord", "qq"}, k.Name); has != (via.gateways == 1) {
			t.Errorf("%s: %d connections to a gateway", k.Name, via.gateways)
		}
	}
}
