package host_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestLimitsOfAgentsApplyFromTheNextTurn: a change of [crew] needs no restart. A file that
// cannot be used changes nothing and is reported, and clients are notified of each change.
func TestLimitsOfAgentsApplyFromTheNextTurn(t *testing.T) {
	s := newScene(t, nil, modeltest.Say("1"), modeltest.Say("2"), modeltest.Say("3"), modeltest.Say("4"), modeltest.Say("5"))
	path := filepath.Join(s.home, "config.toml")
	scene, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	s.enter(t, h)
	changed := make(chan struct{}, 100)
	c := dial(t, h, func(e api.EventEnvelope) {
		if _, ok := e.Event.(api.AgentsChanged); ok {
			changed <- struct{}{}
		}
	})
	const broken = "\n[crew]\nenabled = false\nmax_concurent = 1\n"
	for i, step := range []struct {
		more    string // of config.toml
		offered bool
		told    bool
		note    string
	}{
		{"", true, false, ""},
		{"\n[crew]\nenabled = false\n", false, true, ""},
		{broken, false, true, "max_concurent"},
		{"\n[crew]\npresets = [\"nobody\"]\n", false, true, `there is no agent "nobody"`},
		{"\n[crew]\nmax_concurrent = 2\n", true, true, ""},
	} {
		if err := os.WriteFile(path, append(scene[:len(scene):len(scene)], step.more...), 0o600); err != nil {
			t.Fatal(err)
		}
		s.send(t, strings.Repeat("k", i+1), "go")
		s.wait(i + 1)
		bodies := s.server.Bodies()
		if body := string(bodies[len(bodies)-1]); strings.Contains(body, `"delegate_task"`) != step.offered {
			t.Errorf("turn %d: agents should be offered: %v", i+1, step.offered)
		}
		if step.told {
			<-changed
		}
		list := call(t, c, api.ListAgents, api.ListAgentsRequest{})
		if notes := strings.Join(list.Notes, "\n"); step.note == "" && notes != "" || !strings.Contains(notes, step.note) {
			t.Errorf("turn %d: the notes are %q, want %q", i+1, notes, step.note)
		}
		for _, a := range list.Agents {
			if a.Offered != step.offered {
				t.Errorf("turn %d: %s is offered: %v", i+1, a.Name, a.Offered)
			}
		}
	}
	if n := len(changed); n > 0 {
		t.Errorf("clients were notified %d more times", n)
	}
}

// TestClientsHearOfAgents: by requests, by the trust of a folder, and by files that a person
// changed, once someone looks.
func TestClientsHearOfAgents(t *testing.T) {
	s := newScene(t, map[string]string{".scorel/agents/theirs.md": "---\nname: theirs\ndescription: Reads\n---\nRead.\n"})
	h := start(t, host.Config{Home: s.home, Projects: []string{s.folder}})
	changed := make(chan struct{}, 100)
	c := dial(t, h, func(e api.EventEnvelope) {
		if _, ok := e.Event.(api.AgentsChanged); ok {
			changed <- struct{}{}
		}
	})
	project := call(t, c, api.ListProjects, api.Empty{}).Projects[0].ID
	list := func() api.ListAgentsResponse {
		return call(t, c, api.ListAgents, api.ListAgentsRequest{ProjectID: project})
	}
	list()
	list()
	call(t, c, api.TrustProject, api.TrustProjectRequest{ProjectID: project, Trusted: true})
	<-changed
	draft := api.AgentDraft{Description: "Reads", Enabled: true, Prompt: "You only read."}
	saved := call(t, c, api.SaveAgent, api.SaveAgentRequest{Scope: api.AgentUser, Name: "reader", Agent: draft}).Agent
	<-changed
	list()
	call(t, c, api.DeleteAgent, api.DeleteAgentRequest{Scope: api.AgentUser, Name: "reader", Version: saved.Version})
	<-changed
	list()
	file := filepath.Join(s.folder, ".scorel", "agents", "theirs.md")
	if err := os.WriteFile(file, []byte("---\nname: theirs\ndescription: Writes\n---\nWrite.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	list()
	<-changed
	list()
	if n := len(changed); n > 0 {
		t.Errorf("clients were notified %d more times", n)
	}
}
