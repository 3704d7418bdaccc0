package host_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// withoutButtons makes the platform of a scene like QQ: it has neither buttons nor edits.
func withoutButtons(s *chatScene) {
	s.platform.SetLimits(channel.Limits{Text: 2000})
}

// codes waits for an approval after some others, and returns the code that is shown below it.
func (s *chatScene) code(after int) string {
	s.t.Helper()
	allow := regexp.MustCompile(`Allow once: /allow ([0-9A-Z]{5})\b`)
	code := ""
	s.await("an approval with a code", func(shown []channeltest.Shown) bool {
		var all []string
		for _, m := range shown {
			if found := allow.FindStringSubmatch(m.Text); found != nil {
				all = append(all, found[1])
			}
		}
		if len(all) > after {
			code = all[after]
		}
		return code != ""
	})
	return code
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestChatAnswersApprovalsByText answers on a platform without buttons: with the code of what
// waits, and with all others.
func TestChatAnswersApprovalsByText(t *testing.T) {
	write := func(id string) modeltest.Step {
		return modeltest.Calls(modeltest.Call(id, "write_file", `{"path":"`+id+`.txt","content":"hello"}`))
	}
	s := newChatScene(t, nil, write("one"), modeltest.Say("Written."), write("two"), modeltest.Say("Denied then."), write("three"), modeltest.Say("Elsewhere."))
	withoutButtons(s)
	s.open()
	s.pair()
	s.fake.Say(group, ada, "write it")
	first := s.code(0)
	if shown := s.shows("/deny " + first); len(shown.Buttons) != 0 {
		t.Errorf("shown: %+v", shown)
	}
	s.fake.Say(group, eve, "/allow "+first)                        // not listed
	s.fake.Say(channel.Chat{ID: "other"}, ada, "/allow "+first)    // another chat
	s.fake.Say(group, ada, "/allow")                               // no code
	s.fake.Say(group, ada, "/allow "+strings.Repeat("Z", 5))       // of nothing
	s.fake.Say(group, ada, "/allow "+first[:4])                    // a part
	s.fake.Say(group, ada, "/allow "+first+" "+first)              // more than one
	s.fake.Press(group, ada, "m1", "a:"+strings.Repeat("A", 43))   // no button was shown
	s.shows("No approval waits here with the code " + first + " ") // the last of them
	if exists(filepath.Join(s.folder, "one.txt")) {
		t.Fatal("a wrong answer allowed the call")
	}
	s.fake.Say(group, ada, "/allow "+strings.ToLower(first)+".")
	s.shows("Written.")
	s.shows("Allowed by")
	if !exists(filepath.Join(s.folder, "one.txt")) {
		t.Error("an allowed call did not run")
	}

	s.fake.Say(group, ada, "again")
	second := s.code(1)
	if second == first {
		t.Fatal("two approvals have the same code")
	}
	s.fake.Say(group, ada, "/allow "+first) // that of another approval, which is over
	s.shows("The approval with the code " + first + " waits no more. Allowed by Telegram: Team.")
	if exists(filepath.Join(s.folder, "two.txt")) {
		t.Fatal("the code of another approval allowed the call")
	}
	s.fake.Say(group, ada, "!deny "+second)
	s.shows("Denied then.")
	if exists(filepath.Join(s.folder, "two.txt")) {
		t.Error("a denied call ran")
	}

	s.fake.Say(group, ada, "and again")
	third := s.code(2)
	session := s.chats()[0].Session
	live := call(t, s.c, api.GetSnapshot, api.SessionRequest{SessionID: session}).Live
	call(t, s.c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: session, ApprovalID: live.Approvals[0].ID, Decision: api.DecisionDeny})
	s.shows("Elsewhere.")
	s.fake.Say(group, ada, "/allow "+third)
	s.shows("The approval with the code " + third + " waits no more. Denied by")
	if exists(filepath.Join(s.folder, "three.txt")) {
		t.Error("a late answer allowed the call")
	}
}

// TestChatWithoutButtonsKeepsItsLimits shows what may not be allowed in the chat: a chat without
// the grant, and a call of which it is not shown all.
func TestChatWithoutButtonsKeepsItsLimits(t *testing.T) {
	long := modeltest.Calls(modeltest.Call("long", "write_file", `{"path":"long.txt","content":"`+strings.Repeat(`a line\n`, 3000)+`"}`))
	s := newChatScene(t, nil, long, modeltest.Say("Not written."), long, modeltest.Say("Never."))
	withoutButtons(s)
	s.open()
	s.pair()
	s.fake.Say(group, ada, "write it")
	deny := regexp.MustCompile(`Deny: /deny ([0-9A-Z]{5})`)
	asked := s.shows("Deny: /deny ")
	if !strings.Contains(asked.Text, "too long to be shown here") || strings.Contains(asked.Text, "/allow") {
		t.Errorf("shown: %q", asked.Text)
	}
	code := deny.FindStringSubmatch(asked.Text)[1]
	s.fake.Say(group, ada, "/allow "+code)
	s.shows("It was not shown in full here")
	s.fake.Say(group, ada, "/deny "+code)
	s.shows("Not written.")
	s.pairAgain(api.GrantView, api.GrantPrompt)
	s.fake.Say(group, ada, "write it")
	s.await("an approval without codes", func(shown []channeltest.Shown) bool {
		last := shown[len(shown)-1].Text
		return strings.Contains(last, "too long to be shown here") && !strings.Contains(last, "/deny")
	})
	if exists(filepath.Join(s.folder, "long.txt")) {
		t.Error("the call ran")
	}
}

