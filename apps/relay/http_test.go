package relay_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

func page() fstest.MapFS {
	return fstest.MapFS{
		"index.html":        {Data: []byte("<!doctype html><title>scorel</title>")},
		"session.html":      {Data: []byte("<!doctype html><title>session</title>")},
		"assets/app-1a2.js": {Data: []byte(strings.Repeat("export const x = 1;\n", 200))},
		// Brotli is what the build made of it, gzip what the relay makes.
		"assets/page-2b3.js":    {Data: []byte(strings.Repeat("export const y = 2;\n", 200))},
		"assets/page-2b3.js.br": {Data: []byte("as brotli")},
		"icon.png":              {Data: []byte("\x89PNG")},
		"sw.js":                 {Data: []byte("var x = 1;")},

		"manifest.webmanifest": {Data: []byte("{}")},
	}
}

func get(t *testing.T, s *relaytest.Server, path string, change func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

func TestWebUI(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Web = page() })
	for _, tc := range []struct {
		path, kind, cache string
		status            int
		body              string
	}{
		{"/", "text/html; charset=utf-8", "no-cache", 200, "<!doctype"},
		{"/pair", "text/html; charset=utf-8", "no-cache", 200, "<!doctype"},
		{"/sessions/abc/def", "text/html; charset=utf-8", "no-cache", 200, "<!doctype html><title>scorel"},
		{"/d/dev_a/new", "text/html; charset=utf-8", "no-cache", 200, "<!doctype html><title>scorel"},
		{"/d/dev_a/s/ses_1", "text/html; charset=utf-8", "no-cache", 200, "<!doctype html><title>session"},
		{"/assets/app-1a2.js", "text/javascript; charset=utf-8", "public, max-age=31536000, immutable", 200, "export"},
		{"/assets/gone-999.js", "", "", 404, ""},
		{"/icon.png", "image/png", "no-cache", 200, "\x89PNG"},
		{"/sw.js", "text/javascript; charset=utf-8", "no-cache", 200, "var"}, // at the root, for its scope
		{"/manifest.webmanifest", "application/manifest+json", "no-cache", 200, "{"},
		{"/..%2f..%2fetc/passwd", "text/html; charset=utf-8", "no-cache", 200, "<!doctype"},
		{"/v1/nothing", "", "", 404, ""},
	} {
		resp, body := get(t, s, tc.path, nil)
		if resp.StatusCode != tc.status || tc.kind != "" && resp.Header.Get("Content-Type") != tc.kind ||
			resp.Header.Get("Cache-Control") != tc.cache || !strings.HasPrefix(string(body), tc.body) {
			t.Errorf("%s: %d %q %q %.20q", tc.path, resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Cache-Control"), body)
		}
		csp := resp.Header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: policy %q lacks %q", tc.path, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") || resp.Header.Get("X-Content-Type-Options") != "nosniff" ||
			resp.Header.Get("Referrer-Policy") != "no-referrer" || resp.Header.Get("X-DNS-Prefetch-Control") != "off" || resp.Header.Get("Cross-Origin-Opener-Policy") != "same-origin" {
			t.Errorf("%s: headers %v", tc.path, resp.Header)
		}
	}
}

func TestWebUIIsCompressedAndRevalidated(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Web = page() })
	packed := func(req *http.Request) { req.Header.Set("Accept-Encoding", "br, gzip;q=0.8") }
	resp, body := get(t, s, "/assets/app-1a2.js", packed)
	if resp.Header.Get("Content-Encoding") != "gzip" || len(body) > 500 {
		t.Fatalf("encoding %q, %d bytes", resp.Header.Get("Content-Encoding"), len(body))
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || !bytes.Equal(plain, page()["assets/app-1a2.js"].Data) {
		t.Fatalf("unpacked to %d bytes, %v", len(plain), err)
	}
	resp, body = get(t, s, "/assets/page-2b3.js", packed)
	if resp.Header.Get("Content-Encoding") != "br" || string(body) != "as brotli" || !strings.HasSuffix(resp.Header.Get("ETag"), `-br"`) {
		t.Fatalf("encoding %q, %.20q, tag %s", resp.Header.Get("Content-Encoding"), body, resp.Header.Get("ETag"))
	}
	resp, _ = get(t, s, "/assets/page-2b3.js", func(req *http.Request) { req.Header.Set("Accept-Encoding", "gzip, br;q=0") })
	if resp.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("encoding %q where brotli is refused", resp.Header.Get("Content-Encoding"))
	}
	resp, body = get(t, s, "/assets/page-2b3.js", nil)
	if resp.Header.Get("Content-Encoding") != "" || !strings.HasPrefix(string(body), "export") {
		t.Fatalf("encoding %q, %.20q for who asks for none", resp.Header.Get("Content-Encoding"), body)
	}
	if resp, _ = get(t, s, "/assets/page-2b3.js.br", nil); resp.StatusCode != http.StatusNotFound {
		t.Fatalf("the compressed file itself: %d", resp.StatusCode)
	}
	resp, _ = get(t, s, "/", nil)
	tag := resp.Header.Get("ETag")
	resp, _ = get(t, s, "/", func(req *http.Request) { req.Header.Set("If-None-Match", tag) })
	if tag == "" || resp.StatusCode != http.StatusNotModified {
		t.Fatalf("tag %q, status %d", tag, resp.StatusCode)
	}
	if resp, _ = get(t, s, "/", func(req *http.Request) { req.Header.Set("Accept-Encoding", "gzip;q=0") }); resp.Header.Get("Content-Encoding") != "" {
		t.Fatal("compressed for a client that refuses it")
	}
}

