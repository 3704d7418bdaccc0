package chat

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// choices are what a person chose for a session; "" leaves a setting as it is.
type choices struct {
	model, thinking string
	mode            api.Mode
}

// next is the session that the next prompt creates.
type next struct {
	folder  string // on the host, which becomes its project; "" if a person chooses one
	project api.Project
	finding bool   // the project of the folder was requested
	key     string // client key of the session
	want    choices
}

// set changes a session, or what the next one gets if there is none.
func (n *next) set(r remote, sessionID string, c choices) tea.Cmd {
	if sessionID == "" {
		n.want = choices{cmp.Or(c.model, n.want.model), cmp.Or(c.thinking, n.want.thinking), cmp.Or(c.mode, n.want.mode)}
		return nil
	}
	if c.mode != "" {
		return order(r, "", api.SetMode, api.SetModeRequest{SessionID: sessionID, Mode: c.mode})
	}
	return order(r, "", api.SetModel, api.SetModelRequest{SessionID: sessionID, Model: c.model, Thinking: c.thinking})
}

// settings are those of a session, or of the next one for a summary without an id.
func (n *next) settings(s api.SessionSummary, defaultModel string) choices {
	model := s.Model
	if s.ID == "" {
		model = cmp.Or(n.want.model, defaultModel)
	}
	return choices{model, cmp.Or(n.want.thinking, s.Thinking), cmp.Or(n.want.mode, s.Mode, api.ModeAsk)}
}

// elsewhere forgets the folder and the project, which are of another host.
func (n *next) elsewhere() { n.folder, n.project, n.finding = "", api.Project{}, false }

// projectFound is the answer to find.
type projectFound struct {
	from    remote
	project api.Project
	err     error
}

// find makes the folder a project.
func (n *next) find(r remote) tea.Cmd {
	if n.folder == "" || n.finding {
		return nil
	}
	n.finding = true
	folder := n.folder
	return func() tea.Msg {
		added, err := ask(r, api.AddProject, api.AddProjectRequest{Path: folder})
		return projectFound{r, added.Project, err}
	}
}
