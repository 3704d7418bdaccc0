package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/relay"
)

func TestReloadChangesNamesAndKeepsThemWhenTheNewAreBad(t *testing.T) {
	l, reload := listen(t), make(chan os.Signal)
	var next atomic.Pointer[func() (relay.Settings, error)]
	read := func() (relay.Settings, error) { return (*next.Load())() }
	var logs lockedBuffer
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Listener: l, DataDir: t.TempDir(), PublicURLs: []string{"https://old.example"}, Reload: reload, Settings: read,
			Logger: slog.New(slog.NewTextHandler(&logs, nil)),
		})
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	status := func(host string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/healthz", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	// The second of two requests is only taken when the first is done.
	ask := func(settings relay.Settings, err error) {
		do := func() (relay.Settings, error) { return settings, err }
		next.Store(&do)
		reload <- syscall.SIGHUP
		reload <- syscall.SIGHUP
	}
	if status("old.example") != 200 || status("new.example") != 421 {
		t.Fatal("the first settings do not hold")
	}
	ask(relay.Settings{PublicURLs: []string{"https://new.example"}}, nil)
	if status("old.example") != 421 || status("new.example") != 200 {
		t.Fatal("the new settings do not hold")
	}
	ask(relay.Settings{PublicURLs: []string{"third.example"}}, nil)
	ask(relay.Settings{PublicURLs: []string{"https://third.example"}}, errors.New("relay.toml:3: no such key"))
	if status("third.example") != 421 || status("new.example") != 200 {
		t.Fatal("bad settings were taken")
	}
	for _, want := range []string{"settings were reloaded", "the old ones stay", `public URL \"third.example\"`, "relay.toml:3"} {
		if !strings.Contains(logs.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, logs.String())
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestReadyIsNotCalledBeforeAllIsFine(t *testing.T) {
	never := func() error { t.Error("ready although something is wrong"); return nil }
	for name, opts := range map[string]Options{
		"no such certificate": {DataDir: t.TempDir(), TLS: TLS{CertFile: "nowhere.pem", KeyFile: "nowhere.pem"}},
		"no store":            {Store: "postgres://u:p@127.0.0.1:1/relay"},
		"bad name":            {DataDir: t.TempDir(), PublicURLs: []string{"relay.example"}},
	} {
		opts.Listener, opts.Ready = listen(t), never
		if err := Run(t.Context(), opts); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	gone := errors.New("no reader")
	if err := Run(t.Context(), Options{Listener: listen(t), DataDir: t.TempDir(), Ready: func() error { return gone }}); !errors.Is(err, gone) {
		t.Errorf("a ready line without a reader: %v", err)
	}
}

func TestReloadTakesTheNamesOfTheFileUnlessFlagsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "relay.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`public_urls = ["https://a.example"]
trusted_proxies = ["10.0.0.0/8", "192.0.2.7"]`)
	for _, flags := range [][]string{nil, {"https://flag.example"}} {
		opts := Options{PublicURLs: flags, Guard: Guard{ConfigFile: path}}
		got, err := opts.readAgain(guarded{})
		if err != nil {
			t.Fatal(err)
		}
		want := flags
		if want == nil {
			want = []string{"https://a.example"}
		}
		if !slices.Equal(got.PublicURLs, want) {
			t.Errorf("public URLs %v, want %v", got.PublicURLs, want)
		}
		if text := fmt.Sprint(got.TrustedProxies); text != "[10.0.0.0/8 192.0.2.7/32]" {
			t.Errorf("trusted proxies %s", text)
		}
	}
	write("nodes = 1\ntrusted_proxies = [\"proxy\"]")
	if _, err := (Options{Guard: Guard{ConfigFile: path}}).readAgain(guarded{}); err == nil || !strings.Contains(err.Error(), `:2: "proxy" is not an address or network`) {
		t.Errorf("a bad proxy: %v", err)
	}
}