func TestDocs(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.Web = page()
		cfg.Docs = fstest.MapFS{
			"index.html": {Data: []byte("<!doctype html>start")}, "models.html": {Data: []byte("<!doctype html>models")},
			"zh/quickstart.html": {Data: []byte("<!doctype html>zh")}, "search.js": {Data: []byte("search()")},
		}
	})
	for path, want := range map[string]string{
		"/docs/": "<!doctype html>start", "/docs": "<!doctype html>start", "/docs/models": "<!doctype html>models",
		"/docs/models.html": "<!doctype html>models", "/docs/zh/quickstart": "<!doctype html>zh", "/docs/search.js": "search()",
		"/docs/../assets/app-1a2.js": "", "/docs/nothing": "", "/docs/%2e%2e/icon.png": "", "/docs/models.md": "",
	} {
		resp, body := get(t, s, path, nil)
		if want == "" && (resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "no such page")) {
			t.Errorf("%s: %d %.40q", path, resp.StatusCode, body)
		}
		if want != "" && (resp.StatusCode != http.StatusOK || string(body) != want) {
			t.Errorf("%s: %d %.40q", path, resp.StatusCode, body)
		}
		csp := resp.Header.Get("Content-Security-Policy")
		if !strings.Contains(csp, "sandbox allow-scripts ") || strings.Contains(csp, "allow-same-origin") || strings.Contains(csp, "unsafe") || strings.Contains(csp, "connect-src") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if resp.Header.Get("Cross-Origin-Opener-Policy") != "" || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", path, resp.Header)
		}
	}
	if resp, body := get(t, s, "/docsify", nil); resp.StatusCode != http.StatusOK || !strings.Contains(string(body), "scorel") {
		t.Errorf("/docsify is a route of the page: %d %.40q", resp.StatusCode, body)
	}
	without := relaytest.Start(t, func(cfg *relay.Config) { cfg.Web = page() })
	if resp, body := get(t, without, "/docs/models", nil); resp.StatusCode != http.StatusNotFound || !strings.Contains(string(body), "github.com/scorel/scorel") {
		t.Errorf("without the documentation: %d %q", resp.StatusCode, body)
	}
}

func TestNoWebUI(t *testing.T) {
	s := relaytest.Start(t, nil)
	if resp, body := get(t, s, "/", nil); resp.StatusCode != 404 || !strings.Contains(string(body), "no web UI") {
		t.Fatalf("%d %q", resp.StatusCode, body)
	}
	if _, err := relay.New(relay.Config{Store: s.Store, Web: fstest.MapFS{"readme": {}}}); err == nil {
		t.Fatal("a web UI without index.html was taken")
	}
}

func TestHostIsChecked(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.PublicURLs = []string{"https://Relay.Example", "http://relay.lan:8080/"}
		cfg.Web = page()
	})
	for host, want := range map[string]int{
		"":                      200, // 127.0.0.1:port
		"localhost:1":           200,
		"[::1]:1":               200,
		"relay.example":         200,
		"RELAY.example:443":     200,
		"relay.lan:8080":        200,
		"relay.lan":             421,
		"relay.example:8443":    421,
		"evil.example":          421, // a name that resolves to us: DNS rebinding
		"localhost.evil":        421,
		"127.0.0.1.nip.io":      421,
		"relay.example.evil.tv": 421,
	} {
		for _, path := range []string{"/", "/healthz", "/metrics", wire.ConnectPath} {
			resp, _ := get(t, s, path, func(req *http.Request) {
				req.Host = host
				req.Header.Set("X-Forwarded-Host", "relay.example") // decides nothing
			})
			ok := resp.StatusCode != http.StatusMisdirectedRequest
			if ok != (want == 200) {
				t.Errorf("Host %q, %s: %d, want %d", host, path, resp.StatusCode, want)
			}
		}
	}
}