// pairAgain binds the group again, with other grants.
func (s *chatScene) pairAgain(grants ...api.Grant) {
	s.t.Helper()
	before := len(s.fake.Shown(group))
	code := call(s.t, s.c, api.PairChannel, api.PairChannelRequest{ID: s.channel, ProjectID: s.project, Grants: grants})
	s.fake.Say(group, ada, code.Code)
	s.await("the connection", func(shown []channeltest.Shown) bool { return has(shown[before:], "Connected to") })
}

// TestChatChoosesByText answers a question with a number, and switches sessions with a code.
func TestChatChoosesByText(t *testing.T) {
	ask := modeltest.Calls(modeltest.Call("q1", "clarify", `{"question":"Which color?","choices":["red","blue"]}`))
	s := newChatScene(t, nil, ask, modeltest.Say("Blue it is."), modeltest.Say("Another."))
	withoutButtons(s)
	s.open()
	s.pair()
	s.fake.Say(group, ada, "paint it")
	s.shows("a number stands for that choice")
	s.fake.Say(group, ada, "2")
	s.shows("Blue it is.")
	if !strings.Contains(s.asked(2), "blue") {
		t.Error("the choice did not reach the model")
	}
	first := s.chats()[0].Session
	s.fake.Say(group, ada, "/new something else")
	s.shows("Another.")
	s.fake.Say(group, ada, "/sessions")
	list := s.shows(", /sessions ")
	found := regexp.MustCompile(`/sessions ([0-9A-Z]{5})`).FindAllStringSubmatch(list.Text, -1)
	if len(found) != 2 {
		t.Fatalf("the list: %q", list.Text)
	}
	s.fake.Say(group, ada, "/sessions ZZZZZ")
	s.shows("No session of the list has this code")
	other := found[slices.IndexFunc(found, func(one []string) bool {
		return !strings.Contains(lineWith(list.Text, one[0]), "this chat")
	})][1]
	s.fake.Say(group, ada, "/sessions "+other)
	s.shows("Messages go to the session")
	if now := s.chats()[0].Session; now != first {
		t.Errorf("the chat is in %s, not in %s", now, first)
	}
	s.fake.Say(group, ada, "/help")
	s.shows("/allow CODE and /deny CODE")
}

func lineWith(text, part string) string {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

// TestChatAnswersAgainAfterAKill has the host be killed after an answer counted and before it was
// handled: the next one handles it again, and says who decided instead of that nothing waits.
func TestChatAnswersAgainAfterAKill(t *testing.T) {
	t.Parallel()
	s := newChatScene(t, nil, modeltest.Calls(modeltest.Call("one", "write_file", `{"path":"one.txt","content":"hello"}`)), modeltest.Say("Written."))
	withoutButtons(s)
	code, file, asked := "", "", []byte(nil)
	s.before(func() {
		s.fake.Say(group, ada, "write it")
		code = s.code(0)
		s.fake.Say(group, ada, "/status") // has all before it stored
		s.shows("State: waits for an approval")
		file = filepath.Join(s.home, "channels", s.channel+".json")
		var err error
		if asked, err = os.ReadFile(file); err != nil {
			s.t.Fatal(err)
		}
		s.fake.Say(group, ada, "/allow "+code)
		s.shows("Written.")
	})
	if err := os.WriteFile(file, asked, 0o600); err != nil { // as it was when the host was killed
		t.Fatal(err)
	}
	before := len(s.fake.Shown(group))
	s.c = dial(t, start(t, s.cfg), func(api.EventEnvelope) {})
	s.fake.Say(group, ada, "/status")
	shown := s.await("the status", func(shown []channeltest.Shown) bool { return has(shown[before:], "State: idle") })[before:]
	s.fake.Say(group, ada, "/allow "+code)
	s.shows("The approval with the code " + code + " waits no more. Allowed by Telegram: Team.")
	if !has(shown, "Allowed by Telegram: Team.") || has(shown, "No approval waits here") {
		t.Errorf("after the restart: %+v", shown)
	}
	if n := len(s.server.Bodies()); n != 2 {
		t.Errorf("%d requests to the model", n)
	}
}
