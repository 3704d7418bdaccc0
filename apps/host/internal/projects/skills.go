package projects

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/protocol/api"
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
		response.Skills[i] = api.Skill{
			Name: info.Name, Description: beginning(info.Description), Scope: info.Scope, Manual: info.Manual,
		}
	}
	return response, nil
}

// beginning cuts a description, so that a list of many skills stays small.
func beginning(description string) string {
	if runes := []rune(description); len(runes) > maxDescription {
		return string(runes[:maxDescription-1]) + "…"
	}
	return description
}
