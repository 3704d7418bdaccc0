package chat

import (
	"crypto/rand"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// do does what a key, a command or a list asks for.
func (m *Model) do(what tea.Msg) tea.Cmd {
	r, id := m.conn.remote(), m.session.Summary.ID
	switch w := what.(type) {
	case listed:
		return m.list(w)
	case openSession:
		if w.id != "" {
			m.open(w.id)
			return nil
		}
		m.begin()
		if m.next.folder == "" && m.next.project.ID == "" {
			return m.list(listProjects)
		}
	case beginSession:
		m.begin()
	case chosenProject:
		m.next.project = w.project
		m.begin()
	case hit:
		m.openHit(w)
	case branchFrom:
		return moveLeaf(r, w)
	case forkSession:
		if id == "" {
			m.notice.say("A new session cannot be forked")
			return nil
		}
		return fork(r, id)
	case rename:
		if id == "" {
			m.notice.say("Send the first prompt before you rename the session")
			return nil
		}
		return order(r, "", api.RenameSession, api.RenameSessionRequest{SessionID: id, Name: w.name})
	case choices:
		return m.next.set(r, id, w)
	case cancelTurn:
		if turn := m.session.Live.Turn; turn != nil && m.conn.may(api.GrantPrompt) {
			return order(r, "", api.CancelTurn, api.CancelTurnRequest{SessionID: id, TurnID: turn.TurnID})
		}
	case steer:
		m.field.editor.Set(w.text)
		return m.submit(m.session.steers())
	case editQueued:
		m.field.setPrompt(w.prompt.Text)
		return dequeue(r, id, m.session.Live.Queue, w.prompt)
	case attachImage:
		m.notice.report(m.field.attachFile(w.path))
	case said:
		m.notice.said(w)
	case tea.QuitMsg:
		return tea.Quit
	}
	return nil
}

// open shows another session of the host.
func (m *Model) open(sessionID string) {
	m.field.giveBack(m.outbox.take(newSession))
	m.session.open(sessionID)
	m.notice.clear()
	m.conn.feed.Open(sessionID)
}

// begin starts a new session with the next prompt.
func (m *Model) begin() {
	m.open("")
	m.next.key = rand.Text()
	m.reset()
}

// openHit opens the session of a hit at its entry, on another host if it is there.
func (m *Model) openHit(h hit) {
	switch {
	case h.host != nil:
		m.switchTo(*h.host, h.SessionID)
	case h.SessionID != m.session.Summary.ID || m.session.opening != "":
		m.open(h.SessionID)
	}
	m.session.find(h.SessionID, h.EntryID)
}

// switchTo shows a session of another host.
func (m *Model) switchTo(host Host, sessionID string) {
	m.cfg.Session = sessionID
	m.next.elsewhere()
	m.field.giveBack(m.outbox.take(anyPrompt))
	m.session.open(sessionID)
	m.conn.follow(host, sessionID)
	m.reset()
}

// reset forgets the session on the screen.
func (m *Model) reset() {
	m.session.clear(m.screen.theme)
	m.card.clear()
}

// settings are those of the session, or of the one that the next prompt creates.
func (m *Model) settings() choices {
	return m.next.settings(m.session.Summary, m.conn.host.DefaultModel)
}
