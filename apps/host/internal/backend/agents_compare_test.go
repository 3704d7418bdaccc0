//go:build agents

package backend_test

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/session"
)

// replay collects what an agent says while it loads a session. It implements acp.Client.
type replay struct {
	mu            sync.Mutex
	prompts, said strings.Builder
	calls         map[string]bool
}

// Update implements acp.Client.
func (r *replay) Update(_ string, u acp.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case u.Kind == acp.UpdateUserChunk:
		r.prompts.WriteString(u.Content.Text + "\n")
	case u.Kind == acp.UpdateAgentChunk:
		r.said.WriteString(u.Content.Text)
	case u.Tool != nil:
		r.calls[u.Tool.ID] = true
	}
}

// until waits until something was replayed, which some agents do after they have answered.
func (r *replay) until(is func() bool) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-time.After(10 * time.Millisecond) {
		r.mu.Lock()
		there := is()
		r.mu.Unlock()
		if there {
			return
		}
	}
}

// Permission implements acp.Client.
func (*replay) Permission(r *acp.Request, _ acp.PermissionRequest) { r.Reply(acp.Cancelled(), nil) }

// Elicit implements acp.Client.
func (*replay) Elicit(r *acp.Request, _ acp.Elicitation) { r.NotFound() }

// ElicitationCompleted implements acp.Client.
func (*replay) ElicitationCompleted(string) {}

// compare has another process of the program load the session, as a terminal of the vendor would,
// and compares what it replays with the log.
func (v vendor) compare(t *testing.T, s *opened, d backend.Definition) string {
	t.Helper()
	if v.erases {
		return v.forgets(t, s)
	}
	all := s.records(session.BackendSession)
	w := s.w
	cwd, id := w.project.Path, all[len(all)-1].AgentSession
	prompts, said := s.prompted(), s.said()
	w.stop() // two programs do not work on one session
	seen, end := load(t, d, w.options.Environ(), cwd, id)
	defer end()
	seen.until(func() bool {
		return strings.Contains(seen.prompts.String(), prompts[len(prompts)-1]) && strings.Contains(seen.said.String(), saidRecall)
	})
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, prompt := range prompts {
		if !strings.Contains(seen.prompts.String(), prompt) {
			t.Errorf("the prompt %q is in the log and not in what the program replays: %q", prompt, seen.prompts.String())
		}
	}
	for _, text := range []string{saidHello, saidRecall} {
		if strings.Contains(said, text) != strings.Contains(seen.said.String(), text) {
			t.Errorf("the log has %q, the program replays %q", said, seen.said.String())
		}
	}
	if len(seen.calls) != 1 {
		t.Errorf("the program replays %d calls, the log has 1", len(seen.calls))
	}
	return fmt.Sprintf("%d prompts, answers and the call as replayed", len(prompts))
}

// forgets starts a program again that finds a session only the first time: it gets the transcript.
func (v vendor) forgets(t *testing.T, s *opened) string {
	t.Helper()
	s.w.backends.KillAgents()
	v.nextMinute()
	s.ok(wordRecall)
	all := s.records(session.BackendSession)
	if last := all[len(all)-1]; last.Rebuilt == 0 {
		t.Error("it loads a session for the second time: compare what it replays")
	}
	return "the second time it does not find its session and is given the transcript; not compared"
}

func (o *opened) prompted() (all []string) {
	for _, m := range o.messages() {
		if m.Role == session.RoleUser {
			all = append(all, m.Content.Plain())
		}
	}
	return all
}

// load loads a session in a process of its own, which end ends.
func load(t *testing.T, d backend.Definition, environ []string, cwd, id string) (seen *replay, end func()) {
	t.Helper()
	cmd := exec.Command(d.Command, d.Args...)
	cmd.Dir, cmd.Env = cwd, d.Environ(environ)
	in, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	forget, err := (*procgroup.Ledger)(nil).Start(cmd, procgroup.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	seen = &replay{calls: map[string]bool{}}
	agent, err := acp.Connect(t.Context(), in, out, seen, acp.Options{}, acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "scorel-test", Version: "1"}})
	end = func() {
		procgroup.Kill(cmd)
		if agent != nil {
			_ = agent.Conn().Close()
		}
		_ = cmd.Wait() // it was killed
		forget()
	}
	if err == nil {
		_, err = agent.LoadSession(t.Context(), acp.LoadSessionRequest{SessionID: id, Cwd: cwd})
	}
	if err != nil {
		end()
		t.Fatal(err)
	}
	return seen, end
}
