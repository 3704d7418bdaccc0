package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestScorelsOwnFolderIsNoProject: a project is written to, and a device may make one.
func TestScorelsOwnFolderIsNoProject(t *testing.T) {
	home := t.TempDir()
	h := start(t, host.Config{Home: home, Projects: []string{t.TempDir()}})
	device := newHTTPEntry(t, h, "device")
	addToken(t, h, "device", api.AllGrants()...)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{home, filepath.Join(home, "run"), filepath.Join(home, "sessions", ".."), link, filepath.Join(link, "run")} {
		status, answer := device.post("/v1/add_project", fmt.Sprintf(`{"path":%q}`, path))
		wantHTTP(t, status, answer, 400, api.KindInvalidPath)
	}
	ask[api.AddProjectResponse](device, "/v1/add_project", api.AddProjectRequest{Path: filepath.Dir(home)})
}

// TestWhatEachGrantMayNot lets connections with few grants try what the others are for.
func TestWhatEachGrantMayNot(t *testing.T) {
	h := start(t, host.Config{Projects: []string{t.TempDir()}})
	local := newHTTPEntry(t, h, h.State().Token)
	id, project := sessionOf(t, local), ask[api.ListProjectsResponse](local, "/v1/list_projects", api.Empty{}).Projects[0].ID
	addToken(t, h, "view", api.GrantView)
	addToken(t, h, "prompt", api.GrantView, api.GrantPrompt)
	addToken(t, h, "approve", api.GrantView, api.GrantPrompt, api.GrantApprove)
	addToken(t, h, "manage", api.GrantView, api.GrantManage)
	mode := func(mode api.Mode) string { return fmt.Sprintf(`{"sessionId":%q,"mode":%q}`, id, mode) }
	for _, c := range []struct{ who, path, body string }{
		{"view", "send_prompt", fmt.Sprintf(`{"sessionId":%q,"clientKey":"a","text":"x"}`, id)},
		{"view", "answer_question", fmt.Sprintf(`{"sessionId":%q,"questionId":"q","answer":"x"}`, id)},
		{"view", "edit_queue", fmt.Sprintf(`{"sessionId":%q,"expected":[],"items":[]}`, id)},
		{"view", "cancel_turn", fmt.Sprintf(`{"sessionId":%q,"turnId":"x"}`, id)},
		{"view", "list_mcp_servers", fmt.Sprintf(`{"projectId":%q}`, project)},
		{"view", "list_hooks", fmt.Sprintf(`{"projectId":%q}`, project)},
		{"prompt", "send_prompt", fmt.Sprintf(`{"sessionId":%q,"clientKey":"a","text":"x","allowAll":true}`, id)},
		{"prompt", "send_prompt", fmt.Sprintf(`{"sessionId":%q,"clientKey":"a","text":"x","allowRules":["bash"]}`, id)},
		{"prompt", "answer_approval", fmt.Sprintf(`{"sessionId":%q,"approvalId":"x","decision":"allow"}`, id)},
		{"prompt", "set_mode", mode(api.ModePlan)},
		{"prompt", "add_rule", `{"rule":"bash(make)","kind":"deny"}`},
		{"approve", "answer_approval", fmt.Sprintf(`{"sessionId":%q,"approvalId":"x","decision":"always"}`, id)},
		{"approve", "trust_project", fmt.Sprintf(`{"projectId":%q,"trusted":true}`, project)},
		{"manage", "set_mode", mode(api.ModeAsk)},
		{"manage", "set_mode", mode(api.ModeBypass)},
		{"manage", "decide_mcp_server", fmt.Sprintf(`{"projectId":%q,"name":"x","hash":"x","allow":true}`, project)},
		{"manage", "decide_hook", fmt.Sprintf(`{"projectId":%q,"id":"x","hash":"x","allow":true}`, project)},
		{"manage", "test_hook", fmt.Sprintf(`{"projectId":%q,"id":"x"}`, project)},
		{"view", "list_extensions", `{}`},
		{"manage", "fetch_extension", `{"source":"/tmp"}`},
		{"manage", "save_extension", `{"hash":"x"}`},
		{"manage", "decide_extension", fmt.Sprintf(`{"projectId":%q,"name":"x","hash":"x","allow":true}`, project)},
		{"manage", "set_extension_enabled", `{"name":"x","enabled":true}`},
		{"approve", "delete_extension", `{"name":"x","hash":"x"}`},
		{"manage", "set_budget", `{"scope":"day","cost":1}`},
		{"manage", "lift_budget", `{"scope":"day"}`},
		{"manage", "save_schedule", fmt.Sprintf(`{"projectId":%q,"clientKey":"a","spec":{"name":"x","prompt":"x","when":{"cron":"@daily"}}}`, project)},
		{"approve", "save_schedule", fmt.Sprintf(`{"projectId":%q,"clientKey":"a","spec":{"name":"x","prompt":"x","when":{"cron":"@daily"}}}`, project)},
		{"manage", "send_prompt", fmt.Sprintf(`{"sessionId":%q,"clientKey":"a","text":"x"}`, id)},
		{"manage", "create_token", `{"hash":"x","label":"x","grants":["approve"]}`},
		{"manage", "import_session", `{"path":"/etc/passwd"}`},
		{"manage", "stop_host", `{}`},
		{"manage", "resume_host", `{}`},
		{"manage", "restart_host", `{}`},
	} {
		status, answer := newHTTPEntry(t, h, c.who).post("/v1/"+c.path, c.body)
		if status != 403 {
			t.Errorf("%s: %s %s: %d %s", c.who, c.path, c.body, status, answer)
		}
	}
}

