package host_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestChatTakesDuplicatesInAnyOrder has the platform deliver each message up to four times, in any
// order, also around a restart. Each becomes one prompt, and each answer is shown once.
func TestChatTakesDuplicatesInAnyOrder(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			duplicated(t, rand.New(rand.NewPCG(seed, 0)))
		})
	}
}

func duplicated(t *testing.T, random *rand.Rand) {
	const messages = 12
	var steps []modeltest.Step
	var updates []channel.Update
	for n := range messages {
		steps = append(steps, modeltest.Say(fmt.Sprintf("reply-%02d.", n)))
		m := channel.Message{Chat: group, From: ada, ID: fmt.Sprint("message-", n), Text: fmt.Sprintf("prompt-%02d.", n), Addressed: true}
		for range 1 + random.IntN(4) {
			updates = append(updates, channel.Update{ID: fmt.Sprint("update-", n), Message: &m})
		}
	}
	// A command has no clientKey: only the id of its update tells that it was handled.
	help := channel.Update{ID: "update-help", Message: &channel.Message{Chat: group, From: ada, ID: "message-help", Text: "/help", Addressed: true}}
	random.Shuffle(len(updates), func(i, j int) { updates[i], updates[j] = updates[j], updates[i] })
	s := newChatScene(t, nil, steps...)
	limits := s.platform.Limits()
	limits.Idempotent = false // what is sent again is shown again
	s.platform.SetLimits(limits)
	s.before(func() {
		s.platform.Deliver(help)
		s.shows("cancels the running turn")
		s.platform.Deliver(help)
		for _, u := range updates[:len(updates)/2] {
			s.platform.Deliver(u)
		}
		s.shows("reply-")
	})
	s.platform.Deliver(help) // while the host is down, as what follows
	for _, u := range updates[len(updates)/2:] {
		s.platform.Deliver(u)
	}
	events, signal := signals()
	s.c = dial(t, start(t, s.cfg), signal)
	prompts := func() (all []string, idle bool) {
		r := call(t, s.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.chats()[0].Session, Unattended: true})
		for _, e := range r.Entries {
			if m, ok := e.AsMessage(); ok && e.Role() == session.RoleUser {
				all = append(all, m.Message.Content.Plain())
			}
		}
		return all, r.Live.Turn == nil && len(r.Live.Queue) == 0
	}
	waitUntil(t, "the end of all turns", s.platform.Changed, events, func() bool {
		all, idle := prompts()
		return len(all) >= messages && idle
	})
	s.fake.Say(group, ada, "/status") // is answered after all that waits
	s.shows("State: idle")
	all, _ := prompts()
	text := ""
	for _, m := range s.fake.Shown(group) {
		text += m.Text + "\n"
	}
	for n := range messages {
		if got := strings.Count(strings.Join(all, "\n"), fmt.Sprintf("prompt-%02d.", n)); got != 1 {
			t.Errorf("message %d became %d prompts", n, got)
		}
		if got := strings.Count(text, fmt.Sprintf("reply-%02d.", n)); got > 1 {
			t.Errorf("answer %d is shown %d times", n, got)
		}
	}
	if got := strings.Count(text, "cancels the running turn"); got != 1 {
		t.Errorf("the answer to a command is shown %d times", got)
	}
	if len(all) != messages {
		t.Errorf("%d prompts: %q", len(all), all)
	}
}

// signals returns a handler of events, and a channel that holds a token after any of them.
func signals() (<-chan struct{}, func(api.EventEnvelope)) {
	events := make(chan struct{}, 1)
	return events, func(api.EventEnvelope) {
		select {
		case events <- struct{}{}:
		default:
		}
	}
}

// waitUntil waits until something is so, which may change with the chat and with the events of a
// client.
func waitUntil(t *testing.T, what string, changed func() <-chan struct{}, events <-chan struct{}, ok func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	for {
		now := changed()
		if ok() {
			return
		}
		select {
		case <-now:
		case <-events:
		case <-deadline:
			t.Fatalf("waiting for %s", what)
		}
	}
}
