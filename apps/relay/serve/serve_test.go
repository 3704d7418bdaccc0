package serve

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/testdb"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRunServesUntilTheContextEnds(t *testing.T) {
	l := listen(t)
	dir := filepath.Join(t.TempDir(), "new", "folder")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var logs bytes.Buffer
	go func() {
		ended <- Run(ctx, Options{Listener: l, DataDir: dir, Version: "v1", Logger: slog.New(slog.NewTextHandler(&logs, nil))})
	}()
	// The listener is there already, so the request waits for Serve.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get("http://" + l.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), "v1") {
		t.Fatalf("readyz: %d %s %v", resp.StatusCode, body, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Fatalf("Run: %v", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("data folder: %v, %v", info, err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Fatal("still listening")
	}
	if !strings.Contains(logs.String(), "relay is listening") {
		t.Fatalf("log: %s", logs.String())
	}
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("not a folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		opts Options
		want string
	}{
		"data folder is a file": {Options{DataDir: file}, "choose another with --store or --data-dir"},
		"bad store":             {Options{Store: "mysql://u:hunter2@host/db"}, "use postgres://"},
		"bad bus":               {Options{DataDir: t.TempDir(), Bus: "http://bus.example"}, "does not begin with nats://"},
		"bus out of reach":      {Options{Store: testdb.Postgres(t), Bus: "nats://127.0.0.1:1"}, "joining the bus"},
		"bus beside a file":     {Options{DataDir: t.TempDir(), Bus: "nats://127.0.0.1:1"}, "share one store"},
		"bad public URL":        {Options{DataDir: t.TempDir(), PublicURLs: []string{"relay.example"}}, `public URL "relay.example"`},
	} {
		tc.opts.Listener = listen(t)
		if err := Run(t.Context(), tc.opts); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := net.Dial("tcp", tc.opts.Listener.Addr().String()); err == nil {
			t.Errorf("%s: the listener was left open", name)
		}
	}
}

// lockedBuffer is a log that is read while it is written.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
