//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook/webhooktest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// killedChat is a chat whose host is killed again and again.
type killedChat struct {
	t             *testing.T
	program, home string
	on            killedPlatform
	fake          killable
	repeats       bool // the platform shows a message again that is sent again
	pressed       map[string]bool
	c             *client.Client // of the host that runs
	events        <-chan struct{}

	mu   sync.Mutex
	kill func() // called at a request, unless nil
	left int    // requests until then, twice each
}

// TestKilledInAChat kills the process of a host with a chat at each step that a message, an
// approval and an answer put on disk, of the session and of the channel, and at each request to the
// chat server: when it arrives, and when it was handled and not answered. The next host finds all
// messages, answers, and sends all of the answers, and nothing twice. A server that does not know the
// keys of messages shows one message twice at most.
func TestKilledInAChat(t *testing.T) {
	bound, program := newBoundChat(t, onWebhook()), plainProgram(t)
	for name, steps := range map[string]struct {
		first, stride, least int
		requests, repeats    bool
	}{
		"odd steps":             {first: 1, stride: 2, least: 25},
		"even steps":            {first: 2, stride: 2, least: 25},
		"requests":              {first: 1, stride: 1, least: 10, requests: true},
		"requests without keys": {first: 1, stride: 1, least: 10, requests: true, repeats: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := bound.copied(t, program, steps.repeats)
			step, round := steps.first, 0
			for whole := false; !whole; round++ {
				over, approved := k.killedAt(round, step, steps.requests)
				whole = over && approved // an answer without approval has fewer steps
				if !over {
					step += steps.stride
				}
			}
			if step < steps.least {
				t.Errorf("the last step is %d: the test does not cover what it should", step)
			}
			k.check(round)
		})
	}
}

// boundChat is a home whose chat is bound to a project on a platform.
type boundChat struct {
	on         killedPlatform
	home, file string
	channel    []byte
}

func newBoundChat(t *testing.T, on killedPlatform) boundChat {
	t.Helper()
	b := boundChat{on: on, home: t.TempDir()}
	configure(t, b.home, "http://127.0.0.1:0", "")
	fake := on.start(t, func(string) {})
	h, ended := run(t, host.Config{Home: b.home, Projects: []string{t.TempDir()}})
	c := dial(t, h, nil)
	settings := maps.Clone(on.settings)
	settings[on.address] = fake.URL()
	added := call(t, c, api.AddChannel, api.AddChannelRequest{ClientKey: "k", Kind: on.kind, Settings: settings})
	code := call(t, c, api.PairChannel, api.PairChannelRequest{ID: added.Channel.ID, ProjectID: call(t, c, api.ListProjects, api.Empty{}).Projects[0].ID})
	on.listens(t, fake)
	fake.Say(on.chat, on.from, code.Code)
	waitUntil(t, "the connection", fake.Changed, nil, func() bool { return has(fake.Shown(on.chat), "Connected to") })
	_, _ = client.Call(t.Context(), c, api.StopHost, api.Empty{}) // the answer may be lost in the end
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	b.file = added.Channel.ID + ".json"
	var err error
	if b.channel, err = os.ReadFile(filepath.Join(b.home, "channels", b.file)); err != nil {
		t.Fatal(err)
	}
	return b
}

