//go:build unix

package e2e

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/chat/projection"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// The property test is as long as these say. A run prints its seed.
const (
	pathCutsEnv = "SCOREL_PATH_CUTS"
	pathSeedEnv = "SCOREL_SEED"
	defaultCuts = 200
)

func numberFrom(t *testing.T, name string, otherwise int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestPathsComeAndGo: a client works in sessions while its paths are cut and come back. After
// each cut what it shows equals a fresh load, each prompt and each entry was there once, and
// each approval has one answer.
func TestPathsComeAndGo(t *testing.T) {
	seed := uint64(numberFrom(t, pathSeedEnv, int(time.Now().UnixNano()&0xffffff)))
	cuts := numberFrom(t, pathCutsEnv, defaultCuts)
	t.Logf("%s=%d repeats this run", pathSeedEnv, seed)
	w := newPathWorld(t, rand.New(rand.NewPCG(seed, 1)))
	for n := range cuts {
		w.step(n)
		if t.Failed() {
			t.Fatalf("after cut %d", n)
		}
	}
	t.Logf("%d cuts: %d connections, %v; %d moves to a better path, %d approvals of which the client answered %d",
		cuts, w.connections, w.taken, w.moves, w.approvals, w.won)
	for _, lane := range w.lanes {
		if w.taken[lane.path.Name()] == 0 {
			t.Errorf("%s was never used: the test does not cover it", lane.path)
		}
	}
	if w.moves == 0 || w.won == 0 || w.won == w.approvals {
		t.Error("the run holds too little")
	}
}

// sessionTurns is how many turns a session has: its log must fit one answer.
const sessionTurns = 25

// step begins something, cuts the path in use somewhere in it, and compares.
func (w *pathWorld) step(n int) {
	if n%sessionTurns == 0 {
		w.open(fmt.Sprintf("session %d", n))
	}
	if w.random.IntN(5) == 0 {
		w.healAll()
		w.awaitBest()
	}
	prompt := fmt.Sprintf("stream %d", 1+w.random.IntN(3))
	if w.random.IntN(6) == 0 { // it waits for an approval
		prompt = fmt.Sprintf("write f%d.txt: text", n)
	}
	key := fmt.Sprintf("key %d", n)
	sent := w.send(prompt, key)
	for range w.random.IntN(6) {
		if !w.pump(time.After(20 * time.Millisecond)) { // something may arrive, or not
			break
		}
	}
	w.cut()
	w.until("the end of "+key, func() bool {
		w.answer()
		return w.has(key) && w.state.Live.Turn == nil && len(w.state.Live.Queue) == 0
	})
	if err := <-sent; err != nil {
		w.t.Errorf("sending %s: %v", key, err)
	}
	w.answers.Wait()
	w.compare(key)
}

// has reports whether the log has a prompt, and fails if it has it twice.
func (w *pathWorld) has(key string) bool {
	count := 0
	for _, entry := range w.state.Path {
		if message, ok := entry.AsMessage(); ok && message.Message.Role == session.RoleUser && message.ClientKey == key {
			count++
		}
	}
	if count > 1 {
		w.t.Fatalf("the prompt %s is in the log %d times", key, count)
	}
	return count == 1
}

// send sends a prompt as the terminal does: again after each loss until it is answered.
func (w *pathWorld) send(text, key string) <-chan error {
	sent := make(chan error, 1)
	id, f := w.session, w.feed
	w.answers.Go(func() {
		_, err := feed.Do(w.ctx, f, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: key, Text: text})
		sent <- err
	})
	return sent
}

// answer has the client, a rival, or both at the same time answer each approval.
func (w *pathWorld) answer() {
	for _, approval := range w.state.Live.Approvals {
		if w.asked[approval.ID] {
			continue
		}
		w.asked[approval.ID] = true
		w.approvals++
		request := api.AnswerApprovalRequest{SessionID: w.session, ApprovalID: approval.ID, Decision: api.DecisionAllow, Shown: approval.Shown}
		rival, f := request, w.feed
		rival.Decision = api.DecisionDeny
		var both sync.WaitGroup
		var mine, other bool
		ask := func() {
			got, err := feed.Do(w.ctx, f, api.AnswerApproval, request)
			mine = won(w.t, got, err)
		}
		against := func() {
			got, err := client.Call(w.ctx, w.local, api.AnswerApproval, rival)
			other = won(w.t, got, err)
		}
		who := w.random.IntN(4)
		if who != 0 {
			both.Go(ask)
		}
		if who != 1 {
			both.Go(against)
		}
		w.answers.Go(func() {
			both.Wait()
			w.mu.Lock()
			defer w.mu.Unlock()
			if mine && other {
				w.t.Errorf("two answers count for %s", approval.ID)
			}
			if mine {
				w.won++
			}
		})
	}
}

// won reports whether an answer counts. One that comes when the call is over does not.
func won(t *testing.T, got api.AnswerApprovalResponse, err error) bool {
	refused := new(api.Error)
	if err != nil && (!isAPI(err, &refused) || refused.Kind != api.KindNotFound && refused.Kind != api.KindConflict) {
		t.Errorf("answering: %v", err)
	}
	return err == nil && got.Won
}

