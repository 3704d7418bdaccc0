package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	proxyproto "github.com/pires/go-proxyproto"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	device = "dev_bkbx2paelgvjb5gmvc5vqnxvjxpjnk7n"
	client = "cli_bkbx2paelgvjb5gmvc5vqnxvjxpjnk7n"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigFile(t *testing.T) {
	path := write(t, "relay.toml", `
admission = "invite"
memory = "256MiB"
nodes = 3
proxy_protocol = true
metrics_listen = "127.0.0.1:9090"
[limits]
connections = 7
channel_queue = "2MiB"
pair_timeout = "5m"
pairs = { burst = 9, every = "2s" }
bytes_per_connection = "1.5MiB"
bytes_per_identity = 0
`)
	got, err := Guard{ConfigFile: path}.load()
	if err != nil {
		t.Fatal(err)
	}
	l := got.limits
	if got.admission.Mode != relay.AdmitByInvite || l.Memory != 256<<20 || got.nodes != 3 || !got.proxyProtocol || got.metricsListen != "127.0.0.1:9090" ||
		l.Connections != 7 || l.ChannelQueue != 2<<20 || l.PairTimeout != 5*time.Minute || l.AllPairs != (relay.Rate{Burst: 9, Every: 2 * time.Second}) ||
		l.Bytes != (relay.ByteRates{Connection: 3 << 19}) {
		t.Errorf("got %+v", got)
	}
	// Flags beat the file, admission as a whole.
	got, err = Guard{ConfigFile: path, Allow: []string{device}, Memory: "1GiB", Nodes: 5}.load()
	if err != nil || got.admission.Mode != relay.AdmitListed || len(got.admission.Allow) != 1 || got.limits.Memory != 1<<30 || got.nodes != 5 {
		t.Errorf("with flags: %+v, %v", got, err)
	}
	got, err = Guard{}.load()
	if err != nil || got.admission.Mode != "" || got.limits.Memory < memoryLeast || got.limits.Bytes != (relay.ByteRates{Identity: identityBytes}) {
		t.Errorf("without anything: %+v, %v", got, err)
	}
}

func TestGuardSaysWhatIsWrong(t *testing.T) {
	list := write(t, "ids", "# people\n"+device+" # home\n\nsomebody\n")
	for name, tc := range map[string]struct {
		text  string // of a file; "" is none
		guard Guard
		want  string
	}{
		"unknown key":       {"nodes = 1\nadmision = \"open\"\n", Guard{}, `relay.toml:2: unknown key "admision"`},
		"unknown limit":     {"[limits]\n\nlogin = 3\n", Guard{}, `relay.toml:3: unknown key "limits.login"`},
		"wrong type":        {"\nnodes = \"three\"\n", Guard{}, "relay.toml:2: "},
		"no time":           {"[limits]\npair_timeout = \"soon\"\n", Guard{}, `relay.toml:2: "soon" is not a duration`},
		"no size":           {"memory = \"much\"\n", Guard{}, `"much" is not a size`},
		"no TOML":           {"admission: open\n", Guard{}, "relay.toml:1: "},
		"no file":           {"", Guard{ConfigFile: "/nowhere/relay.toml"}, "/nowhere/relay.toml cannot be read"},
		"unknown admission": {"", Guard{Admission: "closed"}, "use open, invite or allow-list"},
		"list and open":     {"", Guard{Admission: "open", Allow: []string{device}}, "set it to allow-list"},
		"no id":             {"", Guard{Allow: []string{"me"}}, `"me" in the allow-list is not an id`},
		"no id in a list":   {"", Guard{AllowFile: list}, `ids:4: "somebody" is not an id`},
		"no list":           {"", Guard{AllowFile: "/nowhere/ids"}, "/nowhere/ids cannot be read"},
		"memory by flag":    {"", Guard{Memory: "-1"}, "is not a size"},
		"nodes":             {"", Guard{Nodes: -1}, "nodes is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.text != "" {
				tc.guard.ConfigFile = write(t, "relay.toml", tc.text)
			}
			if _, err := Prepare(Options{Guard: tc.guard}); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	got, err := Guard{AllowFile: write(t, "ids", device+"\n"+client+" # phone\n"), Allow: []string{device}}.load()
	if err != nil || got.admission.Mode != relay.AdmitListed || len(got.admission.Allow) != 3 {
		t.Errorf("a list and a flag: %+v, %v", got.admission, err)
	}
}

func TestHalfOfTheMemory(t *testing.T) {
	const meminfo = "MemTotal:        8000000 kB\nMemFree:  1 kB\n"
	for _, tc := range []struct {
		meminfo, container string
		want               int64
	}{
		{meminfo, "", 4_000_000 << 10},
		{meminfo, "max\n", 4_000_000 << 10},
		{meminfo, "1073741824\n", 512 << 20},
		{meminfo, "1048576\n", memoryLeast},
		{"", "", memoryWithoutWord},
		{"MemTotal: lots\n", "", memoryWithoutWord},
	} {
		if got := shareOf([]byte(tc.meminfo), []byte(tc.container)); got != tc.want {
			t.Errorf("%q, %q: %d, want %d", tc.meminfo, tc.container, got, tc.want)
		}
	}
}

// start runs a relay and returns its address. It ends with the test.
func start(t *testing.T, opts Options) string {
	t.Helper()
	l := listen(t)
	opts.Listener, opts.DataDir = l, t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, opts) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
	return l.Addr().String()
}

