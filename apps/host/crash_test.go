//go:build unix

package host_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestKilledAtEveryStep kills the host's process at every step that a turn puts on
// disk: before it, and when it is on disk and was not announced. Now and then the next
// host is killed too, somewhere in what it does first. The last one finds all that an
// entry was promised, and nothing twice.
func TestKilledAtEveryStep(t *testing.T) {
	plain := plainProgram(t)
	for name, script := range crashScripts() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script.program = plain
			script.home, script.sessionID, script.project = newSession(t)
			for n, over := 1, false; !over; n++ {
				point := 1 + (n-1)*max(script.stride, 1)
				t.Run(fmt.Sprint(point), func(t *testing.T) {
					over = killedAt(t, script, point, n%3 == 0)
				})
				if t.Failed() {
					return
				}
				if over && point < script.least {
					t.Fatalf("the script has only %d points: it does not cover what it should", point)
				}
			}
		})
	}
}

// killedAt reports whether the script came to its end before the point. With again the
// next host is killed too.
func killedAt(t *testing.T, script crashScript, point int, again bool) (over bool) {
	home := filepath.Join(t.TempDir(), "home")
	err := errors.Join(os.CopyFS(home, os.DirFS(script.home)), os.Chmod(filepath.Join(home, "identity.json"), 0o600),
		os.RemoveAll(filepath.Join(script.project, "ran")))
	if err != nil {
		t.Fatal(err)
	}
	first := modeltest.Serve(script.steps...)
	defer first.Close()
	configure(t, home, first.URL, script.config)
	w := newWitness(t, script.sessionID)

	child := begin(t, script.program, home, point)
	w.connect(home)
	script.play(w)
	over = !w.dead
	child.kill()

	later := modeltest.Serve(slowOKs()...)
	defer later.Close()
	configure(t, home, later.URL, script.config)
	if again {
		child = begin(t, script.program, home, 1+point%7)
		w.connect(home)
		w.resume()
		child.kill()
	}
	h := start(t, host.Config{Home: home})
	w.connect(home)
	w.resume()
	w.prompt(asking("next", "go on"))
	w.untilEnded("next")
	w.until("quiet", w.idle)
	if w.dead {
		t.Fatal("the last host is gone")
	}
	if refused := append(first.Refusals(), later.Refusals()...); len(refused) > 0 {
		t.Errorf("the provider refused: %q", refused)
	}
	w.equalsFresh(h)
	w.checkFile(home)
	ran := commandsRun(t, script.project)
	w.checkLog(ran)
	w.checkSubagents(h, ran)
	checkNothingRuns(t, script.project)
	if script.check != nil {
		script.check(w, string(bytes.Join(later.Bodies(), nil)))
	}
	return over
}

func slowOKs() []modeltest.Step {
	steps := make([]modeltest.Step, 50)
	for i := range steps {
		steps[i] = modeltest.Say("ok")
	}
	return steps
}

func configure(t *testing.T, home, url, more string) {
	t.Helper()
	configureSandbox(t, home, url, "[sandbox]\nenabled = false\n"+more)
}

// configureSandbox is configure where more says what the sandbox is.
func configureSandbox(t *testing.T, home, url, more string) {
	t.Helper()
	config := "default_model = \"main\"\n[providers.test]\ntype = \"openai\"\nbase_url = \"" + url + "/v1\"\n" +
		"[models.main]\nprovider = \"test\"\nid = \"test-1\"\ncontext_window = 8000\nimages = true\n" + more
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newSession makes a session of a project, and ends its host.
func newSession(t *testing.T) (home, sessionID, project string) {
	t.Helper()
	home, project = t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "notes.txt"), []byte("a word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	configure(t, home, "http://127.0.0.1:0", "")
	h, ended := run(t, host.Config{Home: home, Projects: []string{project}})
	c := dial(t, h, nil)
	id := call(t, c, api.ListProjects, api.Empty{}).Projects[0].ID
	created := call(t, c, api.CreateSession, api.CreateSessionRequest{ProjectID: id, ClientKey: "session"})
	_, _ = client.Call(t.Context(), c, api.StopHost, api.Empty{}) // the answer may be lost in the end
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return home, created.Session.ID, project
}

// mortalHost is a host in a process of its own.
type mortalHost struct {
	t   *testing.T
	cmd *exec.Cmd
}

// begin starts one that is killed at a point, and returns when it takes connections
// or is dead.
func begin(t *testing.T, program, home string, point int) mortalHost {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, home)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", childEnv, point))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = bufio.NewReader(out).ReadString('\n') // an end without it is an early death
	return mortalHost{t, cmd}
}

// kill ends what is left of it, and sees that it did not end by itself.
func (m mortalHost) kill() {
	m.t.Helper()
	_ = m.cmd.Process.Kill()
	_ = m.cmd.Wait()
	if m.cmd.ProcessState.Exited() {
		m.t.Fatalf("the host ended by itself: %s", m.cmd.ProcessState)
	}
}

// resume sends again what no host answered for, and waits for the end of all work.
// What was promised is there at once.
func (w *witness) resume() {
	w.t.Helper()
	if w.dead {
		return
	}
	w.promised()
	for _, request := range w.sent {
		w.prompt(request)
	}
	for w.until("quiet, or somebody to ask", func() bool { return w.idle() || len(w.unanswered()) > 0 || len(w.live.Questions) > 0 }) {
		w.mu.Lock()
		approval, question := len(w.unanswered()) > 0, len(w.live.Questions) > 0
		w.mu.Unlock()
		switch {
		case approval:
			w.answer(api.DecisionAllow, "")
		case question:
			w.reply("after all")
		default:
			return
		}
	}
}

func (w *witness) unanswered() (out []string) {
	for _, a := range w.live.Approvals {
		if !w.answered[a.ID] {
			out = append(out, a.ID)
		}
	}
	return out
}

// promised looks for the prompts that a host took and the approvals that it showed.
func (w *witness) promised() {
	w.t.Helper()
	w.mu.Lock()
	there := map[string]bool{}
	for _, e := range w.entries {
		if key := e.Text("clientKey"); key != "" && e.Role() == session.RoleUser {
			there[key] = true
		}
	}
	for _, q := range w.live.Queue {
		there[q.ClientKey] = true
	}
	for key := range w.accepted {
		if !there[key] {
			w.t.Errorf("the prompt %s was taken and is gone", key)
		}
	}
	shown := make([]string, 0, len(w.waiting))
	for id := range w.waiting {
		if !w.answered[id] {
			shown = append(shown, id)
		}
	}
	asked := slices.Collect(maps.Keys(w.asked))
	w.mu.Unlock()
	for _, id := range asked {
		w.until("the question "+id+", which was shown and not answered", func() bool {
			return slices.ContainsFunc(w.live.Questions, func(q api.Question) bool { return q.ID == id })
		})
	}
	for _, id := range shown {
		w.until("the approval "+id+", which was shown and not answered", func() bool {
			for _, a := range w.live.Approvals {
				if a.ID == id {
					return true
				}
			}
			return false
		})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.answered = map[string]bool{}, map[string]bool{} // an answer that did not come through is given again
	for _, id := range shown {
		w.waiting[id] = true
	}
}
