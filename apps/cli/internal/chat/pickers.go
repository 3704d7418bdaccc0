package chat

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxListed bounds the sessions of the list.
const maxListed = 500

// pickSession lists the sessions of the host, those of this project first.
func (m *Model) pickSession() tea.Cmd {
	p := newPicker("Sessions", "No sessions yet", func(r row) tea.Cmd {
		if id, ok := r.value.(string); ok && id != "" {
			m.open(id)
			return nil
		}
		m.begin()
		if m.cfg.Folder == "" && m.project.ID == "" {
			return m.pickProject()
		}
		return nil
	})
	r, current, project, now := m.conn.remote(), m.session.Summary.ID, m.project.ID, m.cfg.Now()
	fresh, here := m.conn.may(api.GrantPrompt), m.cfg.Folder != ""
	return m.load(p, func() ([]row, error) {
		list, err := feed.With(r.ctx, r.feed, func(c *client.Client) ([]api.SessionSummary, error) {
			return client.Sessions(r.ctx, c, api.ListSessionsRequest{Limit: maxListed})
		})
		projects, errProjects := ask(r, api.ListProjects, api.Empty{})
		names := map[string]string{}
		for _, p := range projects.Projects {
			names[p.ID] = p.Name
		}
		slices.SortStableFunc(list, func(a, b api.SessionSummary) int { return cmp.Compare(rank(a, project), rank(b, project)) })
		var rows []row
		if fresh && here {
			rows = append(rows, row{title: "New session", value: ""})
		}
		for _, s := range list {
			rows = append(rows, row{
				title: cmp.Or(s.Name, "Untitled"), detail: sessionDetail(s, names[s.ProjectID], now), current: s.ID == current, value: s.ID,
			})
		}
		if fresh && !here { // a session was looked for
			rows = append(rows, row{title: "New session", value: ""})
		}
		return rows, cmp.Or(err, errProjects)
	})
}

// rank sorts what needs a person first, then this project.
func rank(s api.SessionSummary, project string) int {
	switch {
	case s.WaitingApproval || s.WaitingAnswer:
		return 0
	case s.ProjectID == project:
		return 1
	}
	return 2
}

func sessionDetail(s api.SessionSummary, project string, now time.Time) string {
	state := ago(s.UpdatedAt, now)
	switch {
	case s.WaitingApproval || s.WaitingAnswer:
		state = "Needs you"
	case s.Running:
		state = "Working"
	}
	return project + " · " + state
}

// ago says how long ago a time was.
func ago(ms int64, now time.Time) string {
	passed := now.Sub(time.UnixMilli(ms))
	switch {
	case passed < time.Minute:
		return "just now"
	case passed < time.Hour:
		return fmt.Sprintf("%d min ago", int(passed.Minutes()))
	case passed < 24*time.Hour:
		return fmt.Sprintf("%d h ago", int(passed.Hours()))
	}
	return fmt.Sprintf("%d d ago", int(passed.Hours()/24))
}

// pickProject chooses where the next session starts.
func (m *Model) pickProject() tea.Cmd {
	p := newPicker("Project of the new session", "No projects on this host", func(r row) tea.Cmd {
		if project, ok := r.value.(api.Project); ok {
			m.project = project
			m.begin()
		}
		return nil
	})
	r := m.conn.remote()
	return m.load(p, func() ([]row, error) {
		list, err := ask(r, api.ListProjects, api.Empty{})
		var rows []row
		for _, project := range list.Projects {
			rows = append(rows, row{title: project.Name, detail: project.Path, value: project})
		}
		return rows, err
	})
}

// pickModel lists the models of the host.
func (m *Model) pickModel() tea.Cmd {
	p := newPicker("Model", "", func(r row) tea.Cmd { return m.setModel(r.value.(string), "") })
	for _, model := range m.conn.host.Models {
		detail := model.Provider + " · " + model.ID
		if model.Demo {
			detail = "Demo, not an AI"
		}
		p.rows = append(p.rows, row{title: model.Name, detail: detail, current: model.Name == m.model(), value: model.Name})
	}
	m.show(p)
	return nil
}

// pickThinking lists the reasoning levels of the model.
func (m *Model) pickThinking() tea.Cmd {
	p := newPicker("Reasoning", "This model has no reasoning levels", func(r row) tea.Cmd { return m.setModel("", r.value.(string)) })
	for _, model := range m.conn.host.Models {
		if model.Name != m.model() {
			continue
		}
		for _, level := range model.ThinkingLevels {
			p.rows = append(p.rows, row{title: level, current: level == m.session.Summary.Thinking, value: level})
		}
	}
	m.show(p)
	return nil
}

// modeTexts says what each mode allows.
func modeTexts() map[api.Mode]string {
	return map[api.Mode]string{
		api.ModePlan:        "Plan only: reads, and changes nothing",
		api.ModeAsk:         "Ask first: asks about every change that no rule allows",
		api.ModeAcceptEdits: "Auto-accept edits: edits project files freely; asks for everything else",
		api.ModeAuto:        "Auto: runs anything that isn't high risk",
		api.ModeBypass:      "Bypass permissions: asks only about commands that cannot be analyzed",
	}
}

// pickMode lists the permission modes.
func (m *Model) pickMode() tea.Cmd {
	p := newPicker("Permissions", "", func(r row) tea.Cmd { return m.setMode(r.value.(api.Mode)) })
	for _, mode := range api.Modes() {
		p.rows = append(p.rows, row{title: string(mode), detail: modeTexts()[mode], current: mode == m.mode(), value: mode})
	}
	m.show(p)
	return nil
}

// pickQueue lists the queued prompts; one that is picked goes back to the field.
func (m *Model) pickQueue() tea.Cmd {
	p := newPicker("Queue", "No queued prompts", func(r row) tea.Cmd { return m.takeBack(r.value.(session.QueuedPrompt)) })
	p.hint = "Enter: edit in the field · Esc: close"
	for _, queued := range m.session.Live.Queue {
		p.rows = append(p.rows, row{title: queued.Text, detail: queueDetail(queued), value: queued})
	}
	m.show(p)
	return nil
}

func queueDetail(q session.QueuedPrompt) string {
	if q.Mode == session.ModeSteer {
		return "Will be read at the next step"
	}
	return "Queued"
}

// takeBack removes a prompt from the queue and puts its text into the field.
func (m *Model) takeBack(q session.QueuedPrompt) tea.Cmd {
	request := api.EditQueueRequest{SessionID: m.session.Summary.ID, Expected: []string{}, Items: []api.QueueItem{}}
	for _, other := range m.session.Live.Queue {
		request.Expected = append(request.Expected, other.ClientKey)
		if other.ClientKey != q.ClientKey {
			request.Items = append(request.Items, api.QueueItem{ClientKey: other.ClientKey})
		}
	}
	m.editor.Set(q.Text)
	return order(m.conn.remote(), "Removed from the queue", api.EditQueue, request)
}

// show opens a picker whose rows are there.
func (m *Model) show(p *picker) {
	m.picker, m.complete = p, completion{}
	for i, r := range p.rows {
		if r.current {
			p.at = i
		}
	}
}
