//go:build agents

package backend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/backend"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// agentsEnv is the folder that .ci/agents installed the programs in.
const agentsEnv = "SCOREL_AGENTS"

// vendor is a program that TestAgents runs against the fake models.
type vendor struct {
	name string
	// prepare writes the program's own settings in its home and returns variables.
	prepare func(t *testing.T, home, models string) map[string]string
	// erases says that the program erases a session that it loads in the minute in which it began
	// it (gemini-cli issue 28775), and finds none that it has loaded before.
	erases bool
}

// nextMinute waits until a program can load its session.
func (v vendor) nextMinute() {
	if now := time.Now(); v.erases {
		<-time.After(time.Until(now.Truncate(time.Minute).Add(time.Minute + time.Second)))
	}
}

func vendors() []vendor {
	return []vendor{
		{name: "claude", prepare: func(t *testing.T, home, models string) map[string]string {
			return map[string]string{
				"ANTHROPIC_BASE_URL": models, "ANTHROPIC_API_KEY": "x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
				"IS_SANDBOX": "1", "CLAUDE_CONFIG_DIR": filepath.Join(home, ".claude"),
			}
		}},
		{name: "codex", prepare: func(t *testing.T, home, models string) map[string]string {
			write(t, filepath.Join(home, ".codex", "config.toml"), fmt.Sprintf("model = \"fake\"\nmodel_provider = \"fake\"\n\n"+
				"[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n", models+"/v1"))
			return map[string]string{"CODEX_HOME": filepath.Join(home, ".codex"), "FAKE_KEY": "x", "NO_BROWSER": "1"}
		}},
		{name: "gemini", prepare: func(t *testing.T, home, models string) map[string]string {
			write(t, filepath.Join(home, ".gemini", "settings.json"), `{"security":{"auth":{"selectedType":"gemini-api-key"}},"model":{"name":"gemini-2.5-pro"}}`)
			return map[string]string{"GOOGLE_GEMINI_BASE_URL": models, "GEMINI_API_KEY": "x", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
		}, erases: true},
		{name: "opencode", prepare: func(t *testing.T, home, models string) map[string]string {
			write(t, filepath.Join(home, "opencode.json"), fmt.Sprintf(`{"model":"fake/fake","small_model":"fake/fake","permission":{"bash":"ask"},"provider":{"fake":{
				"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":%q,"apiKey":"x"},"models":{"fake":{"name":"fake"}}}}}`, models+"/v1"))
			return map[string]string{"OPENCODE_CONFIG": filepath.Join(home, "opencode.json"), "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1"}
		}},
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAgents runs the programs of vendors against fake models: a prompt with a permission, a
// canceled turn, a turn whose program is killed, and the agent's session after that, which is
// compared with the log. It prints the table of docs/agents.md.
func TestAgents(t *testing.T) {
	root := os.Getenv(agentsEnv)
	if root == "" {
		t.Fatalf("%s names no folder: run make test-agents", agentsEnv)
	}
	rows := []string{"| backend | program | permission | cancel | `kill -9`, then | log |", "|---|---|---|---|---|---|"}
	for _, v := range vendors() {
		t.Run(v.name, func(t *testing.T) {
			row := v.check(t, filepath.Join(root, v.name, "node_modules", ".bin"))
			rows = append(rows, row)
		})
	}
	t.Logf("\n%s", strings.Join(rows, "\n"))
}

// check runs one program through everything, and returns its row.
func (v vendor) check(t *testing.T, bin string) string {
	w, definition := v.world(t, bin)
	s := w.session(v.name)
	permission := v.permission(t, s)
	cancel := v.cancel(t, s)
	v.killed(t, s)
	v.nextMinute()
	again := v.recall(t, s)
	complete(t, s)
	s.check()
	compared := v.compare(t, s, definition)
	named := s.records(session.BackendSession)[0].Agent
	return fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |", v.name, named, permission, cancel, again, compared)
}

// world is one whose backend is the program, in a home of its own.
func (v vendor) world(t *testing.T, bin string) (*world, backend.Definition) {
	w := newWorld(t)
	w.stop()
	all := backend.BuiltIn()
	d := all[slices.IndexFunc(all, func(d backend.Definition) bool { return d.Name == v.name })]
	d.Command = filepath.Join(bin, d.Command)
	if d.Path() == "" {
		t.Fatalf("%s is not installed", d.Command)
	}
	home := t.TempDir()
	d.Set = v.prepare(t, home, serveModels(t).URL)
	w.options.CancelGrace = backend.CancelGrace
	w.options.Environ = func() []string {
		env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CACHE_HOME=" + home, "XDG_STATE_HOME=" + home}
		for _, name := range []string{"PATH", "LANG", "TMPDIR"} {
			env = append(env, name+"="+os.Getenv(name))
		}
		return env
	}
	w.more = []backend.Definition{d}
	w.start()
	return w, d
}

// permission sends a prompt whose tool call needs a permission, gives it once, and looks for what
// the call did.
func (v vendor) permission(t *testing.T, s *opened) string {
	t.Helper()
	s.send("Please " + wordRun)
	var asked []string
	for {
		s.until("it asks or ends", func() bool { return len(s.live.Approvals) > 0 || len(s.ended) == 1 })
		s.mu.Lock()
		approvals, ended := s.live.Approvals, len(s.ended) == 1
		s.mu.Unlock()
		if ended {
			break
		}
		asked = append(asked, answerOnce(t, s, approvals[0]))
	}
	if ended := s.ended[0]; ended.StopReason != session.StopEnd {
		t.Fatalf("the turn ended with %s: %s", ended.StopReason, ended.Error)
	}
	if len(asked) == 0 {
		t.Error("it asked for no permission")
	}
	if _, err := os.Stat(filepath.Join(s.w.project.Path, proofFile)); err != nil {
		t.Errorf("the call had no effect: %v", err)
	}
	if !strings.Contains(s.said(), saidHello) {
		t.Errorf("said %q", s.said())
	}
	return "asked " + strings.Join(asked, ", then ") + "; done"
}

// answerOnce gives a permission once, and returns the names of the answers that could be given.
func answerOnce(t *testing.T, s *opened, a api.Approval) string {
	t.Helper()
	i := slices.IndexFunc(a.Choices, func(c api.ApprovalChoice) bool { return c.Kind == acp.AllowOnce })
	if i < 0 {
		t.Fatalf("nothing allows once: %+v", a.Choices)
	}
	response, err := s.AnswerApproval(t.Context(), "cli_x", api.AnswerApprovalRequest{SessionID: s.id, ApprovalID: a.ID, Decision: a.Choices[i].Decision})
	if err != nil || !response.Won {
		t.Fatalf("%+v, %v", response, err)
	}
	s.until("the approval is gone", func() bool {
		return !slices.ContainsFunc(s.live.Approvals, func(open api.Approval) bool { return open.ID == a.ID })
	})
	return fmt.Sprintf("with %d answers", len(a.Choices))
}

// hang sends a prompt whose answer does not end, and waits for its beginning.
func hang(s *opened) {
	s.w.t.Helper()
	s.send(wordHang)
	s.until("the answer began", func() bool { return len(s.live.Partial) > 0 })
}

func (v vendor) cancel(t *testing.T, s *opened) string {
	t.Helper()
	hang(s)
	begun := time.Now()
	if ok, err := s.CancelTurn(t.Context(), s.live.Turn.TurnID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.until("the turn has ended", func() bool { return len(s.ended) == 2 })
	took := time.Since(begun)
	if ended := s.ended[1]; ended.StopReason != session.StopAborted {
		t.Errorf("it ended with %s: %s", ended.StopReason, ended.Error)
	}
	if s.w.backends.Running() == 0 {
		return fmt.Sprintf("ended by the host after %s", backend.CancelGrace)
	}
	return fmt.Sprintf("in %d ms", took.Milliseconds())
}

// killed kills the program in the middle of a turn: it ends with one error.
func (v vendor) killed(t *testing.T, s *opened) {
	t.Helper()
	hang(s)
	s.w.backends.KillAgents()
	s.until("the turn has ended", func() bool { return len(s.ended) == 3 })
	if ended := s.ended[2]; ended.StopReason != session.StopError || !strings.Contains(ended.Error, "ended unexpectedly") {
		t.Errorf("it ended with %s: %s", ended.StopReason, ended.Error)
	}
}

// recall continues after the kill: the program is started again and knows its session.
func (v vendor) recall(t *testing.T, s *opened) string {
	t.Helper()
	begun := time.Now()
	s.ok(wordRecall)
	took := time.Since(begun)
	if !strings.Contains(s.said(), saidRecall) {
		t.Errorf("said %q", s.said())
	}
	all := s.records(session.BackendSession)
	last := all[len(all)-1]
	if last.AgentSession != all[0].AgentSession || last.Rebuilt != 0 {
		t.Errorf("its session is another one: %+v", all)
	}
	return fmt.Sprintf("the same session, answered in %.1f s", took.Seconds())
}