// copied makes a home of its own, whose channel is on another server that has delivered nothing.
func (b boundChat) copied(t *testing.T, program string, repeats bool) *killedChat {
	t.Helper()
	k := &killedChat{t: t, program: program, on: b.on, home: filepath.Join(t.TempDir(), "home"), repeats: repeats, pressed: map[string]bool{}}
	k.fake = b.on.start(t, k.request)
	if server, ok := k.fake.(*webhooktest.Server); ok && repeats {
		limits := server.Limits()
		limits.Idempotent = false
		server.SetLimits(limits)
	}
	model := modeltest.Serve(killedSteps(filepath.Base(t.Name()), b.on.line)...)
	t.Cleanup(model.Close)
	err := errors.Join(os.CopyFS(k.home, os.DirFS(b.home)), os.Chmod(filepath.Join(k.home, "identity.json"), 0o600), os.Chmod(filepath.Join(k.home, "secrets.json"), 0o600))
	var file map[string]json.RawMessage
	err = errors.Join(err, json.Unmarshal(b.channel, &file))
	var settings map[string]string
	err = errors.Join(err, json.Unmarshal(file["settings"], &settings))
	settings[b.on.address] = k.fake.URL()
	file["settings"], _ = json.Marshal(settings)
	for _, name := range []string{"cursor", "seen", "inbox", "outbox"} {
		delete(file, name)
	}
	data, _ := json.Marshal(file)
	if err = errors.Join(err, os.WriteFile(filepath.Join(k.home, "channels", b.file), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	configure(t, k.home, model.URL, "")
	return k
}

// killedSteps are calls that need approval and answers in turn. An answer has six lines of a length. The
// files that the calls make begin with a name.
func killedSteps(of string, length int) (steps []modeltest.Step) {
	for n := range 100 {
		name := fmt.Sprintf("%s-%03d", of, n)
		steps = append(steps, modeltest.Calls(modeltest.Call(name, "write_file", `{"path":"`+name+`.txt","content":"x"}`)))
		var text strings.Builder
		for line := range 6 {
			fmt.Fprintf(&text, "answer-%03d-line-%d %s\n\n", n, line, strings.Repeat("x", length))
		}
		say := modeltest.Say(text.String() + "The end.")
		say.Piece = 4096
		steps = append(steps, say)
	}
	return steps
}

// request is called twice for each request to the chat server, and for events of the platforms.
func (k *killedChat) request(string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.left == 0 {
		return
	}
	if k.left--; k.left == 0 {
		k.kill()
	}
}

// killedAt sends a message to a host that is killed at a step, and reports whether all that follows
// from the message ended before the step, and whether it needed an approval.
func (k *killedChat) killedAt(round, step int, requests bool) (over, approved bool) {
	k.t.Helper()
	k.mu.Lock()
	k.left = 0 // of a round that ended before its step
	k.mu.Unlock()
	child := beginChat(k.t, k.program, k.home)
	defer child.kill()
	k.c, k.events = child.dial()
	if !k.settles(child, round) { // what the host before has left
		k.t.Fatalf("the host died before step %d: %s", step, child.stderr.String())
	}
	k.on.listens(k.t, k.fake)
	if requests {
		child.arm(0) // returns when no message waits to be sent: the requests that follow are of the next one
		k.mu.Lock()
		k.kill, k.left = child.kill, step
		k.mu.Unlock()
	} else {
		child.arm(step)
	}
	k.allow() // an approval that was sent again belongs to an earlier message
	before := len(k.pressed)
	k.fake.Say(k.on.chat, k.on.from, fmt.Sprintf("!new message-%03d.", round))
	over = k.settles(child, round+1)
	return over, len(k.pressed) > before
}

// settles allows what the chat asks until so many messages are prompts, nothing runs, and all that was
// said is in the chat. It returns false if the host dies first. It reads the logs because the chat does
// not show which turns have ended: a server without keys may show twice that the host stopped during a
// turn, and that text does not name the turn.
func (k *killedChat) settles(child *mortalChat, messages int) bool {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), time.Minute)
	defer cancel()
	for {
		changed := k.fake.Changed()
		k.allow()
		all, err := readLogs(ctx, k.c) // fails when the host dies
		if err == nil && len(all.prompts) >= messages && all.rest && all.shownIn(k.fake.Shown(k.on.chat)) {
			return true
		}
		select {
		case <-changed:
		case <-k.events:
		case <-child.dead:
			return false
		case <-ctx.Done():
			k.t.Fatalf("waiting for the end of %d messages, of which %d are prompts (at rest: %t, error: %v); the chat ends with %.300q\n%s",
				messages, len(all.prompts), all.rest, err, last(k.fake.Shown(k.on.chat)), child.stderr.String())
		}
	}
}

// allow allows what the chat asks, once for each message that asks.
func (k *killedChat) allow() {
	for _, m := range k.fake.Shown(k.on.chat) {
		if i := slices.IndexFunc(m.Buttons, func(b channel.Button) bool { return b.Label == "Allow once" }); i >= 0 && !k.pressed[m.ID] {
			k.pressed[m.ID] = true
			k.fake.Press(k.on.chat, k.on.from, m.ID, m.Buttons[i].Data)
		}
		if code := allowCode.FindString(m.Text); code != "" && !k.pressed[code] { // there are no buttons
			k.pressed[code] = true
			k.fake.Say(k.on.chat, k.on.from, code)
		}
	}
}

