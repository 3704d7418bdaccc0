package projects

import (
	"context"
	"slices"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// skillRequests are the requests about skills.
type skillRequests struct {
	*shared
	skills   Skills
	switches *state.Switches
}

func (s *skillRequests) endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListSkills, s.listSkills),
		dispatch.Serve(api.GetSkill, s.getSkill),
		dispatch.Serve(api.SetSkillEnabled, s.setSkillEnabled),
	}
}

// maxDescription bounds the description of a listed skill, in characters.
const maxDescription = 300

// found returns the folder that skills are looked for in with the skills there: those of a
// project, or the user's own.
func (s *skillRequests) found(projectID string) (folder string, found session.Skills, err error) {
	if projectID != "" {
		project, err := s.list.Find(projectID)
		if err != nil {
			return "", found, err
		}
		return project.Path, s.skills.Skills(project.Path), nil
	}
	found = s.skills.Skills(machine.UserHome())
	found.Skills = slices.DeleteFunc(found.Skills, func(info session.SkillInfo) bool { return info.Scope == session.ScopeProject })
	return "", found, nil
}

// listSkills reads the skills from the disk: they are files that people change at any time.
func (s *skillRequests) listSkills(_ context.Context, _ *dispatch.Conn, r api.ListSkillsRequest) (api.ListSkillsResponse, error) {
	folder, found, err := s.found(r.ProjectID)
	if err != nil {
		return api.ListSkillsResponse{}, err
	}
	response := api.ListSkillsResponse{Skills: make([]api.Skill, len(found.Skills)), Notes: found.Notes}
	for i, info := range found.Skills {
		response.Skills[i] = s.listed(folder, info)
	}
	return response, nil
}

// getSkill reads a skill's file again: it may have changed since it was listed.
func (s *skillRequests) getSkill(_ context.Context, _ *dispatch.Conn, r api.GetSkillRequest) (api.GetSkillResponse, error) {
	folder, info, err := s.findSkill(r.ProjectID, r.Name)
	if err != nil {
		return api.GetSkillResponse{}, err
	}
	read := skill.Read
	if skill.IsCommand(info.Path) {
		read = skill.ReadCommand
	}
	document, err := read(info.Path)
	if err != nil {
		return api.GetSkillResponse{}, api.Errorf(api.KindUnavailable, "the skill %.80s cannot be read: %v", r.Name, err)
	}
	return api.GetSkillResponse{Skill: s.listed(folder, info), Text: document.Body}, nil
}

// setSkillEnabled changes whether sessions use a skill from their next turn on.
func (s *skillRequests) setSkillEnabled(_ context.Context, c *dispatch.Conn, r api.SetSkillEnabledRequest) (api.SkillResponse, error) {
	folder, info, err := s.findSkill(r.ProjectID, r.Name)
	if err != nil {
		return api.SkillResponse{}, err
	}
	if err := s.switches.Set(state.SwitchSkill, info.Name, folder, r.Enabled); err != nil {
		return api.SkillResponse{}, err
	}
	s.log.Info("a skill was enabled or disabled", "skill", info.Name, "project", r.ProjectID, "enabled", r.Enabled, "client", c.ClientID())
	s.hub.Notify(api.SkillsChanged{})
	return api.SkillResponse{Skill: s.listed(folder, info)}, nil
}

func (s *skillRequests) findSkill(projectID, name string) (folder string, info session.SkillInfo, err error) {
	folder, found, err := s.found(projectID)
	if err != nil {
		return "", info, err
	}
	for _, info := range found.Skills {
		if info.Name == name {
			return folder, info, nil
		}
	}
	return "", info, api.Errorf(api.KindNotFound, "there is no skill %.80q: `scorel skill list` shows the skills, and why a file is left out", name)
}

func (s *skillRequests) listed(folder string, info session.SkillInfo) api.Skill {
	return api.Skill{
		Name: info.Name, Description: visible.Shorten(info.Description, maxDescription), Scope: info.Scope, Manual: info.Manual, Path: info.Path,
		Disabled: !s.skills.Enabled(folder, info.Name),
	}
}