// ask sends bytes and a request behind them, and returns the response and its
// connection, which ends with the test. nil is a connection that was closed.
func ask(t *testing.T, addr string, first []byte, path string, header http.Header) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	req, err := http.NewRequest(http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	if _, err := conn.Write(first); err != nil {
		t.Fatal(err)
	}
	_ = req.Write(conn) // the other side may have closed; then there is no answer
	answer := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answer, req)
	if err != nil {
		return nil
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		_, _ = answer.Peek(1) // the greeting: from then on the connection counts
	}
	return resp
}

func upgrade() http.Header {
	return http.Header{
		"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"},
		"Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="}, "Sec-Websocket-Protocol": {wire.Subprotocol},
	}
}

func proxyHeader(t *testing.T, version byte, client string) []byte {
	t.Helper()
	to := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443}
	data, err := proxyproto.HeaderProxyFromAddrs(version, &net.TCPAddr{IP: net.ParseIP(client), Port: 5000}, to).Format()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestProxyProtocolNamesTheClient(t *testing.T) {
	guard := Guard{ProxyProtocol: true, ConfigFile: write(t, "relay.toml", "[limits]\nconnections_per_address = 1\n")}
	addr := start(t, Options{Guard: guard, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	for _, tc := range []struct {
		name  string
		first []byte
		want  int // 0 is a closed connection
	}{
		{"version 1", proxyHeader(t, 1, "203.0.113.7"), 101},
		{"the same client", proxyHeader(t, 2, "203.0.113.7"), 503},
		{"another, version 2", proxyHeader(t, 2, "203.0.113.8"), 101},
		{"no header", nil, 0},
		{"a broken header", []byte("PROXY TCP4 somewhere\r\n"), 0},
	} {
		got := 0
		if resp := ask(t, addr, tc.first, wire.ConnectPath, upgrade()); resp != nil {
			got = resp.StatusCode
		}
		if got != tc.want && !(tc.want == 0 && got == http.StatusBadRequest) {
			t.Errorf("%s: status %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestProxyHeadersOfStrangersAreNotRead(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	addr := start(t, Options{Guard: Guard{ProxyProtocol: true}, TrustedProxies: trusted})
	if resp := ask(t, addr, proxyHeader(t, 1, "203.0.113.7"), "/healthz", http.Header{}); resp == nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a stranger's header: %v", resp)
	}
	if resp := ask(t, addr, nil, "/healthz", http.Header{}); resp == nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a stranger without one: %v", resp)
	}
	err := Run(t.Context(), Options{Listener: listen(t), DataDir: t.TempDir(), Guard: Guard{ProxyProtocol: true}})
	if err == nil || !strings.Contains(err.Error(), "--trusted-proxy") {
		t.Errorf("without trusted proxies: %v", err)
	}
}

func TestMetricsAreForThisMachine(t *testing.T) {
	addr := start(t, Options{})
	status := func(header http.Header) int { return ask(t, addr, nil, "/metrics", header).StatusCode }
	if got := status(http.Header{}); got != http.StatusOK {
		t.Errorf("from here: %d", got)
	}
	for _, name := range []string{"X-Forwarded-For", "Forwarded", "Via"} {
		if got := status(http.Header{name: {"for another"}}); got != http.StatusNotFound {
			t.Errorf("passed on with %s: %d, want 404", name, got)
		}
	}
	for remote, want := range map[string]bool{"127.0.0.1:1": true, "[::1]:1": true, "[::ffff:127.0.0.1]:1": true, "192.0.2.1:1": false, "": false} {
		req := &http.Request{RemoteAddr: remote, Host: "localhost"}
		if got := fromHere(req); got != want {
			t.Errorf("from %q: %v", remote, got)
		}
	}
	if fromHere(&http.Request{RemoteAddr: "127.0.0.1:1", Host: "relay.example"}) {
		t.Error("a proxy that passes the host on counts as this machine")
	}
}

func TestMetricsOnAnAddressOfTheirOwn(t *testing.T) {
	own := listen(t)
	_ = own.Close() // its port is free now
	addr := start(t, Options{Guard: Guard{MetricsListen: own.Addr().String()}})
	resp := ask(t, addr, nil, "/metrics", http.Header{}) // answered once all is up
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("on the relay's address: %d", resp.StatusCode)
	}
	resp = ask(t, own.Addr().String(), nil, "/metrics", http.Header{})
	if resp == nil {
		t.Fatal("no answer")
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), "scorel_relay_memory_limit_bytes") {
		t.Errorf("metrics: %v, %d bytes", err, len(body))
	}
	if resp := ask(t, own.Addr().String(), nil, "/healthz", http.Header{}); resp == nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("anything else: %v", resp)
	}
	err = Run(t.Context(), Options{Listener: listen(t), DataDir: t.TempDir(), Guard: Guard{MetricsListen: addr}})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("listening for metrics on %s", addr)) {
		t.Errorf("a port in use: %v", err)
	}
}

// TestFilesAreReadOnce: what was checked is what is served, whatever becomes of the
// file in between.
func TestFilesAreReadOnce(t *testing.T) {
	path := write(t, "relay.toml", `public_urls = ["https://a.example"]
admission = "invite"`)
	plan, err := Prepare(Options{DataDir: t.TempDir(), Guard: Guard{ConfigFile: path}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("this is no TOML"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := plan.PublicURLs(); len(got) != 1 || got[0] != "https://a.example" {
		t.Errorf("public URLs %v", got)
	}
	gone := errors.New("it was ready")
	if err := plan.Run(t.Context(), listen(t), func() error { return gone }); !errors.Is(err, gone) {
		t.Errorf("it read the file again: %v", err)
	}
}
