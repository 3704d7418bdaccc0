package doctor_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// expect checks where a probe stopped, and that it stopped there.
func expect(t *testing.T, got result, name doctor.Name, want doctor.Finding, detail string) {
	t.Helper()
	if got.failure == nil || got.failure.Step.Name != name || got.failure.Step.Finding != want {
		t.Fatalf("stopped at %+v, want %s with %s; steps %+v", got.failure, name, want, got.steps)
	}
	step := got.failure.Step
	if !strings.Contains(step.Detail, detail) {
		t.Errorf("the detail is %q, want %q in it", step.Detail, detail)
	}
	if step.Hint() == "" {
		t.Errorf("%s has no hint", want)
	}
	after := false
	for _, s := range got.steps {
		if after && s.Status != doctor.StatusSkipped && s.Name != doctor.StepClock {
			t.Errorf("%s was tried after the failure: %s", s.Name, s.Status)
		}
		after = after || s.Name == name
	}
}

// nobody checks that the failure counts as unreachable, and no that it counts as a refusal.
func nobody(t *testing.T, got result) {
	t.Helper()
	if !errors.Is(got.failure.Step.Err, relayconn.ErrUnreachable) {
		t.Errorf("the cause is %v, want one that says unreachable", got.failure.Step.Err)
	}
}

func refused(t *testing.T, got result) {
	t.Helper()
	if !errors.Is(got.failure.Step.Err, doctor.ErrRefused) && !errors.As(got.failure.Step.Err, new(*wire.Error)) {
		t.Errorf("the cause is %v, want a refusal", got.failure.Step.Err)
	}
}

func TestAllIsWell(t *testing.T) {
	server := relaytest.Start(t, nil)
	got := run(t, doctor.Options{RelayURL: server.URL})
	if got.failure != nil {
		t.Fatalf("stopped at %+v", got.failure)
	}
	var lines []string
	for _, s := range got.steps {
		lines = append(lines, fmt.Sprintf("%s %s", s.Name, s.Status))
	}
	want := []string{"url ok", "dns skipped", "tcp ok", "proxy skipped", "tls skipped", "relay ok", "login ok", "clock ok"}
	if !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	if detail := got.step(t, doctor.StepRelay).Detail; detail != fmt.Sprintf("scorel test, protocol version %d", wire.Version) {
		t.Errorf("the relay is described as %q", detail)
	}
}

func TestAddress(t *testing.T) {
	for _, text := range []string{"relay.example", "ftp://relay.example", "https://relay.example/?x=1", "https://"} {
		expect(t, run(t, doctor.Options{RelayURL: text}), doctor.StepURL, doctor.URLBad, "not a relay URL")
	}
	got := run(t, doctor.Options{RelayURL: "http://relay.invalid"})
	if f := got.failure; f == nil || f.Step.Finding != doctor.DNSUnknown && f.Step.Finding != doctor.DNSFailed {
		t.Fatalf("a name that cannot be: stopped at %+v", f) // without a network, no name server can report that a name does not exist
	}
	if step := got.step(t, doctor.StepURL); step.Finding != doctor.URLPlain {
		t.Errorf("an address without TLS got %+v", step)
	}
	nobody(t, got)
}

func TestClosedPort(t *testing.T) {
	addr := closedPort(t)
	for _, scheme := range []string{"http://", "https://"} {
		got := run(t, doctor.Options{RelayURL: scheme + addr})
		expect(t, got, doctor.StepTCP, doctor.TCPRefused, "nothing listens at "+addr)
		nobody(t, got)
	}
}

func TestSilentPort(t *testing.T) {
	for scheme, where := range map[string]doctor.Name{"http": doctor.StepRelay, "https": doctor.StepTLS} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			got := run(t, doctor.Options{RelayURL: scheme + "://" + silentPort(t), Timeout: brief})
			expect(t, got, where, doctor.RelaySilent, "sent nothing")
			nobody(t, got)
		})
	}
}