// compare loads the session afresh, and compares it with what the client has.
func (w *pathWorld) compare(what string) {
	w.t.Helper()
	fresh := w.freshLoad()
	for w.seq > fresh.Anchors.StreamLastSeq { // something followed the end of the turn
		fresh = w.freshLoad()
	}
	var want projection.Session
	want.Load(fresh)
	for _, event := range fresh.Events {
		want.Apply(event.Event)
	}
	same := func(a, b session.Entry) bool { return bytes.Equal(a.Raw, b.Raw) }
	switch {
	case !slices.EqualFunc(w.state.Path, want.Path, same):
		w.t.Errorf("%s: the client has %d entries, a fresh load %d", what, len(w.state.Path), len(want.Path))
	case !reflect.DeepEqual(w.state.Live, want.Live):
		w.t.Errorf("%s: the client has\n%+v\na fresh load\n%+v", what, w.state.Live, want.Live)
	}
	results := map[string]int{}
	for _, entry := range want.Path {
		if message, ok := entry.AsMessage(); ok && message.Message.Role == session.RoleToolResult {
			if results[message.Message.ToolCallID]++; results[message.Message.ToolCallID] > 1 {
				w.t.Errorf("the call %s has two results", message.Message.ToolCallID)
			}
		}
	}
}

// freshLoad loads the session as a client does that knows nothing, and lets the client have all
// of it.
func (w *pathWorld) freshLoad() api.ResyncEventsResponse {
	w.t.Helper()
	fresh := ask(w.t, w.local, api.ResyncEvents, api.ResyncEventsRequest{SessionID: w.session})
	w.until("what a fresh load has", func() bool { return w.seq >= fresh.Anchors.StreamLastSeq })
	return fresh
}

// take applies an update. Entries must arrive in order, and once.
func (w *pathWorld) take(update feed.Update) {
	switch u := update.(type) {
	case feed.Failed:
		w.t.Fatalf("the client gave up: %v", u.Err)
	case feed.Connected:
		w.connected()
	case feed.Loaded:
		if u.SessionID != w.session {
			return
		}
		for _, entry := range u.Response.Entries {
			if u.Response.Mode == api.ResyncPersistent {
				w.entry(entry)
			}
			w.last = max(w.last, entry.Seq)
		}
		w.state.Load(u.Response)
		if u.Response.Mode != api.ResyncStream {
			w.seq = u.Response.Anchors.StreamLastSeq
		}
	case feed.Happened:
		if u.Event.SessionID == "" || u.Event.SessionID != w.session {
			return
		}
		if u.Event.Seq <= w.seq {
			w.t.Errorf("event %d (%T) was handed on after event %d", u.Event.Seq, u.Event.Event, w.seq)
		}
		w.seq = u.Event.Seq
		if appended, ok := u.Event.Event.(api.EntryAppended); ok {
			w.entry(appended.Entry)
		}
		w.state.Apply(u.Event.Event)
	}
}

func (w *pathWorld) entry(entry session.Entry) {
	if entry.Seq <= w.last {
		w.t.Errorf("entry %d came after entry %d", entry.Seq, w.last)
	}
	w.last = entry.Seq
}

// connected notes the path of a connection.
func (w *pathWorld) connected() {
	used, _ := w.device.Used()
	w.connections++
	w.taken[used.Name()]++
	if w.rank(used) < w.rank(w.used) && !w.lost {
		w.moves++
	}
	w.used, w.lost = used, false
}

// pump takes what has happened, or waits for it; it returns false at the deadline.
func (w *pathWorld) pump(deadline <-chan time.Time) bool {
	select {
	case <-w.wake:
		for _, update := range w.feed.Take() {
			if _, lost := update.(feed.Disconnected); lost {
				w.lost = true
			}
			w.take(update)
		}
		return true
	case <-deadline:
		return false
	}
}

func (w *pathWorld) until(what string, done func() bool) {
	w.t.Helper()
	deadline := time.After(patience)
	for !done() {
		if !w.pump(deadline) {
			var up []string
			for _, lane := range w.lanes {
				up = append(up, fmt.Sprintf("%s up: %v", lane.path.Name(), lane.up))
			}
			w.t.Fatalf("waited %s for %s; in use is %s; %s; the client is at event %d of %s, live %+v", patience, what, w.used, strings.Join(up, ", "), w.seq, w.session, w.state.Live)
		}
	}
}

// awaitBest waits until the client has moved to the best path.
func (w *pathWorld) awaitBest() {
	w.until("the best path", func() bool { return w.used == w.lanes[0].path })
}

// cut takes the path in use down, and brings another one back first, or a moment later.
func (w *pathWorld) cut() {
	used := w.rank(w.used)
	other := w.random.IntN(len(w.lanes))
	late := w.random.IntN(10) == 0 // no path at all for a moment
	if !late && other != used {
		w.lanes[other].heal()
	}
	w.lanes[used].cut()
	if !slices.ContainsFunc(w.lanes, func(l *lane) bool { return l.up }) {
		if late {
			w.pump(time.After(10 * time.Millisecond))
		}
		w.lanes[other].heal()
	}
}

func (w *pathWorld) healAll() {
	for _, lane := range w.lanes {
		lane.heal()
	}
}

// rank returns the place of a path among the lanes, best first.
func (w *pathWorld) rank(p paths.Path) int {
	return slices.IndexFunc(w.lanes, func(l *lane) bool { return l.path == p })
}

// open begins a session.
func (w *pathWorld) open(key string) {
	created, err := client.Call(w.ctx, w.local, api.CreateSession, api.CreateSessionRequest{ProjectID: w.project.ID, ClientKey: key})
	if err != nil {
		w.t.Fatal(err)
	}
	w.session, w.state, w.seq, w.last, w.asked = created.Session.ID, projection.Session{}, 0, 0, map[string]bool{}
	w.feed.Open(w.session)
	w.until("the session", func() bool { return w.state.Summary.ID == w.session })
}

func (w *pathWorld) startFeed(ctx context.Context) {
	w.wake = make(chan struct{}, 1)
	w.feed = feed.New(feed.Config{
		Dial: w.device.Keep, Lost: func(error) bool { return true },
		Notify: func() {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		},
	}, "")
	w.running.Go(func() { w.feed.Run(ctx) })
}
