package chat

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// skillsFound brings the skills that a word may name.
type skillsFound struct {
	word string
	rows []row
}

// findSkills adds the skills of the project to the commands, or those that another program in the
// session has.
func (m *Model) findSkills(word string) tea.Cmd {
	project := m.projectID()
	if project == "" || !m.conn.connected {
		return nil
	}
	r, id := m.conn.remote(), m.session.Summary.ID
	if m.session.Summary.Backend != "" {
		return func() tea.Msg {
			response, err := ask(r, api.GetBackend, api.GetBackendRequest{SessionID: id})
			if err != nil {
				return nil // an older host
			}
			var rows []row
			for _, c := range response.Commands {
				if strings.HasPrefix(c.Name, word[1:]) {
					rows = append(rows, row{title: strings.TrimSpace("/" + c.Name + " " + c.Hint), detail: c.Description, value: "/" + c.Name + " "})
				}
			}
			return skillsFound{word, rows}
		}
	}
	return func() tea.Msg {
		list, err := ask(r, api.ListSkills, api.ListSkillsRequest{ProjectID: project})
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

// projectID is the project of the session, or of the next one.
func (m *Model) projectID() string {
	return cmp.Or(m.session.Summary.ProjectID, m.next.project.ID)
}

// takeSkills shows skills behind the commands.
func (c *completion) takeSkills(msg skillsFound) {
	if msg.word == c.word {
		c.show(slices.Concat(c.others(), msg.rows), c.offers)
	}
}
