package serve

import (
	"bufio"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
)

// startLogged serves and returns the address, what asks for a reload, and what waits
// for a line of the log.
func startLogged(t *testing.T, opts Options) (addr string, reload chan<- os.Signal, await func(text string)) {
	t.Helper()
	asked := make(chan os.Signal, 1)
	r, w := io.Pipe()
	opts.Reload, opts.Logger = asked, slog.New(slog.NewTextHandler(w, nil))
	addr = start(t, opts)
	t.Cleanup(func() { _ = r.Close() }) // before the relay ends: its last lines are not read
	lines := bufio.NewScanner(r)
	await = func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("the log ended without %q", text)
	}
	await("relay is listening")
	return addr, asked, await
}

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestReloadReadsTheFilesAgain(t *testing.T) {
	list := write(t, "ids", device+"\n")
	_, reload, await := startLogged(t, Options{Guard: Guard{AllowFile: list}})
	for _, tc := range []struct{ text, want string }{
		{device + "\n" + client + "\n", "listed=2"},
		{"nobody\n", "is not an id"},
	} {
		rewrite(t, list, tc.text)
		reload <- os.Interrupt // whatever it is, it asks to read again
		await(tc.want)
	}
}

func TestReloadSaysWhatNeedsARestart(t *testing.T) {
	file := write(t, "relay.toml", "memory = \"64MiB\"\n")
	_, reload, await := startLogged(t, Options{Guard: Guard{ConfigFile: file}})
	for _, tc := range []struct{ text, want string }{
		{"memory = \"32MiB\"\nnodes = 3\n[limits]\nqueue = \"2MiB\"\nbytes = \"9MiB\"\nwrite_timeout = \"9s\"\n", "level=INFO msg=\"settings were reloaded\""},
		{"metrics_listen = \"127.0.0.1:1\"\n", `after a restart of the relay" keys=[metrics_listen]`},
		{"proxy_protocol = true\n", `after a restart of the relay" keys=[proxy_protocol]`},
		{"memory = \"1KiB\"\n", "memory is 1024 bytes"},
		{"nodes = -1\n", "nodes is -1"},
	} {
		rewrite(t, file, tc.text)
		reload <- os.Interrupt
		await(tc.want)
	}
}

// Whose PROXY headers are believed changes with the list of trusted proxies.
func TestReloadOfTrustedProxies(t *testing.T) {
	here, elsewhere := `trusted_proxies = ["127.0.0.1"]`, `trusted_proxies = ["10.0.0.0/8"]`
	file := write(t, "relay.toml", elsewhere)
	addr, reload, await := startLogged(t, Options{Guard: Guard{ConfigFile: file, ProxyProtocol: true}})
	status := func(first []byte) int {
		t.Helper()
		if resp := ask(t, addr, first, "/healthz", http.Header{}); resp != nil {
			return resp.StatusCode
		}
		return 0
	}
	header := proxyHeader(t, 1, "203.0.113.7")
	if plain, led := status(nil), status(header); plain != http.StatusOK || led != http.StatusBadRequest {
		t.Errorf("before: %d without a header and %d with one", plain, led)
	}
	for _, tc := range []struct{ text, want string }{
		{here, "settings were reloaded"},
		{"trusted_proxies = []", "--trusted-proxy"},
	} {
		rewrite(t, file, tc.text)
		reload <- os.Interrupt
		await(tc.want)
		if led := status(header); led != http.StatusOK && led != http.StatusMisdirectedRequest {
			t.Errorf("%s: %d with a header", tc.text, led)
		}
	}
}
