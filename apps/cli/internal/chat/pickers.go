package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxListed bounds the sessions of the list.
const maxListed = 500

// openSession opens a session of the host; "" begins a new one.
type openSession struct{ id string }

// sessionList says what the list of sessions is to show.
type sessionList struct {
	current string // id of the session on the screen
	project string // id of the project whose sessions come first
	fresh   bool   // a new one is offered
	here    bool   // before the others
	now     time.Time
}

// sessionPicker lists the sessions of the host, those of this project first.
func sessionPicker(r remote, l sessionList) (*picker, tea.Cmd) {
	p := newPicker("Sessions", "No sessions yet", func(r row) tea.Msg { return openSession{r.value.(string)} })
	return p, p.load(func() ([]row, error) {
		list, err := feed.With(r.ctx, r.feed, func(c *client.Client) ([]api.SessionSummary, error) {
			return client.Sessions(r.ctx, c, api.ListSessionsRequest{Limit: maxListed})
		})
		projects, errProjects := ask(r, api.ListProjects, api.Empty{})
		return l.rows(list, projects.Projects), cmp.Or(err, errProjects)
	})
}

func (l sessionList) rows(list []api.SessionSummary, projects []api.Project) []row {
	names := map[string]string{}
	for _, p := range projects {
		names[p.ID] = p.Name
	}
	slices.SortStableFunc(list, func(a, b api.SessionSummary) int { return cmp.Compare(rank(a, l.project), rank(b, l.project)) })
	fresh := row{title: "New session", value: ""}
	var rows []row
	if l.fresh && l.here {
		rows = append(rows, fresh)
	}
	for _, s := range list {
		rows = append(rows, row{
			title: cmp.Or(s.Name, "Untitled"), detail: sessionDetail(s, names[s.ProjectID], l.now), current: s.ID == l.current, value: s.ID,
		})
	}
	if l.fresh && !l.here { // a session was looked for
		rows = append(rows, fresh)
	}
	return rows
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

// chosenProject is where the next session starts.
type chosenProject struct{ project api.Project }

// projectPicker chooses where the next session starts.
func projectPicker(r remote) (*picker, tea.Cmd) {
	p := newPicker("Project of the new session", "No projects on this host", func(r row) tea.Msg {
		return chosenProject{r.value.(api.Project)}
	})
	return p, p.load(func() ([]row, error) {
		list, err := ask(r, api.ListProjects, api.Empty{})
		var rows []row
		for _, project := range list.Projects {
			rows = append(rows, row{title: project.Name, detail: project.Path, value: project})
		}
		return rows, err
	})
}

// modelPicker lists the models of the host.
func modelPicker(models []api.Model, current string) *picker {
	p := newPicker("Model", "", func(r row) tea.Msg { return choices{model: r.value.(string)} })
	for _, model := range models {
		detail := model.Provider + " · " + model.ID
		if model.Demo {
			detail = "Demo, not an AI"
		}
		p.rows = append(p.rows, row{title: model.Name, detail: detail, current: model.Name == current, value: model.Name})
	}
	return p
}

// thinkingPicker lists the reasoning levels of the model.
func thinkingPicker(models []api.Model, current choices) *picker {
	p := newPicker("Reasoning", "This model has no reasoning levels", func(r row) tea.Msg { return choices{thinking: r.value.(string)} })
	for _, model := range models {
		if model.Name != current.model {
			continue
		}
		for _, level := range model.ThinkingLevels {
			p.rows = append(p.rows, row{title: level, current: level == current.thinking, value: level})
		}
	}
	return p
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

// modePicker lists the permission modes.
func modePicker(current api.Mode) *picker {
	p := newPicker("Permissions", "", func(r row) tea.Msg { return choices{mode: r.value.(api.Mode)} })
	for _, mode := range api.Modes() {
		p.rows = append(p.rows, row{title: string(mode), detail: modeTexts()[mode], current: mode == current, value: mode})
	}
	return p
}

// editQueued takes a prompt out of the queue, to be changed and sent again.
type editQueued struct{ prompt session.QueuedPrompt }

// queuePicker lists the queued prompts; one that is picked goes back to the field.
func queuePicker(queue []session.QueuedPrompt) *picker {
	p := newPicker("Queue", "No queued prompts", func(r row) tea.Msg { return editQueued{r.value.(session.QueuedPrompt)} })
	p.hint = "Enter: edit in the field · Esc: close"
	for _, queued := range queue {
		p.rows = append(p.rows, row{title: queued.Text, detail: queueDetail(queued), value: queued})
	}
	return p
}

func queueDetail(q session.QueuedPrompt) string {
	if q.Mode == session.ModeSteer {
		return "Will be read at the next step"
	}
	return "Queued"
}

// dequeue removes a prompt from the queue of a session.
func dequeue(r remote, sessionID string, queue []session.QueuedPrompt, q session.QueuedPrompt) tea.Cmd {
	request := api.EditQueueRequest{SessionID: sessionID, Expected: []string{}, Items: []api.QueueItem{}}
	for _, other := range queue {
		request.Expected = append(request.Expected, other.ClientKey)
		if other.ClientKey != q.ClientKey {
			request.Items = append(request.Items, api.QueueItem{ClientKey: other.ClientKey})
		}
	}
	return order(r, "Removed from the queue", api.EditQueue, request)
}

// helpPicker lists keys and commands.
func helpPicker() *picker {
	p := newPicker("Keys and commands", "", func(row) tea.Msg { return nil })
	p.hint = "type to filter · Esc: close"
	for _, b := range bindings() {
		p.rows = append(p.rows, row{title: KeyName(b.keys[0]), detail: b.what})
	}
	for _, b := range cardBindings() {
		p.rows = append(p.rows, row{title: KeyName(b.keys[0]), detail: "On a card: " + b.what})
	}
	for _, s := range slashes() {
		p.rows = append(p.rows, row{title: strings.TrimSpace("/" + s.name + " " + s.args), detail: s.what})
	}
	align(p.rows)
	return p
}
