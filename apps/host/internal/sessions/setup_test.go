package sessions_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestAResumedSessionSeesWhatItSaw: what the folder holds later changes nothing.
func TestAResumedSessionSeesWhatItSaw(t *testing.T) {
	model := modeltest.New(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"))
	f := newFixture(t, model)
	var reads atomic.Int32
	f.deps.ProjectContext = func(cwd string) agent.ProjectContext {
		n := reads.Add(1)
		if cwd != f.project.Path {
			t.Errorf("it was read for %s", cwd)
		}
		return agent.ProjectContext{
			Instructions: session.Instructions{Files: []session.InstructionFile{{Path: "/AGENTS.md", Content: fmt.Sprintf("rule %d", n)}}},
		}
	}
	f.deps.Environment = func(context.Context, string) session.Environment {
		return session.Environment{OS: "linux/amd64", Date: fmt.Sprintf("2026-01-%02d", reads.Load())}
	}
	f.deps.System = agent.SystemPrompt
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	if reads.Load() != 0 {
		t.Error("a session without a turn already has the context of its folder")
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
		if !strings.Contains(request.System, "rule 1") || !strings.Contains(request.System, "- Date: 2026-01-01\n") || request.System != requests[0].System {
			t.Errorf("call %d received:\n%s", i+1, request.System)
		}
	}
	data, err := os.ReadFile(f.file(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{session.CustomInstructions, session.CustomSkills, session.CustomEnvironment} {
		if n := strings.Count(string(data), `"`+kind+`"`); n != 1 {
			t.Errorf("the log holds %d entries %s", n, kind)
		}
	}
}

// What appears after the session has begun comes as notes behind what the model was given:
// once, in the same bytes after a restart, and with the same system prompt.
func TestWhatAppearsLaterIsAdded(t *testing.T) {
	model := modeltest.New(modeltest.Say("one"), modeltest.Say("two"), modeltest.Say("three"), modeltest.Say("four"))
	f := newFixture(t, model)
	var added atomic.Bool
	f.deps.ProjectContext = func(string) agent.ProjectContext {
		g := agent.ProjectContext{Instructions: session.Instructions{Files: []session.InstructionFile{{Path: "/AGENTS.md", Content: "rule"}}}}
		if added.Load() {
			g.Instructions.Files = append(g.Instructions.Files, session.InstructionFile{Path: "/p/AGENTS.md", Content: "late rule"})
			g.Skills.Skills = []session.SkillInfo{{Name: "pdf", Description: "Reads PDF.", Path: "/s/pdf/SKILL.md"}, {Name: "own", Path: "/s/own/SKILL.md", Manual: true}}
		}
		return g
	}
	f.deps.System = agent.SystemPrompt
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	say := func(key string, n int) {
		t.Helper()
		send(t, s, key, "hi")
		w.wait(func() bool { return w.ended == n })
	}
	say("k1", 1)
	added.Store(true)
	say("k2", 2)
	say("k3", 3)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	again := f.manager(t)
	s, w = open(t, again, again.List("")[0].ID), newWatcher()
	subscribe(t, s, w)
	say("k4", 1)
	requests := model.Requests()
	for i, request := range requests {
		text := ""
		for _, message := range request.Messages {
			text += string(message.Role) + ": " + message.Content.Plain() + "\n"
		}
		want := min(i, 1)
		if strings.Count(text, "late rule") != want || strings.Count(text, "- pdf: Reads PDF. (/s/pdf/SKILL.md)") != want || strings.Contains(text, "own") {
			t.Errorf("call %d was given\n%s", i+1, text)
		}
		if request.System != requests[0].System {
			t.Errorf("call %d has another system prompt", i+1)
		}
		if i == 0 {
			continue
		}
		before := requests[i-1].Messages
		for k := range before {
			if got, want := request.Messages[k].Content.Plain(), before[k].Content.Plain(); got != want {
				t.Errorf("call %d changed message %d from %q to %q", i+1, k, want, got)
			}
		}
	}
}

// A disabled skill is gone from the next turn on, and is back when it is enabled again.
func TestADisabledSkillIsGone(t *testing.T) {
	model := modeltest.New(modeltest.Say("1"), modeltest.Say("2"), modeltest.Say("3"))
	f := newFixture(t, model)
	var off atomic.Bool
	f.deps.ProjectContext = func(string) agent.ProjectContext {
		return agent.ProjectContext{
			Skills: session.Skills{Skills: []session.SkillInfo{{Name: "pdf", Description: "Reads PDF.", Path: "/s/pdf/SKILL.md"}, {Name: "csv", Description: "Reads CSV.", Path: "/s/csv/SKILL.md"}}},
			Off:    func(name string) bool { return off.Load() && name == "pdf" },
		}.WithoutSkillsOff()
	}
	f.deps.System = func(_ []agent.Tool, _ string, given agent.ProjectContext) string {
		return fmt.Sprint(given.Skills.Skills)
	}
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	for i := range 3 {
		off.Store(i == 1)
		if i == 1 {
			_, err := s.SendPrompt(t.Context(), "host", api.SendPromptRequest{ClientKey: "slash", Text: "/pdf read it"})
			wantKind(t, err, api.KindBadRequest, "nothing was sent. There is: /compact, /csv.")
			now, err := s.Snapshot(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range now.RuntimeContext.System {
				if strings.Contains(part.Text, "Reads PDF.") {
					t.Error("the snapshot has a disabled skill")
				}
			}
		}
		send(t, s, fmt.Sprint("k", i), "hi")
		w.wait(func() bool { return w.ended == i+1 })
	}
	for i, request := range model.Requests() {
		if strings.Contains(request.System, "Reads PDF") != (i != 1) || !strings.Contains(request.System, "Reads CSV") {
			t.Errorf("call %d received:\n%s", i+1, request.System)
		}
	}
}

// A word behind a slash that calls nothing is answered, and nothing is sent.
func TestAnUnknownCommandIsAnswered(t *testing.T) {
	model := modeltest.New(modeltest.Say("1"), modeltest.Say("2"), modeltest.Say("3"), modeltest.Say("4"), modeltest.Say("5"))
	f := newFixture(t, model)
	f.deps.ProjectContext = func(string) agent.ProjectContext {
		return agent.ProjectContext{Skills: session.Skills{Skills: []session.SkillInfo{{Name: "pdf", Path: "/s/pdf/SKILL.md"}}}}
	}
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	for _, text := range []string{"/pfd the file", " /pfd", "/help\nplease"} {
		for _, client := range []string{"cli_x", "host"} { // from elsewhere, and on the machine itself
			_, err := s.SendPrompt(t.Context(), client, api.SendPromptRequest{ClientKey: "bad", Text: text})
			wantKind(t, err, api.KindBadRequest, "nothing was sent. There is: /compact, /pdf.")
		}
	}
	if n := len(model.Requests()); n != 0 {
		t.Fatalf("the model was called %d times", n)
	}
	for i, text := range []string{"/pdf the file", "/etc/hosts is odd", "/Users", "//help", "\"/help\" does nothing"} {
		send(t, s, fmt.Sprint("k", i), text)
		w.wait(func() bool { return w.ended == i+1 })
	}
	if n := len(model.Requests()); n != 5 {
		t.Errorf("the model was called %d times", n)
	}
}
