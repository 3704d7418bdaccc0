package backend_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// cutsEnv is how many cuts TestRandomCuts makes; SCOREL_SEED repeats a run.
const (
	cutsEnv     = "SCOREL_BACKEND_CUTS"
	defaultCuts = 40
	cutsPerLog  = 20
)

// TestRandomCuts cuts clients off, kills agents and hosts, and cancels turns at random moments,
// while two people answer each permission at once. Afterwards what was followed equals a fresh
// load, each prompt has one end, each call one result, and no permission was answered twice.
func TestRandomCuts(t *testing.T) {
	seed := hosttest.Number(t, "SCOREL_SEED", uint64(time.Now().UnixNano())&0xffffff)
	cuts := int(hosttest.Number(t, cutsEnv, defaultCuts))
	t.Logf("SCOREL_SEED=%d repeats this run", seed)
	random, done := rand.New(rand.NewPCG(seed, 15)), map[string]int{}
	for n := 0; n < cuts && !t.Failed(); n += cutsPerLog {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := &randomRun{w: newWorld(t), random: random, done: done}
			r.s = r.w.session("fake")
			for range min(cutsPerLog, cuts-n) {
				r.cut()
			}
			r.end()
		})
	}
	t.Logf("%d cuts: %v", cuts, done)
}

type randomRun struct {
	w        *world
	s        *opened
	random   *rand.Rand
	done     map[string]int
	accepted []string // keys of prompts
}

// scripts are prompts whose turns take different ways.
var scripts = []string{
	"say one\nthink two\nsay three",
	"call c1 execute make\nask c1\nrun c1\ndone c1 made\nsay done",
	"call c1 execute make\ncall c2 read file\nrun c1\nask c2\ndone c2 text\ndone c1 made",
	"flood 300\ncall c1 execute make\nrun c1\nflood 200",
	"edit e1 /tmp/a\nask e1\ndone e1 ok\nsay waits\nwait",
	"say waits\nsilent", "say half\ncrash", "call c1 execute make\nask c1\ncrash", "error it broke",
}

// cut sends a prompt and breaks something while its turn runs.
func (r *randomRun) cut() {
	r.w.t.Helper()
	key := fmt.Sprintf("random-%d", len(r.accepted))
	if _, err := r.s.SendPrompt(r.w.t.Context(), "cli_x", api.SendPromptRequest{SessionID: r.s.id, ClientKey: key, Text: scripts[r.random.IntN(len(scripts))]}); err != nil {
		r.w.t.Fatal(err)
	}
	r.accepted = append(r.accepted, key)
	r.someEvents(r.random.IntN(30))
	if r.random.IntN(2) == 0 {
		r.answer()
	}
	what := []string{"client", "agent", "host ends", "host is killed", "cancel"}[r.random.IntN(5)]
	r.done[what]++
	switch what {
	case "client":
		r.cutClient()
	case "agent":
		r.w.backends.KillAgents()
	case "host ends":
		r.w.restart()
		r.s = r.w.open(r.s.id)
	case "host is killed":
		r.killHost()
	case "cancel":
		r.cancel()
	}
	r.settle()
	r.s.check()
}

// someEvents waits until that many events came, or no further one will.
func (r *randomRun) someEvents(n int) {
	r.w.t.Helper()
	r.s.mu.Lock()
	until := r.s.anchors.StreamLastSeq + uint64(n)
	r.s.mu.Unlock()
	r.s.until("events came", func() bool {
		live := r.s.live
		return r.s.anchors.StreamLastSeq >= until || live.Turn == nil || len(live.Approvals) > 0 || r.waits()
	})
}

func (r *randomRun) cutClient() {
	r.s.Unsubscribe(r.w.t.Context(), r.s.watcher)
	r.answer()
	r.s.mu.Lock()
	anchors := r.s.anchors
	r.s.mu.Unlock()
	if r.random.IntN(3) == 0 {
		anchors.Epoch = "another"
	}
	if err := r.s.Resync(r.w.t.Context(), anchors, r.s.watcher, api.AllGrants(), r.s.load); err != nil {
		r.w.t.Fatal(err)
	}
}

