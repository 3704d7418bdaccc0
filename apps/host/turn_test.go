//go:build unix

package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// scene is a host with the real tools in front of a strict provider.
type scene struct {
	folder, home string
	server       *modeltest.Server
	c            *client.Client
	sessionID    string

	mu    sync.Mutex
	cond  *sync.Cond
	ended []api.TurnEnded
}

const sceneConfig = `max_steps = 50
[providers.p]
type = "openai"
base_url = "%s/v1"
[models.m]
provider = "p"
id = "gpt-4o"
price_input = 1.0
`

func newScene(t *testing.T, files map[string]string, steps ...modeltest.Step) *scene {
	t.Helper()
	s := &scene{folder: t.TempDir(), home: t.TempDir(), server: modeltest.Serve(steps...)}
	s.cond = sync.NewCond(&s.mu)
	t.Cleanup(s.server.Close)
	for name, text := range files {
		path := filepath.Join(s.folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.home, "config.toml"), fmt.Appendf(nil, sceneConfig, s.server.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// enter connects and begins a session.
func (s *scene) enter(t *testing.T, h *host.Host) {
	t.Helper()
	s.c = dial(t, h, func(e api.EventEnvelope) {
		if ended, ok := e.Event.(api.TurnEnded); ok {
			s.mu.Lock()
			s.ended = append(s.ended, ended)
			s.mu.Unlock()
			s.cond.Broadcast()
		}
	})
	project := call(t, s.c, api.ListProjects, api.Empty{}).Projects[0]
	s.sessionID = call(t, s.c, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "k"}).Session.ID
	call(t, s.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.sessionID})
}

func (s *scene) send(t *testing.T, key, text string) {
	t.Helper()
	call(t, s.c, api.SendPrompt, api.SendPromptRequest{SessionID: s.sessionID, ClientKey: key, Text: text, AllowAll: true})
}

// refused sends a prompt that is refused with an error that says why.
func (s *scene) refused(t *testing.T, text, why string) {
	t.Helper()
	_, err := client.Call(t.Context(), s.c, api.SendPrompt, api.SendPromptRequest{SessionID: s.sessionID, ClientKey: "refused", Text: text})
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%q was answered with %v, not with %q", text, err, why)
	}
}

// wait returns the n-th end of a turn.
func (s *scene) wait(n int) api.TurnEnded {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.ended) < n {
		s.cond.Wait()
	}
	return s.ended[n-1]
}

// asked is the body of the n-th request to the provider.
func (s *scene) asked(n int) string { return string(s.server.Bodies()[n-1]) }

// A job whose end was to be reported starts a turn; one that still runs when the host
// ends ends with it.
func TestAJobWakesItsSession(t *testing.T) {
	s := newScene(t, nil,
		modeltest.Calls(
			modeltest.Call("a", "bash", `{"command":"until [ -e go ]; do sleep 0.02; done; exit 3","background":true,"notify_on_complete":true}`),
			modeltest.Call("b", "bash", `{"command":"echo $$ > pid; sleep 1000","background":true}`),
		),
		modeltest.Say("They run."), modeltest.Say("It failed."),
	)
	h, stop := hosttest.Run(t, host.Config{Home: s.home, Getenv: noEnv, NoRelay: true, Projects: []string{s.folder}})
	s.enter(t, h)
	s.send(t, "k1", "begin")
	if end := s.wait(1); end.StopReason != session.StopEnd {
		t.Fatalf("%+v", end)
	}
	if err := os.WriteFile(filepath.Join(s.folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if end := s.wait(2); end.StopReason != session.StopEnd || end.ClientKey != "" {
		t.Fatalf("%+v", end)
	}
	if got := s.asked(3); !strings.Contains(got, "Background job job1 ended with exit code 3") {
		t.Errorf("the model was given %s", got)
	}
	pid := pidIn(t, filepath.Join(s.folder, "pid"))
	if syscall.Kill(pid, 0) != nil {
		t.Error("the other job does not run any more")
	}
	stop()
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; {
		if time.Now().After(deadline) {
			t.Fatal("a job outlives the host")
		}
	}
}

func pidIn(t *testing.T, path string) int {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		data, err := os.ReadFile(path)
		if pid, convErr := strconv.Atoi(strings.TrimSpace(string(data))); err == nil && convErr == nil {
			return pid
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not come: %v", path, err)
		}
	}
}

// What a prompt calls and what lies near a file reaches the model, in a folder that is
// trusted; the provider's count reaches the list.
func TestSkillsAndInstructionsOnTheWay(t *testing.T) {
	files := map[string]string{
		"deep/AGENTS.md": "Mind the gap.", "deep/x.txt": "hello", ".scorel/skills/deploy/SKILL.md": "---\nname: deploy\ndescription: d\n---\nPress the button.\n",
	}
	for _, trusted := range []bool{true, false} {
		read := modeltest.Calls(modeltest.Call("a", "read_file", `{"path":"deep/x.txt"}`))
		s := newScene(t, files, read, modeltest.Say("Done."))
		h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
		s.enterAs(t, h, trusted)
		if trusted {
			s.send(t, "k1", "/deploy to prod")
		} else {
			s.refused(t, "/deploy to prod", "/deploy is neither a command nor a skill")
			s.send(t, "k1", "deploy to prod")
		}
		if end := s.wait(1); end.StopReason != session.StopEnd {
			t.Fatalf("%+v", end)
		}
		if got := strings.Contains(s.asked(1), "Press the button."); got != trusted {
			t.Errorf("trusted %v: the skill was given: %v", trusted, got)
		}
		if got := strings.Contains(s.asked(2), "Mind the gap."); got != trusted {
			t.Errorf("trusted %v: the instructions were given: %v", trusted, got)
		}
		listed := call(t, s.c, api.ListSessions, api.ListSessionsRequest{}).Sessions[0]
		if listed.Usage.Input == 0 || listed.Usage.Cost == 0 {
			t.Errorf("the list tells of %+v", listed.Usage)
		}
	}
}

// enterAs is enter in a folder that is trusted, or not.
func (s *scene) enterAs(t *testing.T, h *host.Host, trusted bool) {
	t.Helper()
	if trusted {
		c := dial(t, h, nil)
		project := call(t, c, api.ListProjects, api.Empty{}).Projects[0]
		call(t, c, api.TrustProject, api.TrustProjectRequest{ProjectID: project.ID, Trusted: true})
	}
	s.enter(t, h)
}
