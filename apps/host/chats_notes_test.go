package host_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// notified has the group notified, and returns the subscription.
func (s *chatScene) notified() api.PushSubscription {
	s.t.Helper()
	return call(s.t, s.c, api.AddPush, api.AddPushRequest{Kind: api.PushChat, URL: s.chats()[0].ClientID}).Subscription
}

// elsewhere begins a session that the chat does not follow, and that nobody looks at.
func (s *chatScene) elsewhere(text string) (sessionID string) {
	s.t.Helper()
	id := call(s.t, s.c, api.CreateSession, api.CreateSessionRequest{ProjectID: s.project, ClientKey: text}).Session.ID
	// Somebody is there for questions, with the page out of sight.
	call(s.t, s.c, api.SetAttendance, api.SetAttendanceRequest{Attended: true, Hidden: []string{id}})
	call(s.t, s.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	s.promptIn(id, text)
	return id
}

func (s *chatScene) promptIn(sessionID, text string) {
	s.t.Helper()
	call(s.t, s.c, api.SendPrompt, api.SendPromptRequest{SessionID: sessionID, ClientKey: text + " prompt", Content: []api.PromptBlock{{Type: "text", Text: text}}})
}

func labels(m channeltest.Shown) (all []string) {
	for _, b := range m.Buttons {
		all = append(all, b.Label)
	}
	return all
}

// TestChatIsNotified: of what waits in a session that it does not follow, with buttons that answer,
// until nothing waits any more.
func TestChatIsNotified(t *testing.T) {
	write := modeltest.Calls(modeltest.Call("one", "write_file", `{"path":"one.txt","content":"hello"}`))
	ask := modeltest.Calls(modeltest.Call("q1", "clarify", `{"question":"Which color?","choices":["red","blue"]}`))
	s := newChatScene(t, nil, write, modeltest.Say("Written."), ask, modeltest.Say("Blue it is."))
	s.open()
	s.pair()
	added := s.notified()
	if added.ClientID != s.chats()[0].ClientID || !strings.Contains(added.Server, "Team") {
		t.Errorf("added: %+v", added)
	}
	if tested := call(t, s.c, api.TestPush, api.PushRequest{ID: added.ID}).Subscription; tested.LastError != "" || tested.LastAt == 0 {
		t.Errorf("tested: %+v", tested)
	}
	s.shows("Notifications work.")
	id := s.elsewhere("write it")
	asked := s.shows("Approval needed")
	if got := labels(asked); !slices.Equal(got, []string{"Deny", "Continue here"}) && !slices.Equal(got, []string{"Allow once", "Deny", "Continue here"}) {
		t.Fatalf("buttons: %v in %+v", got, asked)
	}
	deny := asked.Buttons[slices.IndexFunc(asked.Buttons, func(b channel.Button) bool { return b.Label == "Deny" })]
	s.fake.Press(group, eve, asked.ID, deny.Data)
	s.fake.Press(group, ada, "m1", deny.Data)
	s.fake.Press(group, ada, asked.ID, deny.Data)
	s.await("the withdrawal", func(shown []channeltest.Shown) bool {
		return slices.ContainsFunc(shown, func(m channeltest.Shown) bool { return m.ID == asked.ID && len(m.Buttons) == 0 })
	})
	if exists(filepath.Join(s.folder, "one.txt")) {
		t.Error("a denied call ran")
	}
	s.promptIn(id, "paint it")
	question := s.shows("Which color?")
	if got := labels(question); !slices.Equal(got, []string{"1. red", "2. blue", "Continue here"}) {
		t.Fatalf("buttons: %v", got)
	}
	s.fake.Press(group, ada, question.ID, question.Buttons[1].Data)
	s.shows("Done")
	if !strings.Contains(s.asked(4), "blue") {
		t.Error("the choice did not reach the model")
	}
	listed := call(t, s.c, api.ListPush, api.ListPushRequest{ClientID: added.ClientID}).Subscriptions
	if len(listed) != 1 || listed[0].LastError != "" || listed[0].LastAt == 0 {
		t.Errorf("listed: %+v", listed)
	}
}

// TestChatThatMayNotIsNotNotified: a chat without the grant cannot answer, and one that is
// connected again or removed is not notified any more.
func TestChatThatMayNotIsNotNotified(t *testing.T) {
	write := modeltest.Calls(modeltest.Call("one", "write_file", `{"path":"one.txt","content":"hello"}`))
	s := newChatScene(t, nil, write, modeltest.Say("ok"))
	s.open()
	s.pair(api.GrantView, api.GrantPrompt)
	added := s.notified()
	s.elsewhere("write it")
	if asked := s.shows("Approval needed"); !slices.Equal(labels(asked), []string{"Continue here"}) {
		t.Errorf("asked: %+v", asked)
	}
	if again := s.notified(); again.ID != added.ID {
		t.Errorf("added twice: %+v", again)
	}
	s.pairAgain()
	if left := call(t, s.c, api.ListPush, api.ListPushRequest{All: true}).Subscriptions; len(left) != 0 {
		t.Errorf("after it was connected again: %+v", left)
	}
	s.notified()
	call(t, s.c, api.RemoveChannel, api.ChannelRequest{ID: s.channel})
	if left := call(t, s.c, api.ListPush, api.ListPushRequest{All: true}).Subscriptions; len(left) != 0 {
		t.Errorf("after the channel was removed: %+v", left)
	}
	if _, err := client.Call(t.Context(), s.c, api.AddPush, api.AddPushRequest{Kind: api.PushChat, URL: added.ClientID}); err == nil {
		t.Error("a chat that was removed is notified")
	}
}

// TestChatContinuesWhereItWasNotified: the button leads to the session, whose question is then
// answered by a message, also on a platform without buttons.
func TestChatContinuesWhereItWasNotified(t *testing.T) {
	ask := modeltest.Calls(modeltest.Call("q1", "clarify", `{"question":"Which color?"}`))
	s := newChatScene(t, nil, ask, modeltest.Say("Green it is."))
	withoutButtons(s)
	s.open()
	s.pair()
	s.notified()
	id := s.elsewhere("paint it")
	asked := s.shows("Continue here: /sessions ")
	_, code, _ := strings.Cut(asked.Text, "/sessions ")
	s.fake.Say(group, ada, "/sessions "+code)
	s.shows("Messages go to the session")
	if now := s.chats()[0].Session; now != id {
		t.Fatalf("the chat is in %q", now)
	}
	s.shows("The next message in this chat is the answer")
	s.fake.Say(group, ada, "green")
	s.shows("Green it is.")
}

// TestChatAllowsOnceInANotification: the button allows what the notification shows, and nothing
// after that.
func TestChatAllowsOnceInANotification(t *testing.T) {
	t.Parallel()
	touch := func(name string) modeltest.Step {
		return modeltest.Calls(modeltest.Call(name, "bash", `{"command":"touch `+name+`.txt"}`))
	}
	s := newChatScene(t, nil, touch("one"), modeltest.Say("Made."), touch("two"), modeltest.Say("Made too."))
	s.open()
	s.pair()
	s.notified()
	id := s.elsewhere("write it")
	asked := s.shows("Approval needed")
	if got := labels(asked); !slices.Equal(got, []string{"Allow once", "Deny", "Continue here"}) || !strings.Contains(asked.Text, "one.txt") {
		t.Fatalf("asked: %+v", asked)
	}
	s.fake.Press(group, eve, asked.ID, asked.Buttons[0].Data)
	s.fake.Press(group, ada, asked.ID, asked.Buttons[0].Data)
	s.fake.Press(group, ada, asked.ID, asked.Buttons[0].Data) // twice
	s.await("the end of the first", func(shown []channeltest.Shown) bool {
		return slices.ContainsFunc(shown, func(m channeltest.Shown) bool { return m.ID == asked.ID && len(m.Buttons) == 0 }) && len(s.platform.Answers()) == 2
	})
	if answers := s.platform.Answers(); answers[0] != "Allowed." || strings.HasPrefix(answers[1], "Allowed") && answers[1] != "Allowed." {
		t.Errorf("the presses were answered with %q", answers)
	}
	s.promptIn(id, "write again")
	second := s.shows("two.txt")
	if !exists(filepath.Join(s.folder, "one.txt")) { // the first turn has ended by now
		t.Error("an allowed call did not run")
	}
	s.fake.Press(group, ada, asked.ID, asked.Buttons[0].Data)  // of the first notification
	s.fake.Press(group, ada, second.ID, asked.Buttons[0].Data) // what the first one allowed
	s.await("the refusals", func([]channeltest.Shown) bool { return len(s.platform.Answers()) == 4 })
	if exists(filepath.Join(s.folder, "two.txt")) {
		t.Error("the button of another notification allowed the call")
	}
	if live := call(t, s.c, api.GetSnapshot, api.SessionRequest{SessionID: id}).Live; len(live.Approvals) != 1 {
		t.Errorf("%d approvals wait", len(live.Approvals))
	}
}

// TestChatHasQuietHours: a chat is notified of nothing in them while another one is, and of what
// still waits when they end.
func TestChatHasQuietHours(t *testing.T) {
	t.Parallel()
	s := newChatScene(t, nil, modeltest.Calls(modeltest.Call("one", "write_file", `{"path":"one.txt","content":"hello"}`)), modeltest.Say("Written."))
	s.open()
	s.pair()
	other := channel.Chat{ID: "7", Direct: true}
	code := call(t, s.c, api.PairChannel, api.PairChannelRequest{ID: s.channel, ProjectID: s.project})
	s.fake.Say(other, ada, code.Code)
	s.awaitIn(other, "the connection", func(shown []channeltest.Shown) bool { return has(shown, "Connected to") })
	now := time.Now().UTC()
	quiet := &api.PushQuiet{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(2 * time.Hour).Format("15:04"), Zone: "UTC"}
	for _, chat := range s.chats() {
		call(t, s.c, api.AddPush, api.AddPushRequest{Kind: api.PushChat, URL: chat.ClientID})
		if chat.ID == group.ID {
			call(t, s.c, api.SetPush, api.SetPushRequest{ClientID: chat.ClientID, Quiet: quiet})
		}
	}
	s.elsewhere("write it")
	s.awaitIn(other, "a notification", func(shown []channeltest.Shown) bool { return has(shown, "Approval needed") })
	s.fake.Say(group, ada, "/status") // is answered after all that waits
	s.shows("Project:")
	if shown := s.fake.Shown(group); has(shown, "Approval needed") {
		t.Errorf("in quiet hours: %+v", shown)
	}
	for _, chat := range s.chats() {
		if chat.ID == group.ID {
			call(t, s.c, api.SetPush, api.SetPushRequest{ClientID: chat.ClientID, Quiet: &api.PushQuiet{}})
		}
	}
	s.shows("Approval needed")
}
