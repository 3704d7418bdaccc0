package chat

import (
	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// listed names a list that a key or a command opens.
type listed int

const (
	listSessions listed = iota
	listProjects
	listModels
	listThinking
	listModes
	listQueue
	listSearch
	listBranches
	listHelp
)

// list opens a list.
func (m *Model) list(what listed) tea.Cmd {
	r := m.conn.remote()
	switch what {
	case listSessions:
		return m.show(sessionPicker(r, sessionList{
			current: m.session.Summary.ID, project: m.next.project.ID, now: m.cfg.Now(),
			fresh: m.conn.may(api.GrantPrompt), here: m.next.folder != "",
		}))
	case listProjects:
		return m.show(projectPicker(r))
	case listModels:
		return m.show(modelPicker(m.conn.host.Models, m.settings().model), nil)
	case listThinking:
		return m.show(thinkingPicker(m.conn.host.Models, m.settings()), nil)
	case listModes:
		return m.show(modePicker(m.settings().mode), nil)
	case listQueue:
		return m.show(queuePicker(m.session.Live.Queue), nil)
	case listSearch:
		return m.show(searchPicker(r, m.cfg.Others, m.conn.to.device()), nil)
	case listBranches:
		if m.session.Summary.ID == "" {
			m.notice.say("A new session has no branches")
			return nil
		}
		return m.show(branchPicker(r, m.session.Summary.ID, m.session.Leaf()))
	}
	return m.show(helpPicker(), nil)
}

// show opens a list, which may still be loading with a command.
func (m *Model) show(p *picker, loading tea.Cmd) tea.Cmd {
	m.picker = p
	m.complete.close()
	p.toCurrent()
	return loading
}

// pickerKey gives a key to the open list.
func (m *Model) pickerKey(name, text string) tea.Cmd {
	p := m.picker
	chosen, cmd := p.key(name, text)
	if p.closed {
		m.picker = nil
	}
	if chosen != nil {
		return m.do(chosen)
	}
	return cmd
}