// killHost continues with a copy of the log, made at any moment, as a host that was killed does.
func (r *randomRun) killHost() {
	r.w.t.Helper()
	dir := r.w.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(r.w.dir)); err != nil {
		r.w.t.Fatal(err)
	}
	r.w.backends.KillAgents()
	r.w.stop()
	r.w.dir = dir
	r.w.start()
	r.s = r.w.open(r.s.id)
}

func (r *randomRun) cancel() {
	r.s.mu.Lock()
	turn := r.s.live.Turn
	r.s.mu.Unlock()
	if turn != nil {
		if _, err := r.s.CancelTurn(r.w.t.Context(), turn.TurnID); err != nil {
			r.w.t.Error(err)
		}
	}
}

// answer has two people answer each permission at once: one of them wins at most.
func (r *randomRun) answer() {
	r.w.t.Helper()
	r.s.mu.Lock()
	approvals := append([]api.Approval(nil), r.s.live.Approvals...)
	r.s.mu.Unlock()
	for _, approval := range approvals {
		var people sync.WaitGroup
		won := make(chan api.Decision, 2)
		for i, client := range []string{"cli_x", "cli_y"} {
			people.Go(func() {
				decision := api.Choice(2 * i)
				response, err := r.s.AnswerApproval(r.w.t.Context(), client, api.AnswerApprovalRequest{SessionID: r.s.id, ApprovalID: approval.ID, Decision: decision})
				if err == nil && response.Won {
					won <- decision
				}
			})
		}
		people.Wait()
		if len(won) > 1 {
			r.w.t.Errorf("both answers to %s won", approval.ID)
		}
	}
}

// waits reports whether the turn ends only by being canceled.
func (r *randomRun) waits() bool { return strings.Contains(fmt.Sprint(r.s.live.Partial), "waits") }

// settle waits until no turn runs: permissions are answered, and turns that wait are canceled.
func (r *randomRun) settle() {
	r.w.t.Helper()
	for {
		idle, asked := false, false
		r.s.until("the turn ends, asks or waits", func() bool {
			idle, asked = r.s.live.Turn == nil && len(r.s.live.Queue) == 0, len(r.s.live.Approvals) > 0
			return idle || asked || r.waits()
		})
		switch {
		case idle:
			return
		case asked:
			r.answer()
		default:
			r.cancel()
		}
		r.s.until("the answer or the cancellation has an effect", func() bool {
			return r.s.live.Turn == nil || asked && len(r.s.live.Approvals) == 0
		})
	}
}

// end reads the log as a program does that starts.
func (r *randomRun) end() {
	t := r.w.t
	t.Helper()
	complete(t, r.s)
	id := r.s.id
	r.w.stop()
	files, err := filepath.Glob(filepath.Join(r.w.dir, "*", "*"+id+".jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files of the session are %q: %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	log, err := session.ReadFile(data)
	if err != nil {
		t.Fatal(err)
	}
	decided, ends, prompts, last := map[string]int{}, map[string]int{}, map[string]int{}, ""
	for _, entry := range log.Tree.Entries() {
		var approval session.ApprovalRecord
		var turn session.TurnRecord
		switch {
		case entry.Role() == session.RoleUser:
			last = entry.Text("clientKey")
			prompts[last]++
		case entry.CustomType == session.CustomApproval && decode(t, entry, &approval) && approval.Decision != "":
			decided[approval.ApprovalID]++
		case entry.CustomType == session.CustomTurn && decode(t, entry, &turn):
			ends[last]++
		}
	}
	for id, n := range decided {
		if n > 1 {
			t.Errorf("the log has %d answers to the permission %s", n, id)
		}
	}
	for _, key := range r.accepted {
		_, ended := read.EndOf(log.Tree, key)
		if !ended || ends[key] > 1 || prompts[key] != 1 {
			t.Errorf("the prompt %s is in the log %d times, with %d ends (%v)", key, prompts[key], ends[key], ended)
		}
	}
}

func decode(t *testing.T, entry session.Entry, into any) bool {
	t.Helper()
	custom, ok := entry.AsCustom()
	if !ok || json.Unmarshal(custom.Data, into) != nil {
		t.Errorf("the entry %s cannot be read", entry.ID)
		return false
	}
	return true
}
