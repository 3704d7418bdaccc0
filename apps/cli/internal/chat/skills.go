package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/protocol/api"
)

// skillsFound brings the skills that a word may name.
type skillsFound struct {
	word string
	rows []row
}

// findSkills adds the skills of the project to the commands.
func (m *Model) findSkills(word string) tea.Cmd {
	if m.project.ID == "" && m.session.Summary.ProjectID == "" || !m.connected {
		return nil
	}
	project := m.session.Summary.ProjectID
	if project == "" {
		project = m.project.ID
	}
	f := m.feed
	return func() tea.Msg {
		list, err := feed.Do(m.ctx, f, api.ListSkills, api.ListSkillsRequest{ProjectID: project})
		if err != nil {
			return nil // the commands are offered in any case
		}
		var rows []row
		for _, skill := range list.Skills {
			if strings.HasPrefix(skill.Name, word[1:]) {
				rows = append(rows, row{title: "/" + skill.Name, detail: skill.Description, value: "/" + skill.Name + " "})
			}
		}
		return skillsFound{word, rows}
	}
}

// takeSkills shows skills behind the commands.
func (c *completion) takeSkills(msg skillsFound) {
	if msg.word == c.word {
		c.rows = append(c.rows, msg.rows...)
		align(c.rows)
	}
}
