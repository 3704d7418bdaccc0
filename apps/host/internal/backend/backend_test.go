package backend_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestTurn plays every kind of update and looks for each in the log.
func TestTurn(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.ok(strings.Join([]string{
		"think so far so good",
		"say Hello, ",
		"say world.",
		"call c1 execute make test",
		"run c1",
		"done c1 it passed",
		"edit e1 /src/main.go",
		"done e1",
		"call c2 read README",
		"fail c2 no such file",
		`update {"sessionUpdate":"plan","entries":[{"content":"Look","priority":"high","status":"completed"},{"content":"Act","priority":"low","status":"pending"}]}`,
		`update {"sessionUpdate":"usage_update","used":1200,"size":200000,"cost":{"amount":0.5,"currency":"USD"}}`,
		`update {"sessionUpdate":"available_commands_update","availableCommands":[{"name":"review","description":"Review it","input":{"hint":"what"}}]}`,
		`update {"sessionUpdate":"current_mode_update","currentModeId":"bypass"}`,
		`update {"sessionUpdate":"session_info_update","title":"The agent's title"}`,
		`update {"sessionUpdate":"notice","severity":"warning","title":"Careful","description":"It is late"}`,
		`update {"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"}`,
		`update {"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"the summary"}}`,
		`update {"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"}`,
		`update {"sessionUpdate":"hologram","beam":[1,2,3]}`,
		`update {"sessionUpdate":"agent_message_chunk","content":{"type":"audio","data":"AAAA","mimeType":"audio/wav"}}`,
		"say Done.",
	}, "\n"))
	s.check()

	var calls, results int
	for _, m := range s.messages() {
		calls += len(m.Content.ToolCalls())
		if m.Role == session.RoleToolResult {
			results++
		}
	}
	if calls != 4 || results != 4 { // with the plan
		t.Errorf("%d calls and %d results, want 4", calls, results)
	}
	if said := s.said(); !strings.Contains(said, "Hello, world.") || !strings.Contains(said, "Done.") || !strings.Contains(said, "[audio]") {
		t.Errorf("said %q", said)
	}
	if got := result(t, s, "acp_execute"); got.Content.Plain() != "it passed" || *got.IsError || !strings.Contains(string(got.Details), `"toolCallId":"c1"`) {
		t.Errorf("%+v", got)
	}
	if got := result(t, s, "acp_edit"); !strings.Contains(string(got.Details), `"type":"diff"`) {
		t.Errorf("%+v", got)
	}
	if got := result(t, s, "acp_read"); !*got.IsError || got.Content.Plain() != "no such file" {
		t.Errorf("%+v", got)
	}
	if got := result(t, s, "todo"); got.Content.Plain() != "[completed] Look\n[pending] Act" {
		t.Errorf("%+v", got)
	}
	for kind, want := range map[session.BackendKind]func(session.BackendRecord) bool{
		session.BackendSession: func(r session.BackendRecord) bool {
			return strings.HasPrefix(r.AgentSession, "fake-") && r.Agent == "fake-agent 1.0"
		},
		session.BackendCommands: func(r session.BackendRecord) bool { return r.Commands[0].Hint == "what" },
		session.BackendOptions: func(r session.BackendRecord) bool {
			return len(r.Options) == 3 && r.Options[2].Value == "bypass" && r.Decides
		},
		session.BackendNotice:     func(r session.BackendRecord) bool { return r.Title == "Careful" && r.Text == "It is late" },
		session.BackendCompaction: func(r session.BackendRecord) bool { return r.Title == "completed" && r.Text == "the summary" },
		session.BackendUsage:      func(r session.BackendRecord) bool { return r.Used == 1200 && r.Size == 200000 && r.Cost == 0.5 },
		session.BackendUpdate:     func(r session.BackendRecord) bool { return strings.Contains(string(r.Update), "audio/wav") },
	} {
		all := s.records(kind)
		if len(all) == 0 || !want(all[len(all)-1]) {
			t.Errorf("%s: %+v", kind, all)
		}
	}
	if all := s.records(session.BackendUpdate); string(all[0].Update) != `{"sessionUpdate":"hologram","beam":[1,2,3]}` {
		t.Errorf("%s", all[0].Update)
	}
	summary, err := s.Summary(t.Context())
	if err != nil || summary.Name != "The agent's title" || summary.Usage.Cost != 0.5 {
		t.Errorf("%+v %v", summary, err)
	}
}

func result(t *testing.T, s *opened, tool string) session.Message {
	t.Helper()
	for _, m := range s.messages() {
		if m.Role == session.RoleToolResult && m.ToolName == tool {
			return m
		}
	}
	t.Fatalf("there is no result of %s", tool)
	return session.Message{}
}

