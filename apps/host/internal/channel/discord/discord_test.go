package discord_test

import (
	"errors"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/discord"
	"github.com/scorel/scorel/apps/host/internal/channel/discord/discordtest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fake { return discordtest.Start(t) })
}

// run returns the next update of a platform that uses the fake, and the cursor after it.
func run(t *testing.T, f *discordtest.Fake, cursor []byte, do func()) (channel.Update, []byte) {
	t.Helper()
	return channeltest.Next(t, f.New(t, channeltest.Token), cursor, do)
}

var (
	ada  = channel.Sender{ID: "4711", Name: "Ada"}
	room = channel.Chat{ID: "4711", Direct: true}
)

// TestALostSession: what was written while no session could be resumed is read from the history.
func TestALostSession(t *testing.T) {
	f := discordtest.Start(t)
	_, cursor := run(t, f, nil, func() { f.Say(room, ada, "one") })
	f.Gate.Forget()
	f.Say(room, ada, "two") // to the history only
	f.Gate.Forget()
	u, cursor := run(t, f, cursor, func() {})
	if u.Message == nil || u.Message.Text != "two" || !u.Message.Chat.Direct {
		t.Fatalf("update: %+v", u)
	}
	if u, _ = run(t, f, cursor, func() { f.Say(room, ada, "three") }); u.Message == nil || u.Message.Text != "three" {
		t.Errorf("then: %+v", u)
	}
}

// TestServers: in a server, the bot takes what mentions or answers it, and knows threads.
func TestServers(t *testing.T) {
	f := discordtest.Start(t)
	f.Guild["50"] = map[string]any{"id": "50", "guild_id": "7", "type": 0, "name": "general"}
	f.Guild["51"] = map[string]any{"id": "51", "guild_id": "7", "type": 11, "name": "a thread", "parent_id": "50"}
	me := map[string]any{"id": discordtest.BotID, "username": "scorel"}
	say := func(chat, text string, change func(map[string]any)) func() {
		return func() {
			m, _ := f.Message(channel.Chat{ID: chat}, ada, text)
			change(m)
			f.Gate.Send("MESSAGE_CREATE", m)
		}
	}
	for name, test := range map[string]struct {
		chat, text string
		change     func(map[string]any)
		want       channel.Message
	}{
		"mention": {"50", "<@999>  fix it", func(m map[string]any) { m["mentions"] = []any{me} }, channel.Message{Chat: channel.Chat{ID: "50", Title: "general"}, Text: "fix it"}},
		"within":  {"50", "fix it, <@999>", func(m map[string]any) { m["mentions"] = []any{me} }, channel.Message{Chat: channel.Chat{ID: "50", Title: "general"}, Text: "fix it, <@999>"}},
		"answer": {"51", "yes", func(m map[string]any) {
			m["type"], m["referenced_message"] = 19, map[string]any{"id": "1", "author": me}
		},
			channel.Message{Chat: channel.Chat{ID: "50/51", Title: "a thread"}, Text: "yes"}},
	} {
		t.Run(name, func(t *testing.T) {
			u, _ := run(t, f, nil, func() {
				say(test.chat, "hello all", func(map[string]any) {})()                                         // not for the bot
				say(test.chat, "joined", func(m map[string]any) { m["type"], m["mentions"] = 7, []any{me} })() // a notice
				say(test.chat, test.text, test.change)()
			})
			if u.Message == nil || u.Message.Chat != test.want.Chat || u.Message.Text != test.want.Text || !u.Message.Addressed {
				t.Errorf("update: %+v", u.Message)
			}
		})
	}
}

// TestFilesOfOtherHosts: a file is read from Discord's hosts only.
func TestFilesOfOtherHosts(t *testing.T) {
	f := discordtest.Start(t)
	u, _ := run(t, f, nil, func() { f.Attach(room, ada, "look", "a.txt", []byte("x")) })
	f.Lock()
	f.Said[u.Message.ID]["attachments"].([]any)[0].(map[string]any)["url"] = "http://127.0.0.1:1/metadata"
	f.Unlock()
	if _, err := f.New(t, channeltest.Token).Fetch(t.Context(), u.Message.Files[0]); !errors.Is(err, channel.ErrRejected) {
		t.Errorf("the error is %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []discord.Options{{}, {Token: "a b"}, {Token: "x", API: "http://example.com"}} {
		if _, err := discord.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