func TestOriginIsChecked(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) {
		cfg.PublicURLs = []string{"https://relay.example"}
		cfg.AllowedOrigins = []string{"https://app.example"}
	})
	for _, tc := range []struct {
		host, origin string
		ok           bool
	}{
		{"", "", true},
		{"", s.URL, true},
		{"", "http://127.0.0.1:1", false},
		{"", "http://evil.example", false},
		{"", "null", false},
		{"relay.example", "https://relay.example", true}, // behind a proxy that ends TLS
		{"relay.example", "https://relay.example:443", true},
		{"relay.example", "http://relay.example", false},
		{"relay.example", "https://app.example", true},
		{"relay.example", "https://app.example.evil.tv", false},
		{"relay.example", "https://relay.example@evil.tv", false},
		{"127.0.0.1:80", "https://relay.example", true}, // behind a proxy that rewrites Host
	} {
		header := http.Header{}
		if tc.origin != "" {
			header.Set("Origin", tc.origin)
		}
		ws, resp, err := websocket.Dial(t.Context(), s.URL+wire.ConnectPath, &websocket.DialOptions{
			Host: tc.host, HTTPHeader: header, Subprotocols: []string{wire.Subprotocol},
		})
		if (err == nil) != tc.ok {
			t.Errorf("Host %q Origin %q: %v, want ok %v", tc.host, tc.origin, err, tc.ok)
		}
		if err != nil && (resp == nil || resp.StatusCode != http.StatusForbidden) {
			t.Errorf("Host %q Origin %q: response %v", tc.host, tc.origin, resp)
		}
		if ws != nil {
			_ = ws.CloseNow() // the relay notices
		}
	}
}

func TestPublicNamesProveALoginBehindAProxy(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.PublicURLs = []string{"https://relay.example"} })
	for authority, ok := range map[string]bool{"relay.example": true, "relay.example:443": true, "relay.example:80": false, "Relay.example": false} {
		p := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
		p.SendHello(func(h *wire.Hello) { h.Authority = authority })
		if ok {
			relaytest.Expect[wire.Welcome](p)
		} else {
			p.ExpectError(wire.KindWrongAuthority)
		}
	}
}