func TestCertificates(t *testing.T) {
	server := relaytest.Start(t, nil)
	known, stranger := newAuthority(t, "Known CA"), newAuthority(t, "Stranger CA")
	tests := []struct {
		name   string
		cert   tls.Certificate
		want   doctor.Finding
		detail string
	}{
		{"wrong name", known.leaf(t, func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = nil, []string{"a.test", "b.test"}
		}), doctor.TLSName, "for a.test, b.test, not for 127.0.0.1"},
		{"no name", known.leaf(t, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, nil }), doctor.TLSName, ""},
		{"expired", known.leaf(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), doctor.TLSExpired, "expired on 20"},
		{"not yet", known.leaf(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) }), doctor.TLSEarly, "is valid from 20"},
		{"self-signed", selfSigned(t), doctor.TLSUntrusted, "self-signed"},
		{"unknown issuer", stranger.leaf(t, nil), doctor.TLSUntrusted, `"Stranger CA"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := serveTLS(t, test.cert, server.Relay.Handler())
			got := run(t, doctor.Options{RelayURL: s.URL, RootCAs: known.pool})
			expect(t, got, doctor.StepTLS, test.want, test.detail)
			nobody(t, got)
		})
	}
	t.Run("good", func(t *testing.T) {
		s := serveTLS(t, known.leaf(t, nil), server.Relay.Handler())
		got := run(t, doctor.Options{RelayURL: s.URL, RootCAs: known.pool})
		if step := got.step(t, doctor.StepTLS); got.failure != nil || step.Status != doctor.StatusOK || !strings.Contains(step.Detail, `"Known CA"`) {
			t.Errorf("got %+v, failure %+v", step, got.failure)
		}
	})
	t.Run("ends soon", func(t *testing.T) {
		cert := known.leaf(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(3 * 24 * time.Hour) })
		s := serveTLS(t, cert, server.Relay.Handler())
		got := run(t, doctor.Options{RelayURL: s.URL, RootCAs: known.pool})
		if step := got.step(t, doctor.StepTLS); got.failure != nil || step.Finding != doctor.TLSSoon {
			t.Errorf("got %+v, failure %+v", step, got.failure)
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		got := run(t, doctor.Options{RelayURL: strings.Replace(server.URL, "http:", "https:", 1), RootCAs: known.pool})
		expect(t, got, doctor.StepTLS, doctor.TLSNone, "does not speak TLS")
		nobody(t, got)
	})
}

func TestOtherServers(t *testing.T) {
	known := newAuthority(t, "Known CA")
	answer := func(status int, header, text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", header)
			http.Error(w, text, status)
		})
	}
	tests := []struct {
		name    string
		handler http.Handler
		want    doctor.Finding
		detail  string
	}{
		{"a web site", answer(http.StatusNotFound, "", "<html>"), doctor.RelayOther, "answered 404 Not Found, unlike a relay"},
		{"a redirect", answer(http.StatusFound, "https://elsewhere.test/", "moved"), doctor.RelayOther, "points to https://elsewhere.test/"},
		{"a proxy without a relay", answer(http.StatusBadGateway, "", "upstream is down"), doctor.RelayBusy, "upstream is down"},
		{"a relay that is asked too often", answer(http.StatusTooManyRequests, "", "slowly"), doctor.RelayRate, "no more connections"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := httptest.NewServer(test.handler)
			t.Cleanup(s.Close)
			expect(t, run(t, doctor.Options{RelayURL: s.URL}), doctor.StepRelay, test.want, test.detail)
		})
	}
	t.Run("TLS behind http", func(t *testing.T) {
		s := serveTLS(t, known.leaf(t, nil), http.NotFoundHandler())
		got := run(t, doctor.Options{RelayURL: strings.Replace(s.URL, "https:", "http:", 1)})
		expect(t, got, doctor.StepRelay, doctor.RelayOther, "HTTP request to an HTTPS server")
	})
}

// TestRelayThatEnds probes a relay that no longer accepts connections.
func TestRelayThatEnds(t *testing.T) {
	server := relaytest.Start(t, nil)
	if err := server.Relay.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := run(t, doctor.Options{RelayURL: server.URL})
	expect(t, got, doctor.StepRelay, doctor.RelayBusy, "503")
	nobody(t, got)
}

// TestNames reaches a relay by the name relay.test, which a proxy resolves to it.
func TestNames(t *testing.T) {
	known := newAuthority(t, "Known CA")
	reach := func(t *testing.T, publicURL string) (result, *connectProxy) {
		server := relaytest.Start(t, func(cfg *relay.Config) { cfg.PublicURLs = []string{publicURL} })
		s := serveTLS(t, known.leaf(t, nil), server.Relay.Handler())
		proxy := newConnectProxy(t, http.StatusOK, s.Listener.Addr().String())
		return run(t, doctor.Options{RelayURL: "https://relay.test", RootCAs: known.pool, Proxy: proxy.option(t)}), proxy
	}
	t.Run("its own", func(t *testing.T) {
		got, proxy := reach(t, "https://relay.test")
		if got.failure != nil {
			t.Fatalf("stopped at %+v", got.failure)
		}
		if step := got.step(t, doctor.StepProxy); step.Status != doctor.StatusOK || !strings.Contains(step.Detail, "relay.test:443") {
			t.Errorf("the proxy step is %+v", step)
		}
		if asked, _ := proxy.heard(); len(asked) < 3 || slices.ContainsFunc(asked, func(s string) bool { return s != "CONNECT relay.test:443" }) {
			t.Errorf("the proxy was asked for %q", asked)
		}
	})
	t.Run("another", func(t *testing.T) {
		got, _ := reach(t, "https://elsewhere.test")
		expect(t, got, doctor.StepRelay, doctor.RelayName, "does not answer to the name relay.test")
		refused(t, got)
	})
}

func TestProxies(t *testing.T) {
	tests := []struct {
		status int
		want   doctor.Finding
		check  func(*testing.T, result)
	}{
		{http.StatusForbidden, doctor.ProxyRefused, refused},
		{http.StatusMethodNotAllowed, doctor.ProxyRefused, refused},
		{http.StatusProxyAuthRequired, doctor.ProxyLogin, refused},
		{http.StatusBadGateway, doctor.ProxyFailed, nobody},
	}
	for _, test := range tests {
		t.Run(http.StatusText(test.status), func(t *testing.T) {
			proxy := newConnectProxy(t, test.status, "")
			address := strings.Replace(proxy.URL, "http://", "http://ada:secret@", 1)
			got := run(t, doctor.Options{RelayURL: "https://relay.test", Proxy: proxyOption(t, address)})
			expect(t, got, doctor.StepProxy, test.want, "the proxy "+proxy.Listener.Addr().String())
			test.check(t, got)
			if _, login := proxy.heard(); !slices.Equal(login, []string{"Basic YWRhOnNlY3JldA=="}) {
				t.Errorf("the proxy received %q", login)
			}
			if text := fmt.Sprintf("%+v", got.steps); strings.Contains(text, "secret") {
				t.Errorf("the password is in the text: %s", text)
			}
		})
	}
	t.Run("closed", func(t *testing.T) {
		addr := closedPort(t)
		got := run(t, doctor.Options{RelayURL: "https://relay.test", Proxy: proxyOption(t, "http://"+addr)})
		expect(t, got, doctor.StepTCP, doctor.TCPRefused, "the proxy "+addr)
	})
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		got := run(t, doctor.Options{RelayURL: "https://relay.test", Proxy: proxyOption(t, "http://"+silentPort(t)), Timeout: brief})
		expect(t, got, doctor.StepProxy, doctor.ProxyFailed, "no answer in time")
	})
	t.Run("no address", func(t *testing.T) {
		got := run(t, doctor.Options{RelayURL: "https://relay.test", Proxy: func(*http.Request) (*url.URL, error) {
			return nil, errors.New(`invalid proxy address "http://ada:secret@"`)
		}})
		expect(t, got, doctor.StepURL, doctor.ProxyBad, "is not an address")
		if strings.Contains(fmt.Sprintf("%+v", got.steps), "secret") {
			t.Error("the password is in the report")
		}
	})
}

func TestLogins(t *testing.T) {
	t.Run("too often", func(t *testing.T) {
		server := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Logins = relay.Rate{Burst: 1, Every: time.Hour} })
		keys := relaytest.NewKeys(t, ident.KindClient)
		opts := doctor.Options{RelayURL: server.URL, Keys: func() (*ident.Private, error) { return keys, nil }}
		if got := run(t, opts); got.failure != nil {
			t.Fatalf("the first login failed: %+v", got.failure)
		}
		got := run(t, opts)
		expect(t, got, doctor.StepLogin, doctor.LoginRate, "too often")
		refused(t, got)
	})
	t.Run("signed for another name", func(t *testing.T) {
		got := run(t, doctor.Options{RelayURL: mirror(t, relaytest.Start(t, nil).URL, time.Now().UTC())})
		expect(t, got, doctor.StepLogin, doctor.LoginName, "public URLs")
		refused(t, got)
	})
	t.Run("no keys", func(t *testing.T) {
		broken := func() (*ident.Private, error) { return nil, errors.New("entry.json is damaged") }
		got := run(t, doctor.Options{RelayURL: relaytest.Start(t, nil).URL, Keys: broken})
		expect(t, got, doctor.StepLogin, doctor.LoginKeys, "entry.json is damaged")
	})
}

// mirror is a proxy in front of a relay that does not forward Host, and whose clock shows
// date.
func mirror(t *testing.T, relayURL string, date time.Time) string {
	t.Helper()
	target, err := url.Parse(relayURL)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("Date", date.Format(http.TimeFormat))
			return nil
		},
	})
	t.Cleanup(s.Close)
	return s.URL
}

func TestClock(t *testing.T) {
	server := relaytest.Start(t, nil)
	tests := []struct {
		off    time.Duration
		want   doctor.Finding
		detail string
	}{
		{0, "", "within"},
		{-5 * time.Minute, doctor.ClockSkew, "behind the relay's"},
		{3 * time.Hour, doctor.ClockSkew, "ahead of the relay's"},
	}
	for _, test := range tests {
		t.Run(test.off.String(), func(t *testing.T) {
			now := func() time.Time { return time.Now().Add(test.off) }
			got := run(t, doctor.Options{RelayURL: server.URL, Now: now})
			step := got.step(t, doctor.StepClock)
			if got.failure != nil || step.Finding != test.want || !strings.Contains(step.Detail, test.detail) {
				t.Errorf("got %+v, failure %+v", step, got.failure)
			}
		})
	}
	t.Run("the Date of a server that admits no one", func(t *testing.T) {
		got := run(t, doctor.Options{RelayURL: mirror(t, server.URL, time.Now().UTC().Add(-2*time.Hour))})
		expect(t, got, doctor.StepLogin, doctor.LoginName, "")
		if step := got.step(t, doctor.StepClock); step.Finding != doctor.ClockSkew || !strings.Contains(step.Detail, "ahead of the relay's") {
			t.Errorf("got %+v", step)
		}
	})
}