// TestPermission answers a permission with an option of the agent, once.
func TestPermission(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.send("call c1 execute make test\nask c1\ndone c1 ok")
	s.until("an approval waits", func() bool { return len(s.live.Approvals) == 1 })
	approval := s.live.Approvals[0]
	if approval.Command != "make test" || len(approval.Choices) != 3 || approval.Choices[1].Name != "Yes, and don't ask again for commands that start with `make`" {
		t.Fatalf("%+v", approval)
	}
	s.check()
	answer := api.AnswerApprovalRequest{SessionID: s.id, ApprovalID: approval.ID, Decision: approval.Choices[1].Decision, Shown: approval.Shown}
	for _, wrong := range []api.Decision{"choice:4", "choice:0", "choice:01", "choice:x"} {
		bad := answer
		if bad.Decision = wrong; !refused(s, bad) {
			t.Errorf("%q was accepted", wrong)
		}
	}
	if response, err := s.AnswerApproval(t.Context(), "cli_x", answer); err != nil || !response.Won {
		t.Fatalf("%+v %v", response, err)
	}
	other := answer
	other.Decision = approval.Choices[0].Decision
	if response, err := s.AnswerApproval(t.Context(), "cli_y", other); err != nil || response.Won || response.Decision != "choice:2" {
		t.Errorf("a second answer: %+v %v", response, err)
	}
	s.until("the turn has ended", func() bool { return len(s.ended) == 1 })
	if said := s.said(); said != "chose selected opt-prefix\n" {
		t.Errorf("said %q", said)
	}
	s.check()
}

func refused(s *opened, r api.AnswerApprovalRequest) bool {
	_, err := s.AnswerApproval(s.w.t.Context(), "cli_x", r)
	return err != nil
}

// TestPlainAnswers maps the answers of clients that know no options, and of modes.
func TestPlainAnswers(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	for decision, want := range map[api.Decision]string{api.DecisionAllow: "selected opt-once", api.DecisionDeny: "selected opt-no"} {
		before := len(s.ended)
		s.send("call c1 execute make test\nask c1\ndone c1 ok")
		s.until("an approval waits", func() bool { return len(s.live.Approvals) == 1 })
		if refused(s, api.AnswerApprovalRequest{SessionID: s.id, ApprovalID: s.live.Approvals[0].ID, Decision: decision}) {
			t.Fatalf("%s was refused", decision)
		}
		s.until("the turn has ended", func() bool { return len(s.ended) > before })
		if said := s.said(); !strings.HasSuffix(said, "chose "+want+"\n") {
			t.Errorf("%s: %q", decision, said)
		}
	}
	if err := s.SetMode(t.Context(), "cli_x", api.ModeBypass); err != nil {
		t.Fatal(err)
	}
	s.ok("call c2 execute make test\nask c2\ndone c2 ok")
	if said := s.said(); !strings.HasSuffix(said, "chose selected opt-once\n") {
		t.Errorf("in the mode bypass: %q", said)
	}
}

// TestCancel ends a turn with an open permission: the agent is told that it was canceled.
func TestCancel(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	s.send("call c1 execute make test\nask c1\nwait")
	s.until("an approval waits", func() bool { return len(s.live.Approvals) == 1 })
	if ok, err := s.CancelTurn(t.Context(), s.live.Turn.TurnID); !ok || err != nil {
		t.Fatal(ok, err)
	}
	s.until("the turn has ended", func() bool { return len(s.ended) == 1 })
	if s.ended[0].StopReason != session.StopAborted {
		t.Errorf("%+v", s.ended[0])
	}
	if got := result(t, s, "acp_execute"); !*got.IsError {
		t.Errorf("%+v", got)
	}
	s.check()
	s.ok("say still here") // the same process
	if n := len(s.records(session.BackendSession)); n != 2 || s.records(session.BackendSession)[0].AgentSession != s.records(session.BackendSession)[1].AgentSession {
		t.Errorf("%+v", s.records(session.BackendSession))
	}
}

// TestElicitation asks people what the agent wants to know.
func TestElicitation(t *testing.T) {
	w := newWorld(t)
	s := w.session("fake")
	for _, c := range []struct{ script, answer, want string }{
		{"form count integer", "7", "accept 7"},
		{"form sure boolean", "yes", "accept true"},
		{"form name string", "", "decline "},
		{"url https://example.org/login?x=1", "I opened it", "accept "},
		{"url https://example.org/", "Decline", "decline "},
	} {
		before := len(s.ended)
		s.send(c.script)
		s.until("a question waits", func() bool { return len(s.live.Questions) == 1 })
		question := s.live.Questions[0]
		if strings.HasPrefix(c.script, "url") && !strings.Contains(question.Question, strings.Fields(c.script)[1]) {
			t.Errorf("the address is not shown: %q", question.Question)
		}
		_, err := s.AnswerQuestion(t.Context(), "cli_x", api.AnswerQuestionRequest{SessionID: s.id, QuestionID: question.ID, Answer: c.answer, Skip: c.answer == ""})
		if err != nil {
			t.Fatal(err)
		}
		s.until("the turn has ended", func() bool { return len(s.ended) > before })
		if said := s.said(); !strings.HasSuffix(said, c.want) {
			t.Errorf("%s: %q, want %q", c.script, said, c.want)
		}
	}
	s.check()
}

// TestMissing refuses a backend that cannot be used, and says how to install it.
func TestMissing(t *testing.T) {
	w := newWorld(t)
	for name, want := range map[string]string{"absent": "npm install -g absent", "nothing": "scorel backend list"} {
		_, err := w.manager.Create(t.Context(), w.project, "cli_x", api.CreateSessionRequest{ClientKey: "k-" + name, Backend: name})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLogin says what to do when the agent needs a login.
func TestLogin(t *testing.T) {
	w := newWorld(t, "--login")
	ended := w.session("fake").run("say hello")
	if ended.StopReason != session.StopError || !strings.Contains(ended.Error, "scorel backend login fake") {
		t.Errorf("%+v", ended)
	}
}
