package subagent_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestProgressOfAChildReachesTheParent: progress reported by a script that a subagent runs
// also appears in the parent session, below the task's operation.
func TestProgressOfAChildReachesTheParent(t *testing.T) {
	child := modeltest.New(
		modeltest.Calls(modeltest.Call("r1", "execute_skill", `{"name":"convert","script":"run.sh"}`)), modeltest.Say("the report"))
	w := newWorld(t, casting{"go": modeltest.New(modeltest.Calls(delegate("c1", "one")), modeltest.Say("done")), "one": child})
	folder := t.TempDir()
	for name, text := range map[string]string{
		"SKILL.md": "---\nname: convert\ndescription: Converts.\n---\n",
		"run.sh":   "#!/bin/sh\necho '{\"type\":\"process_event\",\"stage\":\"pages\",\"message\":\"Page 1\",\"current\":1,\"total\":4}' >&2\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.skills = []session.SkillInfo{{Name: "convert", Description: "Converts.", Path: filepath.Join(folder, "SKILL.md"), Scope: session.ScopeUser}}
	s, watch := w.begin(t, w.manager(t))
	ask(t, s, api.SendPromptRequest{Text: "go", AllowAll: true})
	watch.waitEnd(1)
	watch.wait(func() bool { return len(watch.live.Processes) == 0 })
	all := records[session.ProcessRecord](t, watch, session.CustomProcess)
	of := func(target session.ProcessTarget, source string) session.ProcessRecord {
		i := slices.IndexFunc(all, func(r session.ProcessRecord) bool { return r.TargetType == target && r.Source == source })
		if i < 0 {
			t.Fatalf("there is no record of %s %s: %+v", target, source, all)
		}
		return all[i]
	}
	call, task, script := of(session.ProcessAgent, "crew"), of(session.ProcessAgent, "general"), of(session.ProcessSkill, "convert")
	if script.ParentOperationID != task.OperationID || task.ParentOperationID != call.OperationID || script.ToolCallID != "c1" {
		t.Errorf("the script is below %q of %+v", script.ParentOperationID, all)
	}
	if script.ToolName != "execute_skill" || task.ToolName != "delegate_task" || script.Status != session.ProcessCompleted {
		t.Errorf("the tools are %q and %q, the script %s", script.ToolName, task.ToolName, script.Status)
	}
	if slices.Index(opIDs(all), script.OperationID) > slices.Index(opIDs(all), task.OperationID) {
		t.Error("a part ends after the whole")
	}
	pages := slices.IndexFunc(script.Lines, func(l session.ProcessLine) bool { return l.Stage == "pages" && l.Percent != nil && *l.Percent == 25 })
	if pages < 0 || script.Lines[pages].ParentOperationID != task.OperationID || script.Lines[pages].ToolName != "execute_skill" {
		t.Errorf("the lines of the script are %+v", script.Lines)
	}
}

func opIDs(records []session.ProcessRecord) (ids []string) {
	for _, r := range records {
		ids = append(ids, r.OperationID)
	}
	return ids
}
