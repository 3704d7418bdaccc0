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
