package projects

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxDescription bounds the description of a listed skill, in characters.
const maxDescription = 300

// listSkills reads the skills from the disk: they are files that people change at any time.
func (p *Projects) listSkills(_ context.Context, _ *dispatch.Conn, r api.ListSkillsRequest) (api.ListSkillsResponse, error) {
	project, err := p.list.Find(r.ProjectID)
	if err != nil {
		return api.ListSkillsResponse{}, err
	}
	found := p.skills(project.Path)
	response := api.ListSkillsResponse{Skills: make([]api.Skill, len(found.Skills)), Notes: found.Notes}
	for i, info := range found.Skills {
		response.Skills[i] = listed(info)
	}
	return response, nil
}

// getSkill reads a skill's file again: it may have changed since it was listed.
func (p *Projects) getSkill(_ context.Context, _ *dispatch.Conn, r api.GetSkillRequest) (api.GetSkillResponse, error) {
	project, err := p.list.Find(r.ProjectID)
	if err != nil {
		return api.GetSkillResponse{}, err
	}
	for _, info := range p.skills(project.Path).Skills {
		if info.Name != r.Name {
			continue
		}
		document, err := skill.Read(info.Path)
		if err != nil {
			return api.GetSkillResponse{}, api.Errorf(api.KindUnavailable, "the skill %.80s cannot be read: %v", r.Name, err)
		}
		return api.GetSkillResponse{Skill: listed(info), Text: document.Body}, nil
	}
	return api.GetSkillResponse{}, api.Errorf(api.KindNotFound, "there is no skill %.80q: `scorel skill list` shows the skills, and why a file is left out", r.Name)
}

func listed(info session.SkillInfo) api.Skill {
	return api.Skill{
		Name: info.Name, Description: beginning(info.Description), Scope: info.Scope, Manual: info.Manual, Path: info.Path,
	}
}

// beginning cuts a description, so that a list of many skills stays small.
func beginning(description string) string {
	if runes := []rune(description); len(runes) > maxDescription {
		return string(runes[:maxDescription-1]) + "…"
	}
	return description
}
