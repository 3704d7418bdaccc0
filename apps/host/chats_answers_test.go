package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestChatAnswersApprovals(t *testing.T) {
	write := func(id string) modeltest.Step {
		return modeltest.Calls(modeltest.Call(id, "write_file", `{"path":"`+id+`.txt","content":"hello"}`))
	}
	s := newChatScene(t, nil, write("one"), modeltest.Say("Written."), write("two"), modeltest.Say("Denied then."), write("three"), modeltest.Say("Elsewhere."))
	s.open()
	s.pair()
	s.fake.Say(group, ada, "write it")
	asked := s.shows("Approval needed")
	if len(asked.Buttons) != 2 || asked.Buttons[0].Label != "Allow once" || !strings.HasPrefix(asked.Buttons[0].Data, "a:") || len(asked.Buttons[0].Data) < 40 {
		t.Fatalf("asked: %+v", asked)
	}
	s.fake.Press(group, eve, asked.ID, asked.Buttons[0].Data) // not listed
	s.platform.Deliver(channel.Update{Press: &channel.Press{Chat: group, From: eve, MessageID: asked.ID, Data: asked.Buttons[0].Data, Anyone: true}})
	s.fake.Press(group, ada, asked.ID, "a:"+strings.Repeat("A", 43))              // another hash
	s.fake.Press(group, ada, "m1", asked.Buttons[0].Data)                         // another message
	s.fake.Press(channel.Chat{ID: "other"}, ada, asked.ID, asked.Buttons[0].Data) // another chat
	s.await("the refusals", func([]channeltest.Shown) bool { return len(s.platform.Answers()) == 2 })
	if answers := s.platform.Answers(); strings.Contains(strings.Join(answers, "\n"), "Allowed") {
		t.Fatalf("a wrong press was answered with %q", answers)
	}
	if _, err := os.Stat(filepath.Join(s.folder, "one.txt")); err == nil {
		t.Fatal("a wrong press allowed the call")
	}
	s.fake.Press(group, ada, asked.ID, asked.Buttons[0].Data)
	s.shows("Written.")
	if _, err := os.Stat(filepath.Join(s.folder, "one.txt")); err != nil {
		t.Error(err)
	}
	if done := s.shows("Allowed by"); done.ID != asked.ID || len(done.Buttons) != 0 {
		t.Errorf("after the answer: %+v", done)
	}
	s.fake.Press(group, ada, asked.ID, asked.Buttons[0].Data) // answered before
	s.fake.Say(group, ada, "again")
	second := s.shows("Approval needed")
	s.fake.Press(group, ada, second.ID, second.Buttons[1].Data)
	s.shows("Denied then.")
	if _, err := os.Stat(filepath.Join(s.folder, "two.txt")); err == nil {
		t.Error("a denied call ran")
	}
	s.fake.Say(group, ada, "and again")
	third := s.shows("Approval needed")
	chat := s.chats()[0]
	live := call(t, s.c, api.GetSnapshot, api.SessionRequest{SessionID: chat.Session}).Live
	call(t, s.c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: chat.Session, ApprovalID: live.Approvals[0].ID, Decision: api.DecisionAllow})
	s.shows("Elsewhere.")
	for _, m := range s.fake.Shown(group) {
		if m.ID == third.ID && (!strings.Contains(m.Text, "Allowed by") || len(m.Buttons) > 0) {
			t.Errorf("answered elsewhere: %+v", m)
		}
	}
}

// TestChatKeepsItsGrants uses a chat that may only view and prompt.
func TestChatKeepsItsGrants(t *testing.T) {
	s := newChatScene(t, map[string]string{"a.txt": "secret"}, modeltest.Calls(modeltest.Call("one", "write_file", `{"path":"one.txt","content":"x"}`)), modeltest.Say("ok"))
	s.open()
	s.pair(api.GrantView, api.GrantPrompt)
	s.fake.Say(group, ada, "write it")
	asked := s.shows("Approval needed")
	if len(asked.Buttons) != 0 {
		t.Errorf("a chat that may not approve has buttons: %+v", asked)
	}
	s.fake.Say(group, ada, "/mode bypass")
	s.shows(`needs the grant "manage"`)
	s.fake.Say(group, ada, "/file a.txt")
	s.shows("The file was not sent")
	chat := s.chats()[0]
	if session := call(t, s.c, api.GetSnapshot, api.SessionRequest{SessionID: chat.Session}); session.Session.Mode == api.ModeBypass || len(session.Live.Approvals) != 1 {
		t.Errorf("the session: %+v", session.Session)
	}
	s.fake.Say(group, ada, "/stop")
	s.shows("canceled")
	call(t, s.c, api.RemoveChat, api.RemoveChatRequest{ID: s.channel, ChatID: group.ID})
	s.fake.Say(group, ada, "still here?")
	s.shows("This chat is not connected.")
	if n := len(s.server.Bodies()); n != 1 {
		t.Errorf("%d requests to the model", n)
	}
	if _, err := client.Call(t.Context(), s.c, api.PairChannel, api.PairChannelRequest{ID: s.channel, ProjectID: s.project, Grants: []api.Grant{api.GrantShell}}); err == nil {
		t.Error("a chat was given a shell")
	}
}

