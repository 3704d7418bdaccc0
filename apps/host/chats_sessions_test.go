package host_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func TestChatSurvivesARestart(t *testing.T) {
	s := newChatScene(t, nil, modeltest.Say("First answer."), modeltest.Say("Second answer."))
	s.before(func() {
		s.fake.Say(group, ada, "one")
		s.shows("First answer.")
	})
	s.fake.Say(group, ada, "two") // while the host is down
	s.c = dial(t, start(t, s.cfg), func(api.EventEnvelope) {})
	s.shows("Second answer.")
	s.fake.Again() // the platform delivers the last message again
	s.fake.Say(group, ada, "/status")
	s.shows("State: ")
	s.fake.Again() // a command, which has no clientKey
	s.fake.Say(group, ada, "/help")
	s.shows("cancels the running turn")
	count := map[string]int{}
	for _, m := range s.fake.Shown(group) {
		first, _, _ := strings.Cut(m.Text, ":")
		count[first]++
	}
	if count["First answer."] != 1 || count["Second answer."] != 1 || count["Project"] != 1 || len(s.server.Bodies()) != 2 {
		t.Errorf("shown: %v, %d requests", count, len(s.server.Bodies()))
	}
}

func TestChatSessionsAndEdits(t *testing.T) {
	s := newChatScene(t, nil, modeltest.Say("Alpha."), modeltest.Step{Content: session.Content{session.Text("Beta.")}, Stall: true}, modeltest.Say("Gamma."))
	s.open()
	s.pair()
	s.fake.Say(group, ada, "first session")
	s.shows("Alpha.")
	first := s.chats()[0].Session
	s.fake.Say(group, ada, "/new second session")
	s.shows("Beta.")
	queued := s.fake.Say(group, ada, "a mistake")
	s.shows("Queued")
	s.fake.Edit(group, queued, "the right words")
	removed := s.fake.Say(group, ada, "never mind")
	s.fake.Remove(group, removed)
	s.fake.Say(group, ada, "/stop")
	s.shows("Gamma.")
	if body := s.asked(3); !strings.Contains(body, "the right words") || strings.Contains(body, "a mistake") || strings.Contains(body, "never mind") {
		t.Errorf("the model was sent %s", body)
	}
	now := call(t, s.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.chats()[0].Session, Unattended: true})
	for _, e := range now.Entries {
		if m, ok := e.AsMessage(); ok && strings.Contains(m.Message.Content.Plain(), "never mind") {
			t.Error("a message that was deleted is a prompt")
		}
	}
	if len(now.Live.Queue) > 0 {
		t.Errorf("still queued: %+v", now.Live.Queue)
	}
	s.fake.Say(group, ada, "/sessions")
	list := s.shows("1. second")
	for _, b := range list.Buttons {
		if strings.HasSuffix(b.Data, first) {
			s.fake.Press(group, ada, list.ID, b.Data)
		}
	}
	s.shows("Messages go to the session")
	if chat := s.chats()[0]; chat.Session != first {
		t.Errorf("the chat is in %s, not in %s", chat.Session, first)
	}
}

// TestChatWaitsForThePlatform has the platform refuse an answer, for a while and then for its
// rate, and checks that it arrives once.
func TestChatWaitsForThePlatform(t *testing.T) {
	s := newChatScene(t, nil, modeltest.Say("Patience."))
	s.open()
	s.pair()
	s.fake.Limit(time.Second)
	s.fake.Say(group, ada, "hi")
	s.shows("Patience.")
	s.fake.Break()
	s.fake.Say(group, ada, "/status")
	s.shows("State: idle")
	n := 0
	for _, m := range s.fake.Shown(group) {
		n += strings.Count(m.Text, "Patience.")
	}
	if n != 1 {
		t.Errorf("the answer is shown %d times", n)
	}
}

// TestChatIsBoundAgain binds one chat twice: the second code replaces the first binding.
func TestChatIsBoundAgain(t *testing.T) {
	s := newChatScene(t, nil, modeltest.Say("One."), modeltest.Say("Two."))
	s.open()
	s.pair()
	s.fake.Say(group, ada, "first")
	s.shows("One.")
	before := s.chats()[0]
	code := call(t, s.c, api.PairChannel, api.PairChannelRequest{ID: s.channel, ProjectID: s.project, Grants: []api.Grant{api.GrantView, api.GrantPrompt}})
	s.fake.Say(group, ada, code.Code)
	s.await("the second connection", func(shown []channeltest.Shown) bool {
		n := 0
		for _, m := range shown {
			n += strings.Count(m.Text, "Connected to")
		}
		return n == 2
	})
	s.fake.Say(group, ada, "second")
	s.shows("Two.")
	if after := s.chats()[0]; len(s.chats()) != 1 || after.ClientID == before.ClientID || after.Session == before.Session || slices.Contains(after.Grants, api.GrantApprove) {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// TestChatShowsWhatIsWritten: an answer grows in one message where a platform can only edit messages
// that grow, and what else would be edited is a message of its own.
func TestChatShowsWhatIsWritten(t *testing.T) {
	t.Parallel()
	write := modeltest.Calls(modeltest.Call("w", "write_file", `{"path":"made.txt","content":"x"}`))
	s := newChatScene(t, nil, modeltest.Step{Content: session.Content{session.Text("It is being written.")}, Stall: true}, write, modeltest.Say("Done."))
	s.platform.SetLimits(channel.Limits{Text: 4000, Grows: true, Buttons: true, Idempotent: true})
	s.open()
	s.pair()
	s.fake.Say(group, ada, "write")
	s.shows("It is being written.")
	s.fake.Say(group, ada, "/stop")
	s.shows("canceled")
	s.fake.Say(group, ada, "go on")
	asked := s.shows("Approval needed")
	s.fake.Press(group, ada, asked.ID, asked.Buttons[0].Data)
	s.shows("Done.")
	count := map[string]int{}
	for _, m := range s.fake.Shown(group) {
		for _, text := range []string{"It is being written.", "Approval needed", "Allowed by"} {
			count[text] += strings.Count(m.Text, text)
		}
	}
	if count["It is being written."] != 1 || count["Approval needed"] != 1 || count["Allowed by"] != 1 {
		t.Errorf("shown: %v", count)
	}
}
