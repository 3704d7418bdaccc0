//go:build !windows

package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// mark is in every text of every event; a script puts it together.
const mark = "m4rkofpr0cess"

const markScript = `m=m4rk
m=${m}ofpr0cess
for i in 1 2 3; do
  echo "{\"type\":\"process_event\",\"stage\":\"$m-stage\",\"taskId\":\"$m\",\"message\":\"$m $i\",\"detail\":\"$m\",\"payload\":{\"$m\":\"$m\"}}" >&2
done
echo "the only output"
`

// homeWithSkill is a home with a model at server, and a folder with the skill "greet".
func homeWithSkill(t *testing.T, server *modeltest.Server) (home, folder string) {
	t.Helper()
	home, folder = t.TempDir(), t.TempDir()
	greet := filepath.Join(folder, ".agents", "skills", "greet")
	for path, text := range map[string]string{
		filepath.Join(home, "config.toml"): fmt.Sprintf("default_model = \"main\"\nauxiliary_model = \"main\"\n[providers.local]\ntype = \"openai\"\nbase_url = %q\n[models.main]\nprovider = \"local\"\nid = \"test-1\"\ncontext_window = 8000\n[compaction]\nkeep_tokens = 100\n", server.URL+"/v1"),
		filepath.Join(greet, "SKILL.md"):   "---\nname: greet\ndescription: Greets.\n---\nRun run.sh.",
		filepath.Join(greet, "run.sh"):     markScript,
		filepath.Join(greet, "failing.sh"): "echo '{\"type\":\"process_event\",\"message\":\"" + mark + "\"}' >&2; exit 4\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home, folder
}

// TestModelsReceiveNoProgress runs scripts that report, and looks at all that a provider is
// sent: at the next call, after a restart of the host, and after a compaction with a
// summary that the model writes.
func TestModelsReceiveNoProgress(t *testing.T) {
	run := func(id, script string) modeltest.Step {
		return modeltest.Calls(modeltest.Call(id, "execute_skill", fmt.Sprintf(`{"name":"greet","script":%q}`, script)))
	}
	server := modeltest.Serve(run("c1", "run.sh"), modeltest.Say(strings.Repeat("done ", 200)), run("c2", "failing.sh"), modeltest.Say(strings.Repeat("again ", 200)),
		modeltest.Say("a summary"), modeltest.Say("last"))
	t.Cleanup(server.Close)
	home, folder := homeWithSkill(t, server)

	var sessionID string
	t.Run("before", func(t *testing.T) {
		e := entryOn(t, home, folder)
		project := ask[api.ListProjectsResponse](e, "/v1/list_projects", api.Empty{}).Projects[0]
		ask[api.TrustProjectResponse](e, "/v1/trust_project", api.TrustProjectRequest{ProjectID: project.ID, Trusted: true})
		sessionID = sessionOf(t, e)
		ask[api.Empty](e, "/v1/rename_session", api.RenameSessionRequest{SessionID: sessionID, Name: "named"})
		promptTurn(e, sessionID, "one")
	})
	e := entryOn(t, home, folder)
	promptTurn(e, sessionID, "two")
	ask[api.CompactSessionResponse](e, "/v1/compact_session", api.CompactSessionRequest{SessionID: sessionID, ClientKey: "compact"})
	promptTurn(e, sessionID, "three")

	refs := recordsOf(t, e, sessionID)
	if len(refs) != 2 || refs[0].Status != session.ProcessCompleted || refs[1].Status != session.ProcessFailed {
		t.Fatalf("the records are %+v", refs)
	}
	for _, r := range refs {
		page := ask[api.GetProcessLogResponse](e, "/v1/get_process_log", api.GetProcessLogRequest{ProcessLogRef: r.ProcessLogRef})
		if !strings.Contains(fmt.Sprintf("%+v", page.Lines), mark) {
			t.Errorf("the log does not hold what was reported: %+v", page)
		}
	}
	bodies := server.Bodies()
	if len(bodies) != 6 || len(server.Refusals()) > 0 {
		t.Fatalf("%d requests, refused %q", len(bodies), server.Refusals())
	}
	for i, body := range bodies {
		for _, told := range []string{mark, "process_event", "plog:", "op_", "Ended with exit code"} {
			if strings.Contains(string(body), told) {
				t.Errorf("request %d contains %q:\n%s", i+1, told, body)
			}
		}
	}
	if !strings.Contains(string(bodies[1]), "the only output") || !strings.Contains(string(bodies[3]), "[exit code 4]") {
		t.Error("the output of the scripts is not in the requests: the test looks at the wrong place")
	}
	deleteWithLogs(t, e, home, sessionID)
}

func entryOn(t *testing.T, home, folder string) httpEntry {
	t.Helper()
	h := start(t, host.Config{Home: home, Projects: []string{folder}})
	return newHTTPEntry(t, h, h.State().Token)
}

func promptTurn(e httpEntry, sessionID, key string) {
	e.t.Helper()
	answer := ask[api.TurnAnswer](e, "/v1/send_prompt?wait=turn", api.SendPromptRequest{SessionID: sessionID, ClientKey: key, Text: key, AllowAll: true})
	if answer.Turn.StopReason != session.StopEnd {
		e.t.Fatalf("%s ended with %+v", key, answer)
	}
}

func recordsOf(t *testing.T, e httpEntry, sessionID string) []session.ProcessRecord {
	t.Helper()
	var records []session.ProcessRecord
	for _, entry := range ask[api.GetEntriesResponse](e, "/v1/get_entries", api.GetEntriesRequest{SessionID: sessionID}).Entries {
		if r, ok := entry.AsProcess(); ok {
			records = append(records, r)
		}
	}
	return records
}

// deleteWithLogs holds that the logs of a session go with it, and that they were for
// no one else's eyes.
func deleteWithLogs(t *testing.T, e httpEntry, home, sessionID string) {
	t.Helper()
	folder := filepath.Join(home, "process", sessionID)
	logs, err := os.ReadDir(folder)
	if err != nil || len(logs) != 2 {
		t.Fatalf("the logs are %v, %v", logs, err)
	}
	for _, log := range logs {
		if info, err := log.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v, %v", log.Name(), info.Mode(), err)
		}
	}
	ask[api.Empty](e, "/v1/delete_session", api.SessionRequest{SessionID: sessionID})
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the logs are still there: %v", err)
	}
}
