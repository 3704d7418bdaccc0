package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/netip"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/relay/serve"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestFlags(t *testing.T) {
	var opts serve.Options
	var stderr bytes.Buffer
	address, err := parse([]string{
		"-listen", "0.0.0.0:1", "-data-dir", "d", "-public-url", "https://a", "-public-url", "https://b",
		"-allowed-origin", "https://c", "-trusted-proxy", "10.0.0.0/8", "-trusted-proxy", "::1",
	}, &opts, &stderr)
	if err != nil || address != "0.0.0.0:1" || opts.DataDir != "d" || strings.Join(opts.PublicURLs, " ") != "https://a https://b" ||
		strings.Join(opts.AllowedOrigins, " ") != "https://c" || len(opts.TrustedProxies) != 2 ||
		opts.TrustedProxies[1] != netip.MustParsePrefix("::1/128") {
		t.Fatalf("%q %+v %v %s", address, opts, err, stderr.String())
	}
}

func TestUsage(t *testing.T) {
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"-help"}, 0, "-public-url"},
		{[]string{"-nonsense"}, exitUsage, "nonsense"},
		{[]string{"extra"}, exitUsage, "extra"},
		{[]string{"-listen", "127.0.0.1:0", "-store", "mysql://box"}, exitFailed, "postgres://"},
		{[]string{"-tls-cert", "cert.pem"}, exitUsage, "-tls-key"},
		{[]string{"-drain", "soon"}, exitUsage, "drain"},
		{[]string{"-drain", "2h"}, exitUsage, "between 0s and 1h"},
		{[]string{"-trusted-proxy", "everyone"}, exitUsage, "everyone"},
		{[]string{"-listen", "127.0.0.1:notaport"}, exitFailed, "-listen"},
	} {
		var stderr bytes.Buffer
		if code := run(t.Context(), tc.args, &stderr, nil); code != tc.code || !strings.Contains(stderr.String(), tc.want) {
			t.Errorf("%v: code %d, said %q", tc.args, code, stderr.String())
		}
	}
}

func TestServesAndStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"-listen", "127.0.0.1:0", "-data-dir", t.TempDir()}, w, nil)
		w.Close()
	}()
	var match []string
	lines := bufio.NewScanner(r)
	for match == nil && lines.Scan() {
		match = regexp.MustCompile(`address=(\S+)`).FindStringSubmatch(lines.Text())
	}
	if match == nil {
		t.Fatal("the log ended without an address")
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, r) // ends with the pipe
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + match[1] + "/healthz")
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("healthz: %v %v", resp, err)
	}
	resp.Body.Close()
	cancel()
	if got := <-code; got != 0 {
		t.Fatalf("exit code %d", got)
	}
	<-drained
}

// The tests of the bus run a NATS server of their own; the program must not.
func TestNoServerOfTheBusIsLinked(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := string(out)
	if !strings.Contains(deps, "github.com/nats-io/nats.go") || strings.Contains(deps, "nats-server") {
		t.Fatal("want the client of NATS and not its server")
	}
}
