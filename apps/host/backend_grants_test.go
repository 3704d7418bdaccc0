package host_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWhoMayUseAProgramThatDoesNotAsk: another program need not ask before it acts. A client that may
// not have scorel's own agent do so chooses only programs that do.
func TestWhoMayUseAProgramThatDoesNotAsk(t *testing.T) {
	home := t.TempDir()
	fake := hosttest.FakeBackend(os.Args[0], "--home="+t.TempDir(), "--mode=bypass")
	asking := strings.Replace(fake, "fake", "asking", 1) + "mode = \"ask\"\n"
	configure(t, home, "http://127.0.0.1:0", fake+asking)
	h := start(t, host.Config{Home: home, Projects: []string{t.TempDir()}})
	local := newHTTPEntry(t, h, h.State().Token)
	id, project := sessionOf(t, local), ask[api.ListProjectsResponse](local, "/v1/list_projects", api.Empty{}).Projects[0].ID
	addToken(t, h, "prompt", api.GrantView, api.GrantPrompt)
	addToken(t, h, "most", api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantManage)
	set := func(backend string) string { return fmt.Sprintf(`{"sessionId":%q,"backend":%q}`, id, backend) }
	for i, c := range []struct {
		who, backend string
		want         int
	}{
		{"prompt", "fake", 403}, {"most", "fake", 403}, {"prompt", "asking", 200}, {"most", "asking", 200}, {h.State().Token, "fake", 200},
		{"prompt", "scorel", 200}, {"prompt", "none", 404},
	} {
		e := newHTTPEntry(t, h, c.who)
		if status, answer := e.post("/v1/set_backend", set(c.backend)); status != c.want {
			t.Errorf("set_backend %+v: %d %s", c, status, answer)
		}
		create := fmt.Sprintf(`{"projectId":%q,"clientKey":"k%d","backend":%q}`, project, i, c.backend)
		if status, answer := e.post("/v1/create_session", create); status != c.want {
			t.Errorf("create_session %+v: %d %s", c, status, answer)
		}
	}
	addToken(t, h, "view", api.GrantView)
	for who, want := range map[string]map[string]api.BackendDenial{
		"view":          {"fake": api.BackendNeedsPrompt, "asking": api.BackendNeedsPrompt},
		"prompt":        {"fake": api.BackendNeedsBypass, "asking": "", "opencode": api.BackendNeedsBypass, "claude": ""},
		"most":          {"fake": api.BackendNeedsBypass, "asking": ""},
		h.State().Token: {"fake": "", "asking": "", "opencode": ""},
	} {
		for _, b := range ask[api.ListBackendsResponse](newHTTPEntry(t, h, who), "/v1/list_backends", api.Empty{}).Backends {
			if denied, ok := want[b.Name]; ok && b.Denied != denied {
				t.Errorf("list_backends of %s: %s is denied as %q, want %q", who, b.Name, b.Denied, denied)
			}
			delete(want, b.Name)
		}
		if len(want) > 0 {
			t.Errorf("list_backends of %s lacks %v", who, want)
		}
	}

	// The owner has one that asks work without asking: others do not choose that for the owner's prompts.
	run := func(e httpEntry, text string) string {
		ask[api.SendPromptResponse](e, "/v1/send_prompt?wait=turn", api.SendPromptRequest{SessionID: id, ClientKey: text, Text: text})
		_, answer := local.post("/v1/get_snapshot", fmt.Sprintf(`{"sessionId":%q}`, id))
		return string(answer)
	}
	local.post("/v1/set_backend", set("asking"))
	run(local, "say begun")
	if status, answer := local.post("/v1/set_backend_option", fmt.Sprintf(`{"sessionId":%q,"option":"mode","value":"bypass"}`, id)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	local.post("/v1/set_backend", set("scorel"))
	for who, want := range map[string]int{"prompt": 403, "most": 403, h.State().Token: 200} {
		if status, answer := newHTTPEntry(t, h, who).post("/v1/set_backend", set("asking")); status != want {
			t.Errorf("%s: %d %s", who, status, answer)
		}
	}
}
