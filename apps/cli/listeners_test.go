package cli

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/relay/serve"
)

// served is an address that serves HTTP, as a browser and an attacker see it.
type served struct {
	at    string // host:port to dial
	host  string // its own name
	token string // of its API, if it has one
	good  []request
}

// listeners are all addresses at which any command serves HTTP, by the flags that name them.
// TestEveryListenerIsListed finds what is missing here.
var listeners = map[string]func(*testing.T) served{
	"scorel relay serve --listen":         serveRelay,
	"scorel relay serve --metrics-listen": serveMetrics,
	"scorel up --listen":                  serveUp,
	"scorel host serve":                   serveAPI,
	"scorel host serve, metrics_listen":   serveHostMetrics,
	"scorel host serve --listen loopback": func(t *testing.T) served {
		l := startListening(t)
		token := "Bearer " + l.host.State().Token
		return served{l.own, l.own, token, append(wireRequests(l.own, l.own), apiRequest(l.own, token))}
	},
	"scorel host serve --listen network": func(t *testing.T) served {
		l := startListening(t)
		return served{l.network, networkName, "Bearer " + l.host.State().Token, wireRequests(l.network, networkName)}
	},
}

// sources are the functions that open sockets, and the listeners above that they are behind.
var sources = map[string]string{
	"apps/cli/listen.go listen":                      "scorel relay serve, up and host serve --listen network",
	"apps/host/internal/listener/listener.go Listen": "scorel host serve, with and without --listen loopback",
	"apps/host/internal/observe/metrics.go Listen":   "scorel host serve, metrics_listen",
	"apps/host/internal/mcpauth/flow.go Begin":       "scorel mcp login, for ten minutes: TestSignInsGoNowhereElse",
	"apps/relay/serve/front.go serveMetrics":         "scorel relay serve --metrics-listen",
	"apps/relay/cmd/scorel-relay/main.go run":        "the relay's own command: as scorel relay serve",
	"packages/mdns/find.go Find":                     "datagrams: TestAnswersFromOutsideAreIgnored and others",
	"packages/mdns/announce.go Open":                 "datagrams: TestRepliesAreLimited",
}

// wireRequests are what programs and the page of an address may send to it.
func wireRequests(at, host string) []request {
	wire := request{to: at, method: "GET", path: "/v1/connect", host: host, upgrade: true}
	page := wire
	page.origin = "http://" + host
	return []request{wire, page, {to: at, method: "GET", path: "/healthz", host: host}}
}

func apiRequest(at, token string) request {
	return request{to: at, method: "POST", path: "/v1/get_host", host: at, token: token}
}

// openLocal listens on a free loopback port.
func openLocal(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// runServe runs a relay until the test ends.
func runServe(t *testing.T, start func(ready func() error) *part) {
	t.Helper()
	ready := make(chan struct{})
	p := start(func() error { close(ready); return nil })
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("the relay ended with %v", err)
		}
	})
	select {
	case <-ready:
	case <-p.done:
		t.Fatal(p.stop())
	}
}

func relayOptions(t *testing.T, l net.Listener, ready func() error) serve.Options {
	return serve.Options{
		Listener: l, DataDir: t.TempDir(), PublicURLs: []string{"http://" + l.Addr().String()}, Ready: ready,
		Web: webFiles(t.Output()), Logger: slog.New(slog.DiscardHandler), Drain: -1,
	}
}

func serveRelay(t *testing.T) served {
	l := openLocal(t)
	runServe(t, func(ready func() error) *part {
		options := relayOptions(t, l, ready)
		return startPart(t.Context(), func(ctx context.Context) error { return serve.Run(ctx, options) })
	})
	at := l.Addr().String()
	return served{at, at, "", append(wireRequests(at, at), request{to: at, method: "GET", path: "/metrics", host: at})}
}

