package host_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func noEnv(string) string { return "" }

// start runs a host on a fresh home without a relay, and ends it with the test.
func start(t *testing.T, cfg host.Config) *host.Host {
	t.Helper()
	if cfg.Home == "" {
		cfg.Home = t.TempDir()
	}
	if cfg.NoRelay = true; cfg.Getenv == nil {
		cfg.Getenv = noEnv
	}
	h, _ := hosttest.Run(t, cfg)
	return h
}

func dial(t *testing.T, h *host.Host, onEvent func(api.EventEnvelope)) *client.Client {
	t.Helper()
	transport, err := client.DialDirect(t.Context(), h.State().Addr, h.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(transport, onEvent)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func call[Request, Response any](t *testing.T, c *client.Client, to api.Definition[Request, Response], request Request) Response {
	t.Helper()
	response, err := client.Call(t.Context(), c, to, request)
	if err != nil {
		t.Fatalf("%s: %v", to.Name(), err)
	}
	return response
}

func wantKind(t *testing.T, err error, kind api.Kind) {
	t.Helper()
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != kind {
		t.Fatalf("got %v, want kind %s", err, kind)
	}
}

func TestProjectsAreCanonicalAndIdempotent(t *testing.T) {
	h := start(t, host.Config{})
	c := dial(t, h, nil)
	folder := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, path := range []string{folder, folder + "/", folder + "/../" + filepath.Base(folder), link} {
		added := call(t, c, api.AddProject, api.AddProjectRequest{Path: path})
		ids = append(ids, added.Project.ID)
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("one folder has several ids: %v", ids)
		}
	}
	if list := call(t, c, api.ListProjects, api.Empty{}); len(list.Projects) != 1 {
		t.Fatalf("projects: %+v", list.Projects)
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "relative", filepath.Join(folder, "none"), file, "/\x00", "/proc/self/cwd"} {
		_, err := client.Call(t.Context(), c, api.AddProject, api.AddProjectRequest{Path: bad})
		wantKind(t, err, api.KindInvalidPath)
	}
	_, err := client.Call(t.Context(), c, api.AddProject, api.AddProjectRequest{Path: strings.Repeat("/a", 3000)})
	wantKind(t, err, api.KindTooLarge)
}

func TestAProjectWithSessionsStays(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	c := dial(t, h, nil)
	project := call(t, c, api.ListProjects, api.Empty{}).Projects[0]
	call(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "k"})
	_, err := client.Call(t.Context(), c, api.RemoveProject, api.RemoveProjectRequest{ProjectID: project.ID})
	wantKind(t, err, api.KindProjectInUse)
	_, err = client.Call(t.Context(), c, api.RemoveProject, api.RemoveProjectRequest{ProjectID: "prj_none"})
	wantKind(t, err, api.KindNotFound)
}

func TestListDirShowsFolders(t *testing.T) {
	h := start(t, host.Config{})
	c := dial(t, h, nil)
	root := t.TempDir()
	for _, dir := range []string{"beta", "Alpha", ".hidden", "repo/.git"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	listing := call(t, c, api.ListDir, api.ListDirRequest{Path: root})
	var names []string
	for _, e := range listing.Entries {
		names = append(names, e.Name)
		if e.Hidden != strings.HasPrefix(e.Name, ".") || e.Git != (e.Name == "repo") {
			t.Errorf("marks of %+v", e)
		}
	}
	if got := strings.Join(names, " "); got != ".hidden Alpha beta repo" {
		t.Fatalf("folders: %s", got)
	}
	if listing.Parent != filepath.Dir(listing.Path) {
		t.Fatalf("parent is %q", listing.Parent)
	}
}

func TestBadRequests(t *testing.T) {
	h := start(t, host.Config{})
	transport, err := client.DialDirect(t.Context(), h.State().Addr, h.State().Token)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = transport.Close() })
	tests := []struct {
		send string
		kind api.Kind
	}{
		{`not json`, api.KindBadRequest},
		{`[]`, api.KindBadRequest},
		{`null`, api.KindBadRequest},
		{`{"type":"get_host"}`, api.KindBadRequest},
		{`{"type":"from_the_future","requestId":"1","x":1}`, api.KindUnknownRequest},
		{`{"type":"add_project","requestId":"2","path":7}`, api.KindBadRequest},
		{`{"type":"revoke_client","requestId":"3","clientId":"cli_short"}`, api.KindBadRequest},
		{`{"type":"resync_events","requestId":"4","sessionId":"../../x"}`, api.KindNotFound},
		{`{"type":"create_session","requestId":"5","projectId":"none","clientKey":"k"}`, api.KindNotFound},
		{`{"type":"send_prompt","requestId":"6","sessionId":"none","clientKey":"k","text":"x"}`, api.KindNotFound},
	}
	for _, test := range tests {
		if err := transport.Send(t.Context(), []byte(test.send)); err != nil {
			t.Fatal(err)
		}
		answer, err := transport.Receive(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		in, err := api.DecodeIncoming(answer)
		if err != nil || in.Type != api.TypeError || in.Kind != test.kind {
			t.Errorf("%s: answered %s", test.send, answer)
		}
	}
}

