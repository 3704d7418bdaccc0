package sessions_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAResumedSessionSeesWhatItSaw: what the folder holds later changes nothing.
func TestAResumedSessionSeesWhatItSaw(t *testing.T) {
	model := modeltest.New(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"))
	f := newFixture(t, model)
	var reads atomic.Int32
	f.deps.Ground = func(cwd string) agent.Ground {
		n := reads.Add(1)
		if cwd != f.project.Path {
			t.Errorf("it was read for %s", cwd)
		}
		return agent.Ground{
			Instructions: session.Instructions{Files: []session.InstructionFile{{Path: "/AGENTS.md", Content: fmt.Sprintf("rule %d", n)}}},
		}
	}
	f.deps.System = agent.SystemPrompt
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	if reads.Load() != 0 {
		t.Error("a session without a turn was told of its folder already")
	}
	subscribe(t, s, w)
	send(t, s, "k1", "hi")
	w.wait(func() bool { return w.ended == 1 })
	send(t, s, "k2", "hi")
	w.wait(func() bool { return w.ended == 2 })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}

	again := f.manager(t)
	s, w = open(t, again, again.List("")[0].ID), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k3", "hi")
	w.wait(func() bool { return w.ended == 1 })
	requests := model.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d model calls", len(requests))
	}
	for i, request := range requests {
		if !strings.Contains(request.System, "rule 1") || request.System != requests[0].System {
			t.Errorf("call %d was told:\n%s", i+1, request.System)
		}
	}
	data, err := os.ReadFile(f.file(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{session.CustomInstructions, session.CustomSkills} {
		if n := strings.Count(string(data), `"`+kind+`"`); n != 1 {
			t.Errorf("the log holds %d entries %s", n, kind)
		}
	}
}
