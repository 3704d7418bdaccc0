package relayconn

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// dialVariable makes the test binary dial the relay that it names and end: the
// environment is read once in a process.
const dialVariable = "SCOREL_TEST_DIAL"

func TestMain(m *testing.M) {
	if url := os.Getenv(dialVariable); url != "" {
		fmt.Println(dialOnce(url))
		os.Exit(0)
	}
	leakcheck.Main(m)
}

func dialOnce(url string) string {
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		return err.Error()
	}
	conn, err := Dial(context.Background(), Config{RelayURL: url, Keys: keys, Label: "test"})
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	return "logged in as " + string(conn.Welcome().ID.Kind())
}

// startRelay is a TLS server for example.com and 127.0.0.1 that lets everybody in.
// It returns its port and a file with its certificate.
func startRelay(t *testing.T) (port, roots string) {
	t.Helper()
	server := httptest.NewTLSServer(relayThat(t, func(ctx context.Context, ws *websocket.Conn) {
		_, _, _ = ws.Read(ctx) // until it hangs up
	}))
	t.Cleanup(server.Close)
	roots = filepath.Join(t.TempDir(), "roots.pem")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(roots, cert, 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port, roots
}

func letIn(ctx context.Context, ws *websocket.Conn) error {
	say := func(f wire.Frame) error {
		data, err := wire.EncodeControl(f)
		if err != nil {
			return err
		}
		return ws.Write(ctx, websocket.MessageText, data)
	}
	if err := say(&wire.RelayHello{Version: wire.Version, Nonce: make([]byte, wire.NonceLen), Limits: wire.DefaultLimits()}); err != nil {
		return err
	}
	_, data, err := ws.Read(ctx)
	if err != nil {
		return err
	}
	frame, err := wire.DecodeControl(data, wire.MaxPreLogin)
	if err != nil {
		return err
	}
	hello, ok := frame.(*wire.EntryHello)
	if !ok || !hello.Verify(make([]byte, wire.NonceLen)) {
		return fmt.Errorf("bad hello %+v", frame)
	}
	return say(&wire.Welcome{ID: hello.ID, Peers: []wire.Peer{}})
}

// connectProxy is a proxy that wants user "me" and password "hunter2" and reaches
// whatever name at 127.0.0.1, but for one that it forbids.
type connectProxy struct {
	server *httptest.Server

	mu  sync.Mutex
	saw []string // method and target of each request
}

func startProxy(t *testing.T) *connectProxy {
	t.Helper()
	p := new(connectProxy)
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

// url is the proxy's with the given user and password.
func (p *connectProxy) url(login string) string {
	return "http://" + login + strings.TrimPrefix(p.server.URL, "http://")
}

func (p *connectProxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.saw
}

func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.saw = append(p.saw, r.Method+" "+r.Host)
	p.mu.Unlock()
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:hunter2"))
	switch {
	case r.Header.Get("Proxy-Authorization") != want:
		w.Header().Set("Proxy-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
	case r.Method != http.MethodConnect || strings.HasPrefix(r.Host, "forbidden."):
		w.WriteHeader(http.StatusForbidden)
	default:
		p.tunnel(w, r)
	}
}

func (p *connectProxy) tunnel(w http.ResponseWriter, r *http.Request) {
	_, port, _ := net.SplitHostPort(r.Host)
	far, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer far.Close()
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer near.Close()
	if _, err := io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { _, _ = io.Copy(far, near); _ = far.Close() }) // ends with either side
	_, _ = io.Copy(near, far)
	_ = near.Close()
	both.Wait()
}

// dialElsewhere dials in a process with that environment and returns what came of it.
func dialElsewhere(t *testing.T, url string, environment ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append([]string{dialVariable + "=" + url, "GORACE=atexit_sleep_ms=0"}, environment...) // the race detector lingers, else
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestDialsThroughTheProxyOfTheEnvironment(t *testing.T) {
	port, roots := startRelay(t)
	p := startProxy(t)
	got := dialElsewhere(t, "https://example.com:"+port, "SSL_CERT_FILE="+roots, "HTTPS_PROXY="+p.url("me:hunter2@"))
	if got != "logged in as "+string(ident.KindClient) || len(p.requests()) != 1 || p.requests()[0] != "CONNECT example.com:"+port {
		t.Fatalf("%s; the proxy saw %q", got, p.requests())
	}
	if got := dialElsewhere(t, "https://127.0.0.1:"+port, "SSL_CERT_FILE="+roots, "HTTPS_PROXY="+p.url("")); !strings.HasPrefix(got, "logged in") {
		t.Errorf("this machine itself: %s", got)
	}
	if got := dialElsewhere(t, "https://relay.invalid", "NO_PROXY=relay.invalid", "HTTPS_PROXY="+p.url("me:hunter2@")); strings.Contains(got, "proxy") || !strings.Contains(got, "relay.invalid") {
		t.Errorf("a relay in NO_PROXY: %s", got)
	}
	if len(p.requests()) != 1 {
		t.Errorf("the proxy saw %q", p.requests())
	}
}

func TestSaysWhatAProxyRefuses(t *testing.T) {
	port, roots := startRelay(t)
	p := startProxy(t)
	name := p.url("")
	for want, tc := range map[string]struct{ url, proxy string }{
		"the proxy " + name + " requires a user and password: put them into HTTPS_PROXY":                                                         {"https://example.com:" + port, p.url("")},
		"the proxy " + name + " rejected the user and password in HTTPS_PROXY":                                                                   {"https://example.com:" + port, p.url("me:swordfish@")},
		"the proxy " + name + ` does not let this program reach forbidden.example:443 (it answered "403 Forbidden"): ask its operator`:           {"https://forbidden.example", p.url("me:hunter2@")},
		"the proxy " + name + ` does not let this program reach example.com:1 (it answered "502 Bad Gateway"): ask its operator`:                 {"https://example.com:1", p.url("me:hunter2@")},
		"the server at http://127.0.0.1:1 does not behave like a proxy: is HTTPS_PROXY correct?":                                                 {"https://example.com", "http://me:hunter2@127.0.0.1:1"},
		"https://other.test:" + port + " (through the proxy " + name + "): is it running, and is the URL right? (x509: certificate is valid for": {"https://other.test:" + port, p.url("me:hunter2@")},
	} {
		got := dialElsewhere(t, tc.url, "SSL_CERT_FILE="+roots, "HTTPS_PROXY="+tc.proxy)
		if !strings.HasPrefix(got, ErrUnreachable.Error()) || !strings.Contains(got, want) {
			t.Errorf("%s: want %q", got, want)
		}
		if strings.Contains(got, "hunter2") || strings.Contains(got, "swordfish") {
			t.Errorf("%s: that holds the password", got)
		}
	}
}

func TestProxyOfPlainHTTPThatWantsAPassword(t *testing.T) {
	p := startProxy(t)
	got := dialElsewhere(t, "http://relay.example", "HTTP_PROXY="+p.url(""))
	if !strings.Contains(got, "the proxy "+p.url("")+" requires a user and password") {
		t.Fatal(got)
	}
}

func TestBusyRelaySaysWhenToComeBack(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer server.Close()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Dial(t.Context(), Config{RelayURL: server.URL, Keys: keys, Label: "test"})
	var busy *BusyError
	if !errors.As(err, &busy) || !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "try again later") {
		t.Fatal(err)
	}
	for range 50 {
		if pause := pauseAfter(err, time.Second, false); pause < 7*time.Second || pause > 14*time.Second {
			t.Fatalf("waits %s", pause)
		}
	}
}
