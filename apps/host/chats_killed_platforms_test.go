//go:build unix

package host_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
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
