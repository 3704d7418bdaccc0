package host_test

import (
	"encoding/json"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestWhoReadsARepositoryOnGitHub: gh reads what its login can see, so a connection that may not
// approve names a remote of the project only. A schedule that reads another one already can be
// changed otherwise.
func TestWhoReadsARepositoryOnGitHub(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "a\n"})
	g.bash(t, g.folder, "git remote add origin git@github.com:Anna/Site.git && git remote add up https://example.com/anna/other")
	addToken(t, g.h, "prompt", api.GrantView, api.GrantPrompt, api.GrantManage)
	addToken(t, g.h, "approve", api.GrantView, api.GrantPrompt, api.GrantManage, api.GrantApprove)
	prompt, approve := newHTTPEntry(t, g.h, "prompt"), newHTTPEntry(t, g.h, "approve")
	request := func(key, repository string) api.SaveScheduleRequest {
		when := api.ScheduleWhen{GitHub: &api.ScheduleGitHub{Repository: repository, Authors: []string{"anna"}, Phrase: "@scorel"}}
		return api.SaveScheduleRequest{ProjectID: g.project.ID, ClientKey: key, Spec: api.ScheduleSpec{Name: repository, Prompt: "Answer this.", When: when}}
	}
	refused := func(r api.SaveScheduleRequest) {
		t.Helper()
		body, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		status, answer := prompt.post("/v1/save_schedule", string(body))
		wantHTTP(t, status, answer, 403, api.KindNotAllowed)
	}
	refused(request("a", "anna/private"))
	refused(request("b", "anna/other"))
	own := ask[api.ScheduleResponse](prompt, "/v1/save_schedule", request("c", "anna/site")).Schedule
	moved := request("", "anna/private")
	moved.ID = own.ID
	refused(moved)
	other := ask[api.ScheduleResponse](approve, "/v1/save_schedule", request("d", "anna/private")).Schedule
	changed := request("", "anna/private")
	changed.ID, changed.Spec.Prompt = other.ID, "Answer this in French."
	ask[api.ScheduleResponse](prompt, "/v1/save_schedule", changed)
	changed.Spec.When.GitHub.Authors = []string{"anna", "bob"}
	refused(changed)
	ask[api.ScheduleResponse](newHTTPEntry(t, g.h, g.h.State().Token), "/v1/save_schedule", request("e", "anna/more"))
}
