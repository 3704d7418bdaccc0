package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

func agentOf(t *testing.T, e httpEntry, projectID, name string) api.AgentInfo {
	t.Helper()
	list := ask[api.ListAgentsResponse](e, "/v1/list_agents", api.ListAgentsRequest{ProjectID: projectID})
	i := slices.IndexFunc(list.Agents, func(a api.AgentInfo) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("there is no agent %s: %+v", name, list)
	}
	return list.Agents[i]
}

// TestASessionRunsAsAnAgent: it has the agent's prompt and tools, and a change of the file
// counts from the next turn.
func TestASessionRunsAsAnAgent(t *testing.T) {
	s := newScene(t, nil, modeltest.Say("one"), modeltest.Say("two"))
	h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	e := newHTTPEntry(t, h, h.State().Token)
	project := ask[api.ListProjectsResponse](e, "/v1/list_projects", api.Empty{}).Projects[0]
	draft := api.AgentDraft{Description: "Reads", Tools: []string{"Read", "Grep"}, Enabled: true, Prompt: "You only read."}
	saved := ask[api.SaveAgentResponse](e, "/v1/save_agent", api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: draft}).Agent
	made := ask[api.CreateSessionResponse](e, "/v1/create_session", api.CreateSessionRequest{ProjectID: project.ID, ClientKey: "s", Agent: "reader"}).Session
	turn := func(key string) api.TurnOutcome {
		return ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", prompt(made.ID, key, "go")).Turn
	}
	if got := turn("a"); got.Text != "one" {
		t.Fatalf("the turn ended with %+v", got)
	}
	draft.Tools, draft.Prompt = []string{}, "You read nothing."
	saved = ask[api.SaveAgentResponse](e, "/v1/save_agent", api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Version: saved.Version, Agent: draft}).Agent
	turn("b")
	requests := s.server.Bodies()
	for i, want := range []struct {
		text  string
		tools bool
	}{{"You only read.", true}, {"You read nothing.", false}} {
		body := string(requests[i])
		if !strings.Contains(body, want.text) || strings.Contains(body, `"name":"read_file"`) != want.tools || strings.Contains(body, `"name":"bash"`) {
			t.Errorf("request %d has not %q, or other tools: %.2000s", i, want.text, body)
		}
	}
	draft.Enabled = false
	ask[api.SaveAgentResponse](e, "/v1/save_agent", api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Version: saved.Version, Agent: draft})
	if got := turn("c"); !strings.Contains(got.Error, "the agent reader is disabled") {
		t.Errorf("with a disabled agent the turn ended with %+v", got)
	}
}

// TestTwoEditorsOfAnAgent: of two changes to the same state of a file one is refused, and
// the file is that of the other.
func TestTwoEditorsOfAnAgent(t *testing.T) {
	folder := t.TempDir()
	h := start(t, host.Config{Home: t.TempDir(), Projects: []string{folder}})
	e := newHTTPEntry(t, h, h.State().Token)
	project := ask[api.ListProjectsResponse](e, "/v1/list_projects", api.Empty{}).Projects[0]
	request := api.SaveAgentRequest{ProjectID: project.ID, Scope: api.AgentProject, Name: "a", Agent: api.AgentDraft{Description: "first", Enabled: true}}
	if status, _ := e.post("/v1/save_agent", encode(t, request)); status != 403 {
		t.Errorf("a project that is not trusted got an agent: %d", status)
	}
	ask[api.TrustProjectResponse](e, "/v1/trust_project", api.TrustProjectRequest{ProjectID: project.ID, Trusted: true})
	ask[api.SaveAgentResponse](e, "/v1/save_agent", request)
	request.Version = agentOf(t, e, project.ID, "a").Version
	var wg sync.WaitGroup
	statuses := make([]int, 6)
	for i := range statuses {
		wg.Go(func() {
			mine := request
			mine.Agent.Description = "by " + string(rune('a'+i))
			statuses[i], _ = e.post("/v1/save_agent", encode(t, mine))
		})
	}
	wg.Wait()
	won := slices.Index(statuses, 200)
	if slices.Sort(statuses); !slices.Equal(statuses, []int{200, 409, 409, 409, 409, 409}) {
		t.Fatalf("the answers are %v", statuses)
	}
	data, err := os.ReadFile(filepath.Join(folder, ".scorel", "agents", "a.md"))
	if err != nil || !strings.Contains(string(data), "description: by "+string(rune('a'+won))) {
		t.Errorf("%v, the file is %s", err, data)
	}
	// A link out of the project is not followed.
	elsewhere := t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(folder, ".scorel", "agents", "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(folder, ".scorel")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(folder, ".scorel")); err != nil {
		t.Fatal(err)
	}
	request.Version, request.Name = "", "b"
	if status, body := e.post("/v1/save_agent", encode(t, request)); status == 200 {
		t.Errorf("an agent was written through a link: %s", body)
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) > 0 {
		t.Errorf("elsewhere there is %v, %v", entries, err)
	}
}