func TestHandshakeIsChecked(t *testing.T) {
	s := relaytest.Start(t, nil)
	good := http.Header{
		"Connection": {"keep-alive, Upgrade"}, "Upgrade": {"WebSocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {wire.Subprotocol},
	}
	for _, tc := range []struct {
		name, header, value string
		want                int
	}{
		{"no upgrade", "Upgrade", "", 426},
		{"no connection", "Connection", "close", 426},
		{"old version", "Sec-Websocket-Version", "8", 400},
		{"short key", "Sec-Websocket-Key", "AAAA", 400},
		{"other subprotocol", "Sec-Websocket-Protocol", "chat", 400},
		{"no subprotocol", "Sec-Websocket-Protocol", "", 400},
	} {
		resp, body := get(t, s, wire.ConnectPath, func(req *http.Request) {
			req.Header = good.Clone()
			req.Header.Set(tc.header, tc.value)
		})
		if resp.StatusCode != tc.want || len(body) == 0 {
			t.Errorf("%s: %d %q, want %d", tc.name, resp.StatusCode, body, tc.want)
		}
	}
}

func TestHealthAndMetrics(t *testing.T) {
	s, st := startBreakable(t)
	s.PairedPeers(t)
	for path, want := range map[string]string{"/healthz": `{"status":"ok","version":"test"}`, "/readyz": `{"status":"ok","version":"test"}`} {
		if resp, body := get(t, s, path, nil); resp.StatusCode != 200 || strings.TrimSpace(string(body)) != want {
			t.Errorf("%s: %d %s", path, resp.StatusCode, body)
		}
	}
	rec := httptest.NewRecorder()
	s.Relay.MetricsHandler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	body := rec.Body.String()
	for _, want := range []string{
		`scorel_relay_connections{role="host"} 1`, `scorel_relay_connections{role="entry"} 1`,
		`scorel_relay_logins_total{result="ok"} 2`, `scorel_relay_pairings_total{result="ok"} 1`,
		`scorel_relay_connection_ends_total{reason="slow_consumer"} 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
	close(st.broken)
	if resp, body := get(t, s, "/readyz", nil); resp.StatusCode != 503 || !strings.Contains(string(body), "store does not answer") {
		t.Errorf("readyz without a store: %d %s", resp.StatusCode, body)
	}
	if resp, _ := get(t, s, "/healthz", nil); resp.StatusCode != 200 {
		t.Errorf("healthz without a store: %d; restarting would not help", resp.StatusCode)
	}
}

// A program that embeds a relay serves its handler, which must not expose the metrics.
func TestTheHandlerAloneShowsNoMetrics(t *testing.T) {
	for _, web := range []fs.FS{nil, page()} {
		s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Web = web })
		for _, path := range []string{"/metrics", "/metrics/", "/Metrics", "//metrics", "/./metrics", "/%6detrics"} {
			resp, body := get(t, s, path, nil)
			if strings.Contains(string(body), "scorel_relay_") || path == "/metrics" && resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %d %.80s", path, resp.StatusCode, body)
			}
		}
	}
}

func TestShutdownSaysGoodbyeAndTurnsNewPeersAway(t *testing.T) {
	s := relaytest.Start(t, nil)
	host, entry := s.PairedPeers(t)
	waiting := s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	stopped := make(chan error, 1)
	go func() { stopped <- s.Relay.Shutdown(context.Background()) }()
	for _, p := range []*relaytest.Peer{host, entry, waiting} {
		if bye := relaytest.Await[wire.Goodbye](p); bye.Reason != wire.ReasonShutdown {
			t.Fatalf("received %+v", bye)
		}
		p.Close()
	}
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if resp, _ := get(t, s, "/readyz", nil); resp.StatusCode != 503 {
		t.Fatalf("readyz after shutdown: %d", resp.StatusCode)
	}
	ws, resp, err := websocket.Dial(t.Context(), s.URL+wire.ConnectPath, &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}})
	if err == nil {
		_ = ws.CloseNow() // must not have been let in
		t.Fatal("a peer was let in after shutdown")
	}
	if resp == nil || resp.StatusCode != 503 {
		t.Fatalf("response %v", resp)
	}
}

func TestShutdownCutsPeersThatDoNotLeave(t *testing.T) {
	s := relaytest.Start(t, nil)
	s.PairedPeers(t) // neither reads
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Relay.Shutdown(ctx); err == nil {
		t.Fatal("nil error although peers were cut")
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	s := relaytest.Start(t, func(cfg *relay.Config) { cfg.Limits.Connections = 1 })
	s.Dial(t, relaytest.NewKeys(t, ident.KindClient))
	_, resp, err := websocket.Dial(t.Context(), s.URL+wire.ConnectPath, &websocket.DialOptions{Subprotocols: []string{wire.Subprotocol}})
	if err == nil || resp == nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Fatalf("response %v, error %v", resp, err)
	}
}

func TestBadConfigIsRefusedWithASentence(t *testing.T) {
	st := relaytest.OpenStore(t, t.TempDir()+"/relay.db")
	for name, cfg := range map[string]relay.Config{
		"no store":        {},
		"URL no scheme":   {Store: st, PublicURLs: []string{"relay.example"}},
		"URL with a path": {Store: st, PublicURLs: []string{"https://relay.example/relay"}},
		"wildcard origin": {Store: st, AllowedOrigins: []string{"*"}},
		"tiny queue":      {Store: st, Limits: relay.Limits{ChannelQueue: 1}},
		"negative":        {Store: st, Limits: relay.Limits{Connections: -1}},
	} {
		if r, err := relay.New(cfg); err == nil {
			_ = r.Shutdown(t.Context()) // it should not be there
			t.Errorf("%s: taken", name)
		}
	}
}

// The WebSocket is there for GET alone, which the answer to other methods says.
func TestOnlyGetConnects(t *testing.T) {
	s := relaytest.Start(t, nil)
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		resp, body := get(t, s, "/v1/connect", func(req *http.Request) { req.Method = method })
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != http.MethodGet || !strings.Contains(string(body), "needs GET") {
			t.Errorf("%s: %d, Allow %q, %s", method, resp.StatusCode, resp.Header.Get("Allow"), body)
		}
	}
}
