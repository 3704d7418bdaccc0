package slack_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/slack"
	"github.com/scorel/scorel/apps/host/internal/channel/slack/slacktest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fake { return slacktest.Start(t) })
}

// run returns the next update of a platform that uses the fake, and the cursor after it.
func run(t *testing.T, f *slacktest.Fake, cursor []byte, do func()) (channel.Update, []byte) {
	t.Helper()
	return channeltest.Next(t, f.New(t, channeltest.Token), cursor, do)
}

var ada = channel.Sender{ID: "U1", Name: "Ada"}

// TestLostEvents: what Slack no longer delivers is read from the history, in a thread too.
func TestLostEvents(t *testing.T) {
	for _, room := range []channel.Chat{{ID: "D1", Direct: true}, {ID: "C1/" + slacktest.Stamp(7)}} {
		f := slacktest.Start(t)
		f.Channels["C1"] = map[string]any{"id": "C1", "name": "general"}
		f.Channels["D1"] = map[string]any{"id": "D1", "is_im": true}
		say := func(text string) {
			m, _ := f.Message(room, ada, "")
			m["text"] = "<@" + slacktest.BotID + "> " + text
			f.Deliver("events_api", map[string]any{"event": m})
		}
		_, cursor := run(t, f, nil, func() { say("one") })
		f.Lock()
		f.Deaf, f.Waiting = true, nil
		f.Unlock()
		say("two")
		u, cursor := run(t, f, cursor, func() {})
		if u.Message == nil || u.Message.Text != "two" || u.Message.Chat.ID != room.ID {
			t.Fatalf("in %s: %+v", room.ID, u)
		}
		f.Lock()
		f.Deaf = false
		f.Unlock()
		if u, _ = run(t, f, cursor, func() { say("three") }); u.Message == nil || u.Message.Text != "three" {
			t.Errorf("in %s, then: %+v", room.ID, u)
		}
	}
}

// TestChannels: in a channel, the bot takes what mentions it or answers it in a thread.
func TestChannels(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		change map[string]any
		want   channel.Message
	}{
		"mention":   {"<@UBOT> fix it", nil, channel.Message{Chat: channel.Chat{ID: "C1", Title: "general"}, Text: "fix it"}},
		"event":     {"<@UBOT> fix it", map[string]any{"type": "app_mention", "channel_type": ""}, channel.Message{Chat: channel.Chat{ID: "C1", Title: "general"}, Text: "fix it"}},
		"thread":    {"yes", map[string]any{"thread_ts": slacktest.Stamp(7), "parent_user_id": slacktest.BotID}, channel.Message{Chat: channel.Chat{ID: "C1/" + slacktest.Stamp(7), Title: "general"}, Text: "yes"}},
		"parent":    {"<@UBOT> x", map[string]any{"thread_ts": "its own"}, channel.Message{Chat: channel.Chat{ID: "C1", Title: "general"}, Text: "x"}},
		"reference": {"<@UBOT> see <https://a.example/?x=1&amp;y|a.example> &lt;b&gt; <#C2|dev> <!here>", nil, channel.Message{Chat: channel.Chat{ID: "C1", Title: "general"}, Text: "see https://a.example/?x=1&y <b> #dev @here"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := slacktest.Start(t)
			f.Channels["C1"] = map[string]any{"id": "C1", "name": "general"}
			room := channel.Chat{ID: "C1"}
			u, _ := run(t, f, nil, func() {
				f.Say(room, ada, "hello all")
				joined, _ := f.Message(room, ada, "")
				joined["subtype"], joined["text"] = "channel_join", "<@UBOT> joined"
				f.Deliver("events_api", map[string]any{"event": joined})
				m, _ := f.Message(room, ada, "")
				m["text"] = test.text
				for k, v := range test.change {
					m[k] = v
				}
				if m["thread_ts"] == "its own" {
					m["thread_ts"] = m["ts"]
				}
				f.Deliver("events_api", map[string]any{"event": m})
			})
			if u.Message == nil || u.Message.Chat != test.want.Chat || u.Message.Text != test.want.Text || u.Message.From.Name != "Ada" {
				t.Errorf("update: %+v", u.Message)
			}
		})
	}
}

// TestNotices: the answer to a press is shown to the person who pressed.
func TestNotices(t *testing.T) {
	f := slacktest.Start(t)
	p := f.New(t, channeltest.Token)
	press := channel.Press{Chat: channel.Chat{ID: "C1"}, From: ada}
	for _, notice := range []string{"", "Bo answered first. <!channel>"} {
		if err := p.Answer(t.Context(), press, notice); err != nil {
			t.Error(err)
		}
	}
	if len(f.Notices) != 1 || f.Notices[0] != "Bo answered first. <!channel>" {
		t.Errorf("the notices are %q", f.Notices)
	}
}

// TestGarbage: what cannot be read is acknowledged, so that Slack does not send it for ever.
func TestGarbage(t *testing.T) {
	f := slacktest.Start(t)
	u, _ := run(t, f, nil, func() {
		for _, payload := range []any{nil, 1, "x", []int{1}, map[string]any{"event": 1}, map[string]any{"event": map[string]any{"type": "message", "subtype": "message_changed"}}} {
			f.Deliver("events_api", payload)
			f.Deliver("interactive", payload)
			f.Deliver("slash_commands", payload)
		}
		f.Say(channel.Chat{ID: "D1", Direct: true}, ada, "after")
	})
	if u.Message == nil || u.Message.Text != "after" {
		t.Errorf("update: %+v", u)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []slack.Options{
		{}, {Token: "xoxb-1"}, {Token: "xapp-1", AppToken: "xoxb-1"}, {Token: "xoxb-a b", AppToken: "xapp-1"}, {Token: "xoxb-1", AppToken: "xapp-1", API: "http://example.com"},
	} {
		if _, err := slack.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
