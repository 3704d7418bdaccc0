package host_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// vendorFiles are the files with logins that agents keep in the home of their user.
var vendorFiles = []string{
	".claude/.credentials.json", ".claude.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".gemini/.env",
	".gemini/google_accounts.json", ".local/share/opencode/auth.json", ".local/share/opencode/mcp-auth.json", ".pi/agent/auth.json",
}

// secretVariables are keys of vendors and of scorel's own providers in the host's environment.
var secretVariables = []string{
	"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "OPENAI_API_KEY", "CODEX_API_KEY", "GEMINI_API_KEY",
	"GOOGLE_API_KEY", "OPENROUTER_API_KEY", "GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "SCOREL_TOKEN", "SCOREL_PASSPHRASE", "MY_PROVIDER_KEY",
}

const planted = "planted-token-"

// TestVendorTokensStay plants tokens of vendors in the home of the user and in the environment,
// and does everything with backends and conversations of other agents. The host opens none of the
// files, and no token is in a log, a file, an answer or an event. What it has of keys does not
// reach the agent.
func TestVendorTokensStay(t *testing.T) {
	home, folder, scorel := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.CopyFS(home, os.DirFS("internal/transcripts/testdata/home")); err != nil {
		t.Fatal(err)
	}
	opened := watchVendorFiles(t, home)
	t.Setenv("HOME", home)
	for _, name := range secretVariables {
		t.Setenv(name, planted+name)
	}
	config := hosttest.FakeBackend(os.Args[0], "--home="+t.TempDir())
	if err := os.WriteFile(filepath.Join(scorel, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	out := &record{}
	h := start(t, host.Config{Home: scorel, Projects: []string{folder}, Logger: slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	ended := make(chan api.TurnEnded, 8)
	c := dial(t, h, func(e api.EventEnvelope) {
		out.add(e)
		if end, ok := e.Event.(api.TurnEnded); ok {
			ended <- end
		}
	})
	project := call(t, c, api.ListProjects, api.Empty{}).Projects[0]
	recorded(t, out, c, api.ListBackends, api.Empty{})
	if tested := recorded(t, out, c, api.TestBackend, api.TestBackendRequest{Name: "fake"}); tested.Problem != "" {
		t.Fatalf("%+v", tested)
	}
	imported := 0
	for _, from := range []string{"claude", "codex", "gemini", "opencode"} {
		for _, transcript := range recorded(t, out, c, api.ListTranscripts, api.ListTranscriptsRequest{From: from}).Transcripts {
			recorded(t, out, c, api.ImportTranscript, api.ImportTranscriptRequest{From: from, ID: transcript.ID, ProjectID: project.ID})
			imported++
		}
	}
	if imported < 3 {
		t.Errorf("only %d conversations were imported", imported)
	}
	session := recorded(t, out, c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "k", Backend: "fake", Mode: api.ModeBypass}).Session.ID
	recorded(t, out, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: session})
	for i, text := range []string{"environ", "call c1 execute make\nask c1\nerror it failed"} {
		recorded(t, out, c, api.SendPrompt, api.SendPromptRequest{SessionID: session, ClientKey: fmt.Sprint("p", i), Text: text})
		<-ended
	}
	entries := recorded(t, out, c, api.GetEntries, api.GetEntriesRequest{SessionID: session})
	if raw, err := json.Marshal(entries); err != nil || !bytes.Contains(raw, []byte("HOME="+home)) {
		t.Errorf("the agent does not say its environment (%v): %.2000s", err, raw)
	}

	if names := opened(); len(names) > 0 {
		t.Errorf("the host opened %q", names)
	}
	out.mu.Lock()
	defer out.mu.Unlock()
	if i := bytes.Index(out.data.Bytes(), []byte(planted)); i >= 0 {
		t.Errorf("a token was logged or sent: ...%.200s", out.data.Bytes()[max(0, i-100):])
	}
	for _, root := range []string{scorel, folder} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			data, err := os.ReadFile(path)
			if bytes.Contains(data, []byte(planted)) {
				t.Errorf("a token is in %s", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// recorded is call that keeps the response.
func recorded[Request, Response any](t *testing.T, out *record, c *client.Client, to api.Definition[Request, Response], request Request) Response {
	t.Helper()
	response := call(t, c, to, request)
	out.add(response)
	return response
}

// record is everything that the host says.
type record struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (r *record) Write(data []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.data.Write(data)
}

func (r *record) add(value any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = json.NewEncoder(&r.data).Encode(value) // what cannot be encoded is not sent either
}

// watchVendorFiles plants tokens in a home. opened returns the files that were opened since.
func watchVendorFiles(t *testing.T, home string) (opened func() []string) {
	t.Helper()
	queue, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(queue) })
	names := map[int32]string{}
	watch := func(name string) {
		path := filepath.Join(home, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(`{"access_token":"`+planted+name+`"}`), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := syscall.InotifyAddWatch(queue, path, syscall.IN_OPEN)
		if err != nil {
			t.Fatal(err)
		}
		names[int32(id)] = name
	}
	const control = "control"
	for _, name := range append([]string{control}, vendorFiles...) {
		watch(name)
	}
	return func() (all []string) {
		t.Helper()
		if _, err := os.ReadFile(filepath.Join(home, control)); err != nil {
			t.Fatal(err)
		}
		buffer := make([]byte, 64<<10)
		n, err := syscall.Read(queue, buffer)
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for at := 0; at+syscall.SizeofInotifyEvent <= n; {
			id, length := binary.NativeEndian.Uint32(buffer[at:]), binary.NativeEndian.Uint32(buffer[at+12:])
			if name := names[int32(id)]; name == control {
				seen = true
			} else {
				all = append(all, name)
			}
			at += syscall.SizeofInotifyEvent + int(length)
		}
		if !seen {
			t.Error("the watch does not notice that a file is opened")
		}
		return all
	}
}
