//go:build unix

package host_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/discord/discordtest"
	"github.com/scorel/scorel/apps/host/internal/channel/qq/qqtest"
	"github.com/scorel/scorel/apps/host/internal/channel/slack/slacktest"
	"github.com/scorel/scorel/apps/host/internal/channel/telegram/telegramtest"
	"github.com/scorel/scorel/apps/host/internal/channel/webhook/webhooktest"
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
	start    func(t *testing.T, step func()) killable
	// hears reports whether what is written reaches a host; nil means that it always does.
	hears func(killable) bool
}

// listens waits until what is written reaches the host.
func (on killedPlatform) listens(t *testing.T, f killable) {
	t.Helper()
	if on.hears != nil {
		waitUntil(t, "the connection to the platform", f.Changed, nil, func() bool { return on.hears(f) })
	}
}

func onWebhook() killedPlatform {
	return killedPlatform{
		kind: "webhook", settings: map[string]string{"secret": channeltest.Token}, address: "url", chat: group, from: ada, line: 4000,
		start: func(t *testing.T, step func()) killable {
			f := webhooktest.Start(t)
			f.Step = func(path string) {
				if path != "/hook/events" {
					step()
				}
			}
			return f
		},
	}
}

// TestKilledOnAPlatform kills the process of a host at steps of what a platform does itself: when an
// update is on its way, when it is stored and not acknowledged, when a message was sent and not
// answered, and when a session of a gateway is resumed. It is told as TestKilledInAChat is, which has
// all steps of what is common to the platforms.
func TestKilledOnAPlatform(t *testing.T) {
	t.Parallel()
	program := plainProgram(t)
	direct := channel.Chat{ID: "4711", Direct: true}
	for _, test := range []struct {
		killedPlatform
		steps, requests []int
	}{
		{killedPlatform{
			kind: "telegram", settings: map[string]string{"token": channeltest.Token}, address: "api", line: 1000,
			start: func(t *testing.T, step func()) killable {
				f := telegramtest.Start(t)
				f.Step = step
				return f
			},
		}, []int{9}, []int{1, 2, 5}},
		{killedPlatform{
			kind: "slack", settings: map[string]string{"token": "xoxb-" + channeltest.Token, "app-token": "xapp-" + channeltest.Token}, address: "api", line: 700,
			start: func(t *testing.T, step func()) killable {
				f := slacktest.Start(t)
				f.Step = step
				return f
			},
		}, []int{9}, []int{1, 2, 5}},
		{killedPlatform{
			kind: "discord", settings: map[string]string{"token": channeltest.Token}, address: "api", line: 500,
			start: func(t *testing.T, step func()) killable {
				f := discordtest.Start(t)
				f.Step = step
				return f
			},
			hears: func(f killable) bool { return f.(*discordtest.Fake).Gate.Begun() },
		}, []int{9}, []int{1, 2, 5}},
		{killedPlatform{
			kind: "qq", settings: map[string]string{"app-id": "1024", "secret": channeltest.Token}, address: "api", line: 200,
			start: func(t *testing.T, step func()) killable {
				f := qqtest.Start(t)
				f.Step = step
				return f
			},
			hears: func(f killable) bool { return f.(*qqtest.Fake).Gate.Begun() },
		}, []int{9}, []int{1, 2, 5}},
	} {
		t.Run(test.kind, func(t *testing.T) {
			t.Parallel()
			test.chat, test.from = direct, channel.Sender{ID: "4711", Name: "Ada"}
			bound := newBoundChat(t, test.killedPlatform)
			k := bound.copied(t, program, test.kind != "discord") // which knows the keys of messages
			round, killed := 0, 0
			whole := func() {
				if !k.killedAt(round, 1000, false) {
					t.Fatal("the host died")
				}
				round++
			}
			whole() // a session of a gateway has begun then
			for _, at := range []struct {
				steps    []int
				requests bool
			}{{test.steps, false}, {test.requests, true}} {
				for _, step := range at.steps {
					if !k.killedAt(round, step, at.requests) {
						killed++
					}
					round++
				}
			}
			whole() // and all turns have ended
			if killed < 3 {
				t.Errorf("only %d hosts were killed", killed)
			}
			k.check(round)
		})
	}
}