func TestChatQuestions(t *testing.T) {
	ask := func(id string) modeltest.Step {
		return modeltest.Calls(modeltest.Call(id, "clarify", `{"question":"Which color?","choices":["red","blue"]}`))
	}
	s := newChatScene(t, nil, ask("q1"), modeltest.Say("Blue it is."), ask("q2"), modeltest.Say("Green it is."))
	s.open()
	s.pair()
	s.fake.Say(group, ada, "paint it")
	asked := s.shows("Which color?")
	if len(asked.Buttons) != 2 {
		t.Fatalf("asked: %+v", asked)
	}
	s.fake.Press(group, ada, asked.ID, asked.Buttons[1].Data)
	s.shows("Blue it is.")
	s.fake.Say(group, ada, "and again")
	s.await("the second question", func(shown []channeltest.Shown) bool {
		return slices.ContainsFunc(shown, func(m channeltest.Shown) bool { return len(m.Buttons) == 2 })
	})
	s.fake.Say(group, ada, "green")
	s.shows("Green it is.")
	if !strings.Contains(s.asked(2), "blue") || !strings.Contains(s.asked(4), "green") {
		t.Error("the answers did not reach the model")
	}
}

// TestChatQuestionsSurviveARestart: a question that is asked again is the message that is there, and
// one that was answered elsewhere meanwhile says so.
func TestChatQuestionsSurviveARestart(t *testing.T) {
	t.Parallel()
	ask := modeltest.Calls(modeltest.Call("q1", "clarify", `{"question":"Which color?","choices":["red","blue"]}`))
	s := newChatScene(t, nil, ask, modeltest.Say("Blue it is."))
	var asked channeltest.Shown
	s.before(func() {
		s.fake.Say(group, ada, "paint it")
		asked = s.shows("Which color?")
	})
	s.c = dial(t, start(t, s.cfg), func(api.EventEnvelope) {})
	s.fake.Say(group, ada, "/help") // is answered after what was there
	s.shows("cancels the running turn")
	shown := s.fake.Shown(group)
	questions := slices.DeleteFunc(shown, func(m channeltest.Shown) bool { return !strings.Contains(m.Text, "Which color?") })
	if len(questions) != 1 || questions[0].ID != asked.ID || len(questions[0].Buttons) != 2 {
		t.Fatalf("after the restart: %+v", questions)
	}
	s.fake.Press(group, ada, asked.ID, asked.Buttons[1].Data)
	s.shows("Blue it is.")
	s.await("the end of the question", func(shown []channeltest.Shown) bool {
		return slices.ContainsFunc(shown, func(m channeltest.Shown) bool {
			return m.ID == asked.ID && strings.Contains(m.Text, "Answered") && len(m.Buttons) == 0
		})
	})
}

// TestChatSetsTheMode shows and sets the mode of a session, in a chat that may.
func TestChatSetsTheMode(t *testing.T) {
	t.Parallel()
	s := newChatScene(t, nil, modeltest.Say("Hello."))
	s.open()
	s.pair(api.GrantView, api.GrantPrompt, api.GrantManage)
	s.fake.Say(group, ada, "/mode")
	s.shows("no session yet")
	s.fake.Say(group, ada, "hi")
	s.shows("Hello.")
	s.fake.Say(group, ada, "/mode")
	s.shows("Mode: ask. Modes: ")
	s.fake.Say(group, ada, "/mode all")
	s.shows("Unknown mode.")
	s.fake.Say(group, ada, "/mode plan")
	s.await("the mode", func(shown []channeltest.Shown) bool { return shown[len(shown)-1].Text == "Mode: plan" })
	if now := call(t, s.c, api.GetSnapshot, api.SessionRequest{SessionID: s.chats()[0].Session}).Session.Mode; now != api.ModePlan {
		t.Errorf("the mode is %s", now)
	}
}