func serveMetrics(t *testing.T) served {
	free := openLocal(t)
	at := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	l := openLocal(t)
	runServe(t, func(ready func() error) *part {
		options := relayOptions(t, l, ready)
		options.Guard.MetricsListen = at
		return startPart(t.Context(), func(ctx context.Context) error { return serve.Run(ctx, options) })
	})
	return served{at, at, "", []request{{to: at, method: "GET", path: "/metrics", host: at}}}
}

// serveUp is the relay of `scorel up`, without its host and browser.
func serveUp(t *testing.T) served {
	l := openLocal(t)
	at := l.Addr().String()
	up := &upServer{console: console{stderr: io.Discard}, flags: upFlags{log: &logFlags{level: "error", format: "text"}}, home: t.TempDir(), url: "http://" + at}
	p, err := up.relay(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.stop(); err != nil {
			t.Errorf("the relay ended with %v", err)
		}
	})
	return served{at, at, "", wireRequests(at, at)}
}

// serveAPI is a host without --listen: the API for programs and nothing else.
func serveAPI(t *testing.T) served {
	h := runHostOn(t, t.TempDir())
	at, token := h.State().Addr, "Bearer "+h.State().Token
	return served{at, at, token, []request{apiRequest(at, token), {to: at, method: "GET", path: "/v1/direct", host: at, token: token, upgrade: true}}}
}

