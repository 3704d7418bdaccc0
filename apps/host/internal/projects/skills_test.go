package projects_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/packages/protocol/api"
)

func writeSkill(t *testing.T, folder, name, front string) {
	t.Helper()
	folder = filepath.Join(folder, "skills", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: " + name + "\n" + front + "\n---\nDo it.\n"
	if err := os.WriteFile(filepath.Join(folder, "SKILL.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSkillsOfAProjectAreListed(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	writeSkill(t, filepath.Join(project.Path, ".scorel"), "release", "description: Makes a release.\ndisable-model-invocation: true")
	writeSkill(t, w.Paths.Home, "notes", "description: "+strings.Repeat("ü", 500))
	list := func() map[string]api.Skill {
		skills := map[string]api.Skill{}
		for _, each := range dispatchtest.Call(t, w.local, api.ListSkills, api.ListSkillsRequest{ProjectID: project.ID}).Skills {
			skills[each.Name] = each
		}
		return skills
	}
	skills := list()
	if _, ok := skills["release"]; ok {
		t.Error("a skill of a folder that is not trusted is listed")
	}
	notes := skills["notes"]
	if notes.Scope != "user" || notes.Manual || utf8.RuneCountInString(notes.Description) != 300 {
		t.Errorf("the user's skill is %+v", notes)
	}
	if err := w.Trust.Set(project.Path, true); err != nil {
		t.Fatal(err)
	}
	want := api.Skill{Name: "release", Description: "Makes a release.", Scope: "project", Manual: true, Path: filepath.Join(project.Path, ".scorel", "skills", "release", "SKILL.md")}
	if got := list()["release"]; got != want {
		t.Errorf("the project's skill is %+v, want %+v", got, want)
	}
	text := dispatchtest.Call(t, w.local, api.GetSkill, api.GetSkillRequest{ProjectID: project.ID, Name: "release"})
	if text.Skill != want || text.Text != "Do it." {
		t.Errorf("the project's skill is %+v, want %+v", text, want)
	}
	dispatchtest.Refused(t, w.local, api.GetSkill, api.GetSkillRequest{ProjectID: project.ID, Name: "none"}, api.KindNotFound)
	dispatchtest.Refused(t, w.local, api.ListSkills, api.ListSkillsRequest{ProjectID: "prj_none"}, api.KindNotFound)
}

// TestSkillsAreDisabled: for every project or one, and each client is notified.
func TestSkillsAreDisabled(t *testing.T) {
	w := newWorld(t)
	project := w.AddProject()
	writeSkill(t, w.Paths.Home, "notes", "description: Takes notes.")
	disabled := func(projectID string) bool {
		t.Helper()
		listed := dispatchtest.Call(t, w.local, api.ListSkills, api.ListSkillsRequest{ProjectID: projectID}).Skills
		if len(listed) != 1 || listed[0].Name != "notes" {
			t.Fatalf("the skills of %q are %+v", projectID, listed)
		}
		return listed[0].Disabled
	}
	set := func(projectID string, enabled bool) {
		t.Helper()
		request := api.SetSkillEnabledRequest{ProjectID: projectID, Name: "notes", Enabled: enabled}
		if got := dispatchtest.Call(t, w.local, api.SetSkillEnabled, request).Skill; got.Disabled == enabled {
			t.Errorf("after %+v the skill is %+v", request, got)
		}
		if event := <-w.local.Events; event != (api.SkillsChanged{}).EventType() {
			t.Errorf("the clients were sent %s", event)
		}
	}
	set(project.ID, false)
	if disabled("") || !disabled(project.ID) {
		t.Error("a skill disabled in a project is enabled there, or disabled elsewhere")
	}
	set("", false)
	set(project.ID, true)
	if !disabled("") || disabled(project.ID) {
		t.Error("the setting of a project does not come first")
	}
	dispatchtest.Refused(t, w.local, api.SetSkillEnabled, api.SetSkillEnabledRequest{Name: "none"}, api.KindNotFound)
	dispatchtest.Refused(t, w.Connect("ent_other", api.GrantView, api.GrantPrompt, api.GrantApprove), api.SetSkillEnabled, api.SetSkillEnabledRequest{Name: "notes"}, api.KindNotAllowed)
}
