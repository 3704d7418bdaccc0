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
		return m.show(searchPicker(r, m.others), nil)
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

// others are the hosts that a search covers besides the open one.
func (m *Model) others() []Host {
	if m.cfg.Others == nil {
		return nil
	}
	return m.cfg.Others(m.conn.to.device())
}

// pickerKey gives a key to the open list.
func (m *Model) pickerKey(name, text string) tea.Cmd {
	p := m.picker
	chosen, cmd := p.key(name, text)
	if p.closed {
		m.picker = nil
	}
	if chosen != nil {
		return m.chose(chosen)
	}
	return cmd
}

// chose does what was chosen from a list.
func (m *Model) chose(what tea.Msg) tea.Cmd {
	r := m.conn.remote()
	switch c := what.(type) {
	case openSession:
		if c.id != "" {
			m.open(c.id)
			return nil
		}
		m.begin()
		if m.next.folder == "" && m.next.project.ID == "" {
			return m.list(listProjects)
		}
	case chosenProject:
		m.next.project = c.project
		m.begin()
	case choices:
		return m.next.set(r, m.session.Summary.ID, c)
	case editQueued:
		m.field.setPrompt(c.prompt.Text)
		return dequeue(r, m.session.Summary.ID, m.session.Live.Queue, c.prompt)
	case hit:
		return m.openHit(c)
	case branchFrom:
		return moveLeaf(r, c)
	}
	return nil
}

// openHit opens the session of a hit at its entry, on another host if it is there.
func (m *Model) openHit(h hit) tea.Cmd {
	var cmd tea.Cmd
	switch {
	case h.host != nil:
		cmd = m.switchTo(*h.host, h.SessionID)
	case h.SessionID != m.session.Summary.ID || m.session.opening != "":
		m.open(h.SessionID)
	}
	m.session.find(h.SessionID, h.EntryID)
	return cmd
}

// wasMoved puts the prompt of the target into the field, to be changed and sent again.
func (m *Model) wasMoved(msg moved) {
	if msg.err != nil {
		m.notice.fail(msg.err)
		return
	}
	if msg.response.Text != "" && m.field.prompt() == "" {
		m.field.setPrompt(msg.response.Text)
	}
}

// fork copies the session, to open the copy.
func (m *Model) fork() tea.Cmd {
	if m.session.Summary.ID == "" {
		m.notice.say("A new session cannot be forked")
		return nil
	}
	return fork(m.conn.remote(), m.session.Summary.ID)
}

// settings are those of the session, or of the one that the next prompt creates.
func (m *Model) settings() choices {
	return m.next.settings(m.session.Summary, m.conn.host.DefaultModel)
}