// TestAWokenTurnMayNoMore: a device that may only prompt starts a job. Its end begins a turn
// by itself, which asks as the prompt did, whatever mode the session is in by then.
func TestAWokenTurnMayNoMore(t *testing.T) {
	s := newScene(t, nil,
		modeltest.Calls(modeltest.Call("a", "bash", `{"command":"until [ -e go ]; do sleep 0.02; done","background":true,"notify_on_complete":true}`)),
		modeltest.Say("It runs."),
		modeltest.Calls(modeltest.Call("b", "bash", `{"command":"touch made"}`)), modeltest.Say("Done."),
	)
	h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	s.enter(t, h)
	addToken(t, h, "device", api.GrantView, api.GrantPrompt)
	asked := make(chan api.Approval, 8)
	watch := dial(t, h, func(e api.EventEnvelope) {
		if request, ok := e.Event.(api.ApprovalRequested); ok {
			asked <- request.Approval
		}
	})
	call(t, watch, api.ResyncEvents, api.ResyncEventsRequest{SessionID: s.sessionID})
	allow := func() {
		answer := api.AnswerApprovalRequest{SessionID: s.sessionID, ApprovalID: (<-asked).ID, Decision: api.DecisionAllow}
		call(t, watch, api.AnswerApproval, answer)
	}
	device := newHTTPEntry(t, h, "device")
	ask[api.SendPromptResponse](device, "/v1/send_prompt", api.SendPromptRequest{SessionID: s.sessionID, ClientKey: "d1", Text: "begin"})
	allow()
	if end := s.wait(1); end.StopReason != session.StopEnd {
		t.Fatalf("%+v", end)
	}
	call(t, watch, api.SetMode, api.SetModeRequest{SessionID: s.sessionID, Mode: api.ModeBypass})
	if err := os.WriteFile(filepath.Join(s.folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { // a turn without requests to people ends by itself
		s.wait(2)
		asked <- api.Approval{}
	}()
	approval := <-asked
	if approval.ID == "" {
		t.Fatal("the woken turn did what its prompt had to ask for")
	}
	asked <- approval
	allow()
	s.wait(2)
}
