package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

const samplePage = `<!doctype html><html><head><title>The &lt;page&gt;</title><style>p{}</style><script>steal()</script></head>
<body><h2>Head</h2><p>One  <b>bold</b>
word. <a href="/next?a=1">Next</a> <a href="javascript:x()">Bad</a></p><ul><li>a<li>b</ul><pre>if x {
    y
}</pre></body></html>`

// site serves pages on this machine.
func site(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, samplePage)
	})
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/binary", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{0, 1, 2, 255}) })
	mux.HandleFunc("/json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"a":1}`)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		line := []byte(strings.Repeat("x", 1023) + "\n")
		for range maxFetch/len(line) + 10 {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/loop", http.StatusFound) })
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusFound)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

// loopback permits addresses of this machine.
func loopback(t *testing.T) []PrivateAddress {
	t.Helper()
	address, err := ParsePrivateAddress("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
	return []PrivateAddress{address}
}

func TestFetch(t *testing.T) {
	server := site(t)
	set := open(t, Options{FetchPrivate: loopback(t)}, Scope{Scratch: t.TempDir()})
	tests := []struct {
		path, want string
		isError    bool
	}{
		{"/page", "The <page>\n", false},
		{"/page", "## Head\n\nOne bold word. [Next](" + server.URL + "/next?a=1) Bad\n\n- a\n- b\n\nif x {\n    y\n}\n", false},
		{"/json", "application/json, 7 bytes]\n{\"a\":1}\n", false},
		{"/missing", "[404 ", true},
		{"/binary", "this is not text", true},
		{"/big", "only the first 5242880 bytes]", false},
		{"/big", "all of them are in ", false},
		{"/loop", "redirects more than 10 times", true},
		{"/to?url=file:///etc/passwd", "must begin with http", true},
		{"/to?url=/json", `{"a":1}`, false},
	}
	for _, test := range tests {
		result := set.call(t, "", "fetch_url", map[string]any{"url": server.URL + test.path})
		text := result.Content.Plain()
		if result.IsError != test.isError || !strings.Contains(text, test.want) || strings.Contains(text, "steal") {
			t.Errorf("%s: isError %v, %.400q, want %q", test.path, result.IsError, text, test.want)
		}
		if len(text) > MaxBytes+500 {
			t.Errorf("%s: %d bytes", test.path, len(text))
		}
	}
}

func TestFetchRefusesAddresses(t *testing.T) {
	server := site(t)
	set := open(t, Options{}, Scope{})
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for address, want := range map[string]string{
		server.URL + "/json":            "127.0.0.1 is not a public address",
		"http://localhost" + port:       "is not a public address",
		"http://[::1]" + port:           "is not a public address",
		"http://[::ffff:127.0.0.1]:9":   "127.0.0.1 is not a public address",
		"http://169.254.169.254/latest": "is not a public address",
		"http://10.0.0.1/":              "is not a public address",
		"http://0.0.0.0/":               "is not a public address",
		"ftp://example.org/":            "must begin with http",
		"file:///etc/passwd":            "must begin with http",
		"http://user:pw@example.org/":   "must not contain a user name or password",
		"example.org":                   "must begin with http",
		"http://":                       "has no host",
		"http://a b/":                   "not an address",
	} {
		result := set.call(t, "", "fetch_url", map[string]any{"url": address})
		if !result.IsError || !strings.Contains(result.Content.Plain(), want) {
			t.Errorf("%s: %q, want %q", address, result.Content.Plain(), want)
		}
	}
}

// TestFetchRefusesRedirects: a permitted page must not lead to a refused address.
func TestFetchRefusesRedirects(t *testing.T) {
	server, closed := site(t), site(t)
	fetch := fetchURL{open(t, Options{}, Scope{}), func(address string) error {
		if "http://"+address == server.URL {
			return nil
		}
		return RefusePrivate(address)
	}}
	get := func(url string) agent.Result {
		raw, err := json.Marshal(fetchURLArgs{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		return fetch.Run(t.Context(), agent.Call{Arguments: raw}, func(string) {})
	}
	if result := get(server.URL + "/to?url=/json"); result.IsError {
		t.Errorf("%q", result.Content.Plain())
	}
	if result := get(server.URL + "/to?url=" + closed.URL + "/json"); !result.IsError || !strings.Contains(result.Content.Plain(), "is not a public address") {
		t.Errorf("%q", result.Content.Plain())
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, public := range map[string]bool{
		"93.184.216.34:443": true, "[2606:2800:220:1::1]:443": true, "172.15.0.1:80": true, "172.16.0.1:80": false,
		"192.168.1.1:80": false, "100.64.0.1:80": false, "[fd00::1]:80": false, "[fe80::1%eth0]:80": false, "224.0.0.1:80": false,
		"255.255.255.255:80": false, "[64:ff9b::7f00:1]:80": false, "[2002:7f00:1::]:80": false, "[::]:80": false, "nonsense": false,
	} {
		if err := RefusePrivate(address); (err == nil) != public {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestFetchIsCancelled(t *testing.T) {
	server := site(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text, isError := runWith(t, ctx, Options{FetchPrivate: loopback(t)}, "", "fetch_url", map[string]any{"url": server.URL + "/slow"})
	if !isError || !strings.HasPrefix(text, "Cancelled by the user") {
		t.Errorf("%q", text)
	}
}

func FuzzReadable(f *testing.F) {
	f.Add(samplePage, "http://example.org/")
	f.Add("<h9><pre><a href='%'></a></pre></pre></svg>", ":")
	f.Fuzz(func(_ *testing.T, source, address string) { readable(source, address) }) // must not panic
}

// TestEveryRedirectIsJudged: the rules are checked for each address on the way, and a
// denial ends the call before anything is sent there.
func TestEveryRedirectIsJudged(t *testing.T) {
	server := site(t)
	fetch := fetchURL{open(t, Options{}, Scope{}), func(string) error { return nil }}
	first := server.URL + "/to?url=" + url.QueryEscape(server.URL+"/to?url=/json")
	for last, want := range map[string]bool{"/none": true, "/json": false, "/to?url=/json": false} {
		var hops []string
		raw, err := json.Marshal(fetchURLArgs{URL: first})
		if err != nil {
			t.Fatal(err)
		}
		call := agent.Call{Arguments: raw, Follow: func(_ context.Context, from, to string) error {
			if hops = append(hops, to); from != first {
				t.Errorf("the call began at %s", from)
			}
			if to == server.URL+last {
				return errors.New("a rule denies it")
			}
			return nil
		}}
		result := fetch.Run(t.Context(), call, func(string) {})
		if result.IsError == want || result.IsError && !strings.Contains(result.Content.Plain(), "a rule denies it") {
			t.Errorf("denied at %s: %q", last, result.Content.Plain())
		}
		if !slices.Contains(hops, server.URL+"/to?url=/json") {
			t.Errorf("the way was %q", hops)
		}
	}
}