func TestDirectRefusesPagesAndStrangers(t *testing.T) {
	h := start(t, host.Config{})
	addr, token := h.State().Addr, h.State().Token
	tests := map[string]struct {
		header http.Header
		host   string
		want   int
	}{
		"no token":    {http.Header{}, "", http.StatusUnauthorized},
		"wrong token": {http.Header{"Authorization": {"Bearer x"}}, "", http.StatusUnauthorized},
		"web page":    {http.Header{"Authorization": {"Bearer " + token}, "Origin": {"http://" + addr}}, "", http.StatusForbidden},
		"rebinding":   {http.Header{"Authorization": {"Bearer " + token}}, "evil.example", http.StatusForbidden},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, response, err := websocket.Dial(t.Context(), "ws://"+addr+client.DirectPath, &websocket.DialOptions{HTTPHeader: test.header, Host: test.host})
			if err == nil || response == nil || response.StatusCode != test.want {
				t.Fatalf("got %v %v, want %d", response, err, test.want)
			}
		})
	}
}

func TestALiveHostIsNotReplacedUnasked(t *testing.T) {
	home := t.TempDir()
	first, err := host.New(t.Context(), host.Config{Home: home, Getenv: noEnv, NoRelay: true})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- first.Run(context.Background()) }()
	<-first.Ready()
	var live *host.LiveError
	if _, err := host.New(t.Context(), host.Config{Home: home, Getenv: noEnv, NoRelay: true}); !errors.As(err, &live) || live.PID != os.Getpid() {
		t.Fatalf("got %v, want a LiveError with the process", err)
	}
	second := start(t, host.Config{Home: home, Replace: true})
	if err := <-ended; err != nil {
		t.Fatalf("the replaced host ended with %v", err)
	}
	if first.DeviceID() != second.DeviceID() {
		t.Fatal("the identity changed")
	}
}

func TestAStaleStateFileIsCleanedUp(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(home, "run", "host.json")
	if err := os.WriteFile(stale, []byte(`{"pid":1,"addr":"127.0.0.1:1","token":"x","deviceId":""}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.ReadState(home); !errors.Is(err, host.ErrNoHost) {
		t.Fatalf("got %v, want ErrNoHost", err)
	}
	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the stale file is still there: %v", err)
	}
}

func TestStopHost(t *testing.T) {
	h, err := host.New(t.Context(), host.Config{Home: t.TempDir(), Getenv: noEnv, NoRelay: true})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Run(context.Background()) }()
	<-h.Ready()
	c := dial(t, h, nil)
	_, _ = client.Call(t.Context(), c, api.StopHost, api.Empty{}) // the answer may be lost in the end
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestPairingNeedsARelay(t *testing.T) {
	h := start(t, host.Config{})
	c := dial(t, h, nil)
	_, err := client.Call(t.Context(), c, api.CreatePairing, api.CreatePairingRequest{})
	wantKind(t, err, api.KindUnavailable)
	_, err = client.Call(t.Context(), c, api.RedeemPairing, api.RedeemPairingRequest{Code: "nonsense"})
	wantKind(t, err, api.KindPairing)
	_, err = client.Call(t.Context(), c, api.AwaitPairing, api.PairingRequest{PairingID: "none"})
	wantKind(t, err, api.KindNotFound)
}