// last returns the newest messages.
func last(shown []channeltest.Shown) (texts []string) {
	for _, m := range shown[max(0, len(shown)-8):] {
		texts = append(texts, m.Text)
	}
	return texts
}

const hostEnded = "The host stopped during this turn"

// allowCode matches what allows a call.
var allowCode = regexp.MustCompile(`/allow [A-Z0-9]{5}`)

// answerLine matches a line of an answer.
var answerLine = regexp.MustCompile(`answer-\d+-line-\d`)

// said matches what a model says once, a message that became a prompt, and the end of a turn.
var said = regexp.MustCompile(`answer-\d+-line-\d|message-\d+\.|` + hostEnded)

// check compares the chat with the logs of the sessions: each message is one prompt, and each line
// that the agent said, and each turn that a kill ended, is in the chat once.
func (k *killedChat) check(rounds int) {
	t := k.t
	t.Helper()
	events, signal := signals()
	c := dial(t, start(t, host.Config{Home: k.home}), signal)
	k.fake.Say(k.on.chat, k.on.from, "!status") // is answered after all that waits
	waitUntil(t, "the status", k.fake.Changed, events, func() bool { return has(k.fake.Shown(k.on.chat), "State: idle") })
	all, shown, asking := logsOf(t, c), saidIn(k.fake.Shown(k.on.chat)), 0
	for _, m := range k.fake.Shown(k.on.chat) {
		asking += len(m.Buttons)
	}
	for round := range rounds {
		if message := fmt.Sprintf("message-%03d.", round); all.prompts[message] != 1 {
			t.Errorf("%s became %d prompts", message, all.prompts[message])
		}
	}
	if len(all.prompts) != rounds || all.sessions != rounds {
		t.Errorf("%d messages became prompts, %d sessions, of %d", len(all.prompts), all.sessions, rounds)
	}
	twice := 0
	for text, n := range all.log {
		switch again := shown[text] - n; {
		case again < 0:
			t.Errorf("%q was said %d times and shown %d times", text, n, shown[text])
		case again > 0:
			twice++
		}
	}
	if !k.repeats && (twice > 0 || asking > 0) {
		t.Errorf("%d lines are in the chat twice, and %d buttons are left", twice, asking)
	}
	if k.repeats && twice > 4*rounds { // a kill repeats one message, of four lines at most
		t.Errorf("%d lines are in the chat twice", twice)
	}
	if _, ok := k.fake.(*webhooktest.Server); ok && k.repeats && twice == 0 {
		t.Error("nothing is in the chat twice: the test does not see what it should")
	}
}

// logs are what the logs of all sessions say: how often each message is a prompt, and each line of
// an answer and end of a turn was said.
type logs struct {
	sessions     int
	prompts, log map[string]int
	rest         bool // nothing runs or is queued
}

func logsOf(t *testing.T, c *client.Client) logs {
	t.Helper()
	all, err := readLogs(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func readLogs(ctx context.Context, c *client.Client) (logs, error) {
	list, err := client.Sessions(ctx, c, api.ListSessionsRequest{})
	if err != nil {
		return logs{}, err
	}
	all := logs{sessions: len(list), prompts: map[string]int{}, log: map[string]int{}, rest: true}
	for _, s := range list {
		r, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.ID, Unattended: true})
		if err != nil {
			return logs{}, err
		}
		all.rest = all.rest && r.Live.Turn == nil && len(r.Live.Queue) == 0
		for _, e := range r.Entries {
			m, isMessage := e.AsMessage()
			switch {
			case e.CustomType == session.CustomTurn:
				all.log[hostEnded]++
			case isMessage && e.Role() == session.RoleUser:
				count(all.prompts, m.Message.Content.Plain())
			case isMessage && e.Role() == session.RoleAssistant:
				count(all.log, m.Message.Content.Plain())
			}
		}
	}
	return all, nil
}

// shownIn reports whether a chat shows all that was said.
func (l logs) shownIn(chat []channeltest.Shown) bool {
	shown := saidIn(chat)
	for text, n := range l.log {
		if shown[text] < n {
			return false
		}
	}
	return true
}

// saidIn counts what a chat shows.
func saidIn(chat []channeltest.Shown) map[string]int {
	shown := map[string]int{}
	for _, m := range chat {
		count(shown, m.Text)
	}
	return shown
}

func count(in map[string]int, text string) {
	for _, one := range said.FindAllString(text, -1) {
		in[one]++
	}
}
