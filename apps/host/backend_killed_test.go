//go:build unix

package host_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// killsEnv is how often TestKilledWithAnotherAgent kills a host; SCOREL_SEED repeats a run.
const (
	killsEnv     = "SCOREL_BACKEND_KILLS"
	defaultKills = 5
	killsPerLog  = 20
)

// foreignScripts are prompts of the fake agent whose turns take different ways.
func foreignScripts() []string {
	return []string{
		"say one\nthink two\nsay three",
		"call c1 execute make\nask c1\nrun c1\ndone c1 made\nsay done",
		"call c1 execute make\ncall c2 read file\nrun c1\nask c2\ndone c2 text\ndone c1 made",
		"flood 300\ncall c1 execute make\nrun c1\nflood 200",
		"edit e1 /tmp/a\nask e1\ndone e1 ok\nsay waits\nwait",
		"say half\ncrash", "error it broke",
	}
}

// TestKilledWithAnotherAgent kills the host's process while another program works on a turn: at a
// random step that it puts on disk, or at a random event. What an entry was promised is there, each
// prompt has one end, each call one result, and no permission was answered twice.
func TestKilledWithAnotherAgent(t *testing.T) {
	seed := hosttest.Number(t, "SCOREL_SEED", uint64(time.Now().UnixNano())&0xffffff)
	kills := int(hosttest.Number(t, killsEnv, defaultKills))
	t.Logf("SCOREL_SEED=%d repeats this run", seed)
	random, plain := rand.New(rand.NewPCG(seed, 15)), plainProgram(t)
	for n := 0; n < kills && !t.Failed(); n += killsPerLog {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := newForeignRun(t, plain, random)
			for range min(killsPerLog, kills-n) {
				r.kill()
			}
			r.end()
		})
	}
}

type foreignRun struct {
	t           *testing.T
	plain, home string
	random      *rand.Rand
	w           *witness
}

// newForeignRun makes a home with a session on the fake agent.
func newForeignRun(t *testing.T, plain string, random *rand.Rand) *foreignRun {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	configure(t, home, "http://127.0.0.1:0", hosttest.FakeBackend(plain, "--home="+t.TempDir()))
	child := begin(t, plain, home, 0)
	maker := newWitness(t, "")
	maker.connect(home)
	project, _ := tell(maker, api.AddProject, api.AddProjectRequest{Path: t.TempDir()})
	made, ok := tell(maker, api.CreateSession, api.CreateSessionRequest{ProjectID: project.Project.ID, ClientKey: "session", Backend: "fake"})
	if !ok {
		t.Fatal("no session could be made")
	}
	child.kill()
	return &foreignRun{t: t, plain: plain, home: home, random: random, w: newWitness(t, made.Session.ID)}
}

// kill sends a prompt to a host and kills it.
func (r *foreignRun) kill() {
	r.t.Helper()
	point := 0
	if r.random.IntN(2) == 0 {
		point = 1 + r.random.IntN(40)
	}
	child := begin(r.t, r.plain, r.home, point)
	r.w.connect(r.home)
	r.taken()
	scripts := foreignScripts()
	r.w.prompt(asking(fmt.Sprintf("key-%d", len(r.w.sent)), scripts[r.random.IntN(len(scripts))]))
	r.some(r.random.IntN(25))
	if r.random.IntN(2) == 0 {
		r.answers()
		r.some(r.random.IntN(10))
	}
	child.kill()
	r.w.mu.Lock()
	r.w.waiting, r.w.answered = map[string]bool{}, map[string]bool{} // the agent ended with the host: nothing waits
	r.w.mu.Unlock()
}

// taken looks for the prompts that a host took.
func (r *foreignRun) taken() {
	r.t.Helper()
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	there := map[string]int{}
	for _, e := range r.w.entries {
		if e.Role() == session.RoleUser {
			there[e.Text("clientKey")]++
		}
	}
	for key := range r.w.accepted {
		if there[key] != 1 && !r.w.dead {
			r.t.Errorf("the prompt %s was taken and is in the log %d times", key, there[key])
		}
	}
}

// some waits for that many events, or until no further one comes.
func (r *foreignRun) some(n int) {
	r.t.Helper()
	r.w.mu.Lock()
	until := r.w.anchors.StreamLastSeq + uint64(n)
	r.w.mu.Unlock()
	r.w.until("events", func() bool {
		return r.w.anchors.StreamLastSeq >= until || r.w.idle() || len(r.w.unanswered()) > 0 || strings.Contains(fmt.Sprint(r.w.live.Partial), "waits")
	})
}

// answers answers what the agent asks.
func (r *foreignRun) answers() {
	r.t.Helper()
	r.w.mu.Lock()
	waiting := len(r.w.unanswered())
	r.w.mu.Unlock()
	if waiting > 0 {
		r.w.answer(api.Choice(r.random.IntN(3)), "")
	}
}

// end has a last host find what the others left.
func (r *foreignRun) end() {
	r.t.Helper()
	h := start(r.t, host.Config{Home: r.home})
	r.w.connect(r.home)
	r.taken()
	r.w.until("quiet", r.w.idle)
	r.w.prompt(asking("last", "say the end"))
	r.w.untilEnded("last")
	r.w.until("quiet", r.w.idle)
	if r.w.dead {
		r.t.Fatal("the last host is gone")
	}
	r.w.equalsFresh(h)
	r.w.checkFile(r.home)
	r.w.mu.Lock()
	defer r.w.mu.Unlock()
	tree, decided, ends := session.NewTree(r.w.entries), map[string]int{}, map[string]int{}
	for _, record := range customsOf[session.TurnRecord](r.t, r.w.entries, session.CustomTurn) {
		ends[record.TurnID]++
	}
	for _, record := range customsOf[session.ApprovalRecord](r.t, r.w.entries, session.CustomApproval) {
		if record.Decision != "" {
			decided[record.ApprovalID]++
		}
	}
	for id, n := range decided {
		if n > 1 {
			r.t.Errorf("the permission %s was answered %d times", id, n)
		}
	}
	for _, e := range r.w.entries {
		if key := e.Text("clientKey"); e.Role() == session.RoleUser {
			if _, ended := read.EndOf(tree, key); !ended || ends[e.Text("turnId")] > 1 {
				r.t.Errorf("the prompt %s has ended: %v, with %d records", key, ended, ends[e.Text("turnId")])
			}
		}
	}
	a := accountOf(r.t, r.w.entries)
	a.checkCalls(map[string]int{})
}
