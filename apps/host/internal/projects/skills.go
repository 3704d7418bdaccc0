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
)

// maxDescription bounds the description of a listed skill, in characters.
const maxDescription = 300

// found returns the folder that skills are looked for in with the skills there: those of a
// project, or the user's own.
func (p *Projects) found(projectID string) (folder string, found session.Skills, err error) {
	if projectID != "" {
		project, err := p.list.Find(projectID)
		if err != nil {
			return "", found, err
		}
		return project.Path, p.skills.Skills(project.Path), nil
	}
	found = p.skills.Skills(machine.UserHome())
	found.Skills = slices.DeleteFunc(found.Skills, func(info session.SkillInfo) bool { return info.Scope == session.ScopeProject })
	return "", found, nil
}

// listSkills reads the skills from the disk: they are files that people change at any time.
func (p *Projects) listSkills(_ context.Context, _ *dispatch.Conn, r api.ListSkillsRequest) (api.ListSkillsResponse, error) {
	folder, found, err := p.found(r.ProjectID)
	if err != nil {
		return api.ListSkillsResponse{}, err
	}
	response := api.ListSkillsResponse{Skills: make([]api.Skill, len(found.Skills)), Notes: found.Notes}
	for i, info := range found.Skills {
		response.Skills[i] = p.listed(folder, info)
	}
	return response, nil
}

// getSkill reads a skill's file again: it may have changed since it was listed.
func (p *Projects) getSkill(_ context.Context, _ *dispatch.Conn, r api.GetSkillRequest) (api.GetSkillResponse, error) {
	folder, info, err := p.findSkill(r.ProjectID, r.Name)
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
	return api.GetSkillResponse{Skill: p.listed(folder, info), Text: document.Body}, nil
}

// setSkillEnabled changes whether sessions use a skill from their next turn on.
func (p *Projects) setSkillEnabled(_ context.Context, c *dispatch.Conn, r api.SetSkillEnabledRequest) (api.SkillResponse, error) {
	folder, info, err := p.findSkill(r.ProjectID, r.Name)
	if err != nil {
		return api.SkillResponse{}, err
	}
	if err := p.switches.Set(state.SwitchSkill, info.Name, folder, r.Enabled); err != nil {
		return api.SkillResponse{}, err
	}
	p.log.Info("a skill was enabled or disabled", "skill", info.Name, "project", r.ProjectID, "enabled", r.Enabled, "client", c.ClientID())
	p.hub.Notify(api.SkillsChanged{})
	return api.SkillResponse{Skill: p.listed(folder, info)}, nil
}

func (p *Projects) findSkill(projectID, name string) (folder string, info session.SkillInfo, err error) {
	folder, found, err := p.found(projectID)
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

func (p *Projects) listed(folder string, info session.SkillInfo) api.Skill {
	return api.Skill{
		Name: info.Name, Description: beginning(info.Description), Scope: info.Scope, Manual: info.Manual, Path: info.Path,
		Disabled: !p.skills.Enabled(folder, info.Name),
	}
}

// beginning cuts a description, so that a list of many skills stays small.
func beginning(description string) string {
	if runes := []rune(description); len(runes) > maxDescription {
		return string(runes[:maxDescription-1]) + "…"
	}
	return description
}
