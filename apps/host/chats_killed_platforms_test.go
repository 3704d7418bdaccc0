//go:build unix

package host_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/discord/discordtest"
	"github.com/scorel/scorel/apps/host/internal/channel/qq/qqtest"
	"github.com/scorel/scorel/apps/host/internal/channel/slack/slacktest"
	"github.com/scorel/scorel/apps/host/internal/channel/telegram/telegramtest"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook/webhooktest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// killable is a fake of a platform.
type killable interface {
	channeltest.Fake
	// Changed returns a channel that is closed when the chat may show something else.
	Changed() <-chan struct{}
	// URL is the address of the platform, for a setting.
	URL() string
}

// killedPlatform is a platform whose host is killed.
type killedPlatform struct {
	kind     string
	settings map[string]string // without the address
	address  string            // the setting with the address
	chat     channel.Chat
	from     channel.Sender
	line     int // the length of a line, six of which are an answer
	start    func(t *testing.T, step func(what string)) killable
	sends    string // how the path ends of a request that sends a message
	repeats  bool   // the platform shows a message again that is sent again
	// begun reports whether what is written reaches a host; nil means that it always does.
	begun func(killable) bool
	// acknowledged reports whether the host has acknowledged all that was written; nil means that
	// the platform has no acknowledgements.
	acknowledged func(killable) bool
}

// listens waits until what is written reaches the host.
func (on killedPlatform) listens(t *testing.T, f killable) {
	t.Helper()
	if on.begun != nil {
		waitUntil(t, "the connection to the platform", f.Changed, nil, func() bool { return on.begun(f) })
	}
}

func onWebhook() killedPlatform {
	return killedPlatform{
		kind: "webhook", settings: map[string]string{"secret": channeltest.Token}, address: "url", chat: group, from: ada, line: 4000,
		start: func(t *testing.T, step func(string)) killable {
			f := webhooktest.Start(t)
			f.Step = func(path string) {
				if path != "/hook/events" {
					step(path)
				}
			}
			return f
		},
	}
}

func onTelegram() killedPlatform {
	return killedPlatform{
		kind: "telegram", settings: map[string]string{"token": channeltest.Token}, sends: "/sendMessage", repeats: true,
		start: func(t *testing.T, step func(string)) killable {
			f := telegramtest.Start(t)
			f.Step = step
			return f
		},
		acknowledged: func(f killable) bool { return f.(*telegramtest.Fake).Acknowledged() },
	}
}

// onSlack is Slack without its history, from which the host would read updates that it has lost.
func onSlack() killedPlatform {
	return killedPlatform{
		kind: "slack", settings: map[string]string{"token": "xoxb-" + channeltest.Token, "app-token": "xapp-" + channeltest.Token}, sends: "/chat.postMessage", repeats: true,
		start: func(t *testing.T, step func(string)) killable {
			f := slacktest.Start(t)
			f.Step, f.Forgets = step, true
			return f
		},
		acknowledged: func(f killable) bool { return f.(*slacktest.Fake).Acknowledged() },
	}
}

func onDiscord() killedPlatform {
	return killedPlatform{
		kind: "discord", settings: map[string]string{"token": channeltest.Token}, sends: "/messages",
		start: func(t *testing.T, step func(string)) killable {
			f := discordtest.Start(t)
			f.Step = step
			return f
		},
		begun: func(f killable) bool { return f.(*discordtest.Fake).Gate.Begun() },
	}
}

func onQQ() killedPlatform {
	return killedPlatform{
		kind: "qq", settings: map[string]string{"app-id": "1024", "secret": channeltest.Token}, sends: "/messages",
		start: func(t *testing.T, step func(string)) killable {
			f := qqtest.Start(t)
			f.Step = step
			return f
		},
		begun: func(f killable) bool { return f.(*qqtest.Fake).Gate.Begun() },
	}
}

// The points of a message at which a fake kills the host: its acknowledgement has arrived, the request
// that sends one has arrived, and that was handled and not answered.
const (
	pointAcknowledged = "acknowledged"
	pointArrived      = "arrived"
	pointHandled      = "handled"
)

// TestKilledOnAPlatform kills the process of a host at each point at which a message passes between a
// platform and the host, in both directions. The next host has each message once, and the chat all that
// was said, in order. A platform that does not recognize a message shows it again that was sent, if the
// host could not store that. TestKilledInAChat has the steps that are common to the platforms.
func TestKilledOnAPlatform(t *testing.T) {
	program := plainProgram(t)
	for _, on := range []killedPlatform{onTelegram(), onSlack(), onDiscord(), onQQ()} {
		t.Run(on.kind, func(t *testing.T) {
			t.Parallel()
			p := newPlatformChat(t, program, on)
			points := []string{pointReceived, pointStored, pointAcknowledged, pointArrived, pointHandled, pointAnswered}
			if on.acknowledged == nil {
				points = slices.DeleteFunc(points, func(point string) bool { return point == pointAcknowledged })
			}
			for n, point := range points {
				p.killedAt(n, point)
				p.begin()
				p.settles(n + 1)
			}
			p.check(len(points))
		})
	}
}

