package chat

import (
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

// findSkills looks for the skills of the project, or for the commands of another program that works
// in the session. Without an answer, the commands of this terminal are offered in any case.
func findSkills(s scope, word string) tea.Cmd {
	if s.project == "" || !s.remote.connected {
		return nil
	}
	find := skillRows
	if s.session.Backend != "" {
		find = backendRows
	}
	return func() tea.Msg {
		rows, err := find(s, word[1:])
		if err != nil {
			return nil
		}
		return skillsFound{word, rows}
	}
}

func skillRows(s scope, begin string) ([]row, error) {
	list, err := ask(s.remote, api.ListSkills, api.ListSkillsRequest{ProjectID: s.project})
	var rows []row
	for _, skill := range list.Skills {
		if strings.HasPrefix(skill.Name, begin) {
			rows = append(rows, row{title: "/" + skill.Name, detail: skill.Description, value: "/" + skill.Name + " "})
		}
	}
	return rows, err
}

// backendRows fails on an older host.
func backendRows(s scope, begin string) ([]row, error) {
	response, err := ask(s.remote, api.GetBackend, api.GetBackendRequest{SessionID: s.session.ID})
	var rows []row
	for _, c := range response.Commands {
		if strings.HasPrefix(c.Name, begin) {
			rows = append(rows, row{title: strings.TrimSpace("/" + c.Name + " " + c.Hint), detail: c.Description, value: "/" + c.Name + " "})
		}
	}
	return rows, err
}

// takeSkills shows skills behind the commands.
func (c *suggestions) takeSkills(msg skillsFound) {
	if msg.word == c.word {
		c.show(slices.Concat(c.others(), msg.rows), c.offers)
	}
}
