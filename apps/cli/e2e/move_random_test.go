//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/relaytest/proxy"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// moveCutsEnv is how many cuts TestASessionHasOneOwner makes; SCOREL_SEED repeats a run.
const (
	moveCutsEnv     = "SCOREL_MOVE_CUTS"
	defaultMoveCuts = 12
)

// wanderer is a session that moves between two machines while those are killed and cut off.
type wanderer struct {
	t        *testing.T
	random   *rand.Rand
	machines [2]*machine
	proxies  [2]*proxy.Proxy // between each machine and the relay
	id       string
	prompts  int
	owner    int            // index of the machine that has the session
	ends     map[string]int // how the moves ended
}

// TestASessionHasOneOwner: a session moves back and forth. Each move is cut at a random moment:
// either host is killed, or loses its connections, or a person cancels the move. Afterwards exactly
// one machine has the session, and no entry is lost or repeated.
func TestASessionHasOneOwner(t *testing.T) {
	seed := uint64(numberFrom(t, pathSeedEnv, int(time.Now().UnixNano()&0xffffff)))
	cuts := numberFrom(t, moveCutsEnv, defaultMoveCuts)
	t.Logf("%s=%d repeats this run", pathSeedEnv, seed)
	w := newWanderer(t, rand.New(rand.NewPCG(seed, 2)))
	for n := range cuts {
		if w.round(); t.Failed() {
			t.Fatalf("after cut %d", n)
		}
	}
	t.Logf("%d cuts: %v", cuts, w.ends)
}

func newWanderer(t *testing.T, random *rand.Rand) *wanderer {
	t.Helper()
	server := relaytest.Start(t, func(cfg *relay.Config) {
		freely(cfg)
		cfg.Store = relaytest.OpenStore(t, filepath.Join(t.TempDir(), "relay.db"))
	})
	w := &wanderer{t: t, random: random, ends: map[string]int{}}
	for i := range w.machines {
		w.proxies[i] = proxy.New(t, proxy.TCP(hostOf(t, server.URL)))
		w.machines[i] = newMachine(t, "http://"+w.proxies[i].Addr())
	}
	w.id = w.machines[0].newSession(t, "s")
	return w
}

// round adds a prompt, moves the session and cuts that move once.
func (w *wanderer) round() {
	from, to := w.machines[w.owner], w.machines[1-w.owner]
	w.prompts++
	ask(w.t, from.client, api.SendPrompt, api.SendPromptRequest{SessionID: w.id, ClientKey: fmt.Sprintf("p%d", w.prompts), Text: "think"})
	from.until(w.t, w.id, "the turn", func(l api.Live) bool { return l.Turn == nil && len(l.Queue) == 0 })
	before := from.entries(w.t, w.id)

	m := &mover{from: from, to: to, sessionID: w.id}
	arranged := m.arrange(w.t.Context())
	if arranged != nil {
		w.t.Fatalf("arranging a move between two machines that run: %v", arranged)
	}
	<-time.After(time.Duration(w.random.IntN(60_000)) * time.Microsecond) // the moment of the cut is any
	w.cut(m)
	end := m.await(w.t)
	w.ends[string(end.State)]++
	w.settle(m, before)
}

// cut disturbs a move once.
func (w *wanderer) cut(m *mover) {
	switch kind := w.random.IntN(6); kind {
	case 0, 1:
		w.ends["kills"]++
		victim := w.machines[kind]
		victim.kill()
		victim.start(w.t, "")
	case 2:
		w.ends["kills"]++
		for _, victim := range w.machines {
			victim.kill()
		}
		for _, victim := range w.machines {
			victim.start(w.t, "")
		}
	case 3, 4:
		w.ends["losses"]++
		w.proxies[kind-3].Cut()
		w.proxies[kind-3].Heal()
	default:
		w.ends["cancels"]++
		_, err := client.Call(w.t.Context(), m.from.client, api.CancelMove, api.MoveRequest{MoveID: m.moveID})
		if err != nil && kindOf(err) != api.KindConflict { // it is committed already
			w.t.Error(err)
		}
	}
}

// settle checks who has the session, and that it continues the log.
func (w *wanderer) settle(m *mover, before [][]byte) {
	owners := m.owners(w.t)
	if len(owners) != 1 {
		w.t.Fatalf("%d machines have the session", len(owners))
	}
	if owners[0] == w.machines[1-w.owner] {
		w.owner = 1 - w.owner
	}
	lines := owners[0].entries(w.t, w.id)
	for i, line := range before {
		if i >= len(lines) || string(lines[i]) != string(line) {
			w.t.Fatalf("line %d of %d is lost or changed", i, len(before))
		}
	}
	for key, count := range prompts(w.t, lines) {
		if count != 1 {
			w.t.Errorf("the prompt %s is in the log %d times", key, count)
		}
	}
	if got := len(prompts(w.t, lines)); got != w.prompts {
		w.t.Errorf("%d prompts in the log, want %d", got, w.prompts)
	}
}