// platformChat is a chat on a platform whose host is killed again and again.
type platformChat struct {
	t             *testing.T
	program, home string
	on            killedPlatform
	fake          killable
	host          *mortalChat
	c             *client.Client // of the host
	events        <-chan struct{}

	mu sync.Mutex
	at string // the point at which the fake kills the host; "" is none
}

// newPlatformChat starts a host, and binds a chat.
func newPlatformChat(t *testing.T, program string, on killedPlatform) *platformChat {
	t.Helper()
	on.chat, on.from, on.address = channel.Chat{ID: "4711", Direct: true}, ada, "api"
	p := &platformChat{t: t, program: program, home: t.TempDir(), on: on}
	var steps []modeltest.Step
	for n := range 20 {
		say := modeltest.Say(fmt.Sprintf("answer-%03d-line-0.", n))
		say.Piece = 4096
		steps = append(steps, say)
	}
	model := modeltest.Serve(steps...)
	t.Cleanup(model.Close)
	configure(t, p.home, model.URL, "")
	p.fake = on.start(t, p.step)
	p.begin()
	settings := maps.Clone(on.settings)
	settings[on.address] = p.fake.URL()
	project := call(t, p.c, api.AddProject, api.AddProjectRequest{Path: t.TempDir()}).Project
	added := call(t, p.c, api.AddChannel, api.AddChannelRequest{ClientKey: "k", Kind: on.kind, Settings: settings})
	code := call(t, p.c, api.PairChannel, api.PairChannelRequest{ID: added.Channel.ID, ProjectID: project.ID})
	on.listens(t, p.fake)
	p.fake.Say(on.chat, on.from, code.Code)
	waitUntil(t, "the chat", p.fake.Changed, nil, func() bool { return has(p.fake.Shown(on.chat), "Connected to") })
	p.settles(0)
	return p
}

// begin starts a host, and connects to it.
func (p *platformChat) begin() {
	p.t.Helper()
	p.host = beginChat(p.t, p.program, p.home)
	p.c, p.events = p.host.dial()
}

// step is called for all that the fake does.
func (p *platformChat) step(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at != "" && (what == p.at || strings.HasPrefix(what, p.at+" POST ") && strings.HasSuffix(what, p.on.sends)) {
		p.at = ""
		p.host.kill()
		if strings.HasPrefix(what, pointArrived) {
			panic(http.ErrAbortHandler) // so that it is not handled
		}
	}
}

// killedAt sends a message to the host, which dies at a point of it or of its answer.
func (p *platformChat) killedAt(n int, point string) {
	p.t.Helper()
	p.host.arm(point)
	p.mu.Lock()
	p.at = point
	p.mu.Unlock()
	p.fake.Say(p.on.chat, p.on.from, fmt.Sprintf("message-%03d.", n))
	select {
	case <-p.host.dead:
	case <-time.After(time.Minute):
		p.t.Fatalf("the host did not reach the point %q; the chat ends with %.300q\n%s", point, last(p.fake.Shown(p.on.chat)), p.host.stderr.String())
	}
}

// settles waits until so many messages are prompts and were acknowledged, and all that was said is in the
// chat.
func (p *platformChat) settles(messages int) {
	p.t.Helper()
	waitUntil(p.t, fmt.Sprintf("all that follows from %d messages", messages), p.fake.Changed, p.events, func() bool {
		all := logsOf(p.t, p.c)
		return len(all.prompts) >= messages && all.rest && all.shownIn(p.fake.Shown(p.on.chat)) && (p.on.acknowledged == nil || p.on.acknowledged(p.fake))
	})
}

// again counts the messages that are in the chat more often than in the log.
func (p *platformChat) again(all logs) (n int) {
	shown := saidIn(p.fake.Shown(p.on.chat))
	for text, logged := range all.log {
		n += shown[text] - logged
	}
	return n
}

// check compares the chat with the log of its session.
func (p *platformChat) check(messages int) {
	p.t.Helper()
	all := logsOf(p.t, p.c)
	for n := range messages {
		if message := fmt.Sprintf("message-%03d.", n); all.prompts[message] != 1 {
			p.t.Errorf("%s became %d prompts", message, all.prompts[message])
		}
	}
	if len(all.prompts) != messages || all.sessions != 1 {
		p.t.Errorf("%d messages became %d prompts in %d sessions", messages, len(all.prompts), all.sessions)
	}
	want := map[bool]int{true: 2}[p.on.repeats] // those that were sent and not stored
	waitUntil(p.t, "what is sent again", p.fake.Changed, p.events, func() bool { return p.again(all) >= want })
	if again := p.again(all); again != want {
		p.t.Errorf("%d messages are in the chat again, not %d: %q", again, want, last(p.fake.Shown(p.on.chat)))
	}
	var answers []string
	for _, m := range p.fake.Shown(p.on.chat) {
		answers = append(answers, answerLine.FindAllString(m.Text, -1)...)
	}
	if !slices.IsSorted(answers) {
		p.t.Errorf("the answers are in the order %q", answers)
	}
}