func serveHostMetrics(t *testing.T) served {
	free := openLocal(t)
	at := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte("metrics_listen = \""+at+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	runHostOn(t, home)
	return served{at, at, "", []request{{to: at, method: "GET", path: "/metrics", host: at}}}
}

// runHostOn runs a host until the test ends.
func runHostOn(t *testing.T, home string) *host.Host {
	t.Helper()
	h, err := host.New(t.Context(), host.Config{Home: home, NoRelay: true, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	running := runHost(t.Context(), h)
	t.Cleanup(func() {
		if err := running.stop(); err != nil {
			t.Errorf("the host ended with %v", err)
		}
	})
	if err := running.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

// TestNoListenerServesOtherSites attacks every listener: requests across sites by fetch, form
// and WebSocket, and DNS rebinding. What its own page and programs send is answered.
func TestNoListenerServesOtherSites(t *testing.T) {
	for name, start := range listeners {
		t.Run(name, func(t *testing.T) {
			l := start(t)
			for _, r := range l.good {
				if status := r.status(t); status >= 400 {
					t.Errorf("%s %s of its own is answered with %d", r.method, r.path, status)
				}
			}
			for _, path := range servedPaths {
				attackAcross(t, l, path)
				attackRebound(t, l, path)
			}
		})
	}
}

// attackAcross sends what a page of another origin can send: with the token too, which no page
// has.
func attackAcross(t *testing.T, l served, path string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(l.host)
	for _, origin := range []string{"https://evil.example", "http://evil.example:" + port, "null", "http://127.0.0.1:1"} {
		for kind, r := range map[string]request{
			"fetch":     {method: "GET", token: l.token},
			"preflight": {method: "OPTIONS", header: "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization\r\nAccess-Control-Request-Private-Network: true\r\n"},
			"post":      {method: "POST", token: l.token, header: "Content-Type: application/json\r\n", body: "{}"},
			"form":      {method: "POST", token: l.token, header: "Content-Type: application/x-www-form-urlencoded\r\n", body: "a=b"},
			"text form": {method: "POST", token: l.token, header: "Content-Type: text/plain\r\n", body: "{}"},
			"file form": {method: "POST", token: l.token, header: "Content-Type: multipart/form-data; boundary=x\r\n", body: "--x--\r\n"},
			"websocket": {method: "GET", token: l.token, upgrade: true},
		} {
			r.to, r.host, r.path, r.origin = l.at, l.host, path, origin
			answer := r.send(t)
			var wrong string
			switch {
			case answer.StatusCode == 101:
				wrong = "a WebSocket was opened"
			case answer.Header.Get("Access-Control-Allow-Origin") != "", answer.Header.Get("Access-Control-Allow-Private-Network") != "":
				wrong = "the page may read the answer"
			case r.method != "GET" && answer.StatusCode < 400:
				wrong = "it was accepted"
			case strings.HasPrefix(path, "/v1/") && path != "/v1/openapi.json" && answer.StatusCode < 400:
				wrong = "the API or the wire answered"
			}
			if wrong != "" {
				t.Errorf("%s %s from %s: %s (%d)", kind, path, origin, wrong, answer.StatusCode)
			}
		}
	}
}

// attackRebound sends what a page can send whose name resolves to the listener's address by now:
// it is of the same origin, so that it can read every answer.
func attackRebound(t *testing.T, l served, path string) {
	t.Helper()
	_, port, _ := net.SplitHostPort(l.host)
	for _, name := range []string{"evil.example:" + port, "evil.example", "127.0.0.1.evil.example:" + port, "localhost.evil.example:" + port} {
		for _, r := range []request{
			{method: "GET"}, {method: "GET", origin: "http://" + name}, {method: "POST", origin: "http://" + name, body: "{}"},
			{method: "GET", origin: "http://" + name, upgrade: true}, {method: "GET", upgrade: true},
		} {
			r.to, r.host, r.path, r.token = l.at, name, path, l.token
			if status := r.status(t); status < 400 {
				t.Errorf("%s %s for %s (origin %q, upgrade %v) is answered with %d", r.method, path, name, r.origin, r.upgrade, status)
			}
		}
	}
}

// TestEveryListenerIsListed: a flag that names an address, and a function that opens a socket,
// have a place in the tables above.
func TestEveryListenerIsListed(t *testing.T) {
	var flags func(cmd *cobra.Command)
	flags = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := cmd.CommandPath() + " --" + f.Name
			if role, ok := strings.CutPrefix(cmd.CommandPath(), "scorel service install "); ok { // it runs that command
				name = "scorel " + role + " serve --" + f.Name
			}
			if f.Name != "listen" && !strings.HasSuffix(f.Name, "-listen") {
				return
			}
			for listed := range listeners {
				if strings.HasPrefix(listed, name) {
					return
				}
			}
			t.Errorf("%s is in no test of listeners: add it to the table", name)
		})
		for _, sub := range cmd.Commands() {
			flags(sub)
		}
	}
	flags(newRoot(&app{console: console{strings.NewReader(""), io.Discard, io.Discard}, env: &environment{getenv: func(string) string { return "" }}}))
	found := opensSockets(t)
	for _, where := range found {
		if sources[where] == "" {
			t.Errorf("%s opens a socket that is in no test of listeners: add it to the tables", where)
		}
	}
	for where := range sources {
		if !slices.Contains(found, where) {
			t.Errorf("%s opens no socket: remove it from the table", where)
		}
	}
}

// opensSockets returns the functions of the program that listen.
func opensSockets(t *testing.T) (found []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	for _, dir := range []string{"apps/cli", "apps/host", "apps/relay", "packages"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() && (strings.HasSuffix(entry.Name(), "test") || entry.Name() == "testdata" || entry.Name() == "testdb" || entry.Name() == "node_modules" || entry.Name() == "proxy") {
				return filepath.SkipDir // parts of tests
			}
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				name, err := filepath.Rel(root, path)
				if err != nil {
					return err
				}
				found = append(found, listensIn(t, path, filepath.ToSlash(name))...)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func listensIn(t *testing.T, path, name string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !strings.HasPrefix(selector.Sel.Name, "Listen") {
				return true
			}
			if of, named := selector.X.(*ast.Ident); named && selector.Sel.Name == "Listen" && of.Name != "net" && of.Name != "tls" {
				return true // not a socket
			}
			if where := name + " " + function.Name.Name; !slices.Contains(found, where) {
				found = append(found, where)
			}
			return true
		})
	}
	return found
}
