package chat

import (
	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// answered takes the answer to a request.
func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case projectFound:
		return m.tookProject(msg)
	case clipboardRead:
		if err := m.field.tookClipboard(msg); err != nil {
			m.notice.fail(err)
		}
	case entries:
		m.session.earlier(msg)
	case sent:
		m.field.giveBack(m.outbox.took(msg, m.notice))
		return m.flush()
	case copied:
		if msg.err != nil {
			m.notice.fail(msg.err)
			return nil
		}
		m.open(msg.summary.ID)
	case said:
		if msg.err != nil {
			m.notice.fail(msg.err)
		} else if msg.text != "" {
			m.notice.say(msg.text)
		}
	case cardAnswered:
		m.card.took(msg)
	case found, skillsFound, offered:
		m.complete.took(msg, m.scope().project)
	case picked:
		if msg.picker == m.picker {
			m.picker.took(msg, m.notice.explainer)
		}
	case searched:
		if msg.picker == m.picker {
			m.picker.found(msg, m.notice.explainer)
		}
	case moved:
		m.wasMoved(msg)
	}
	return nil
}

// cancel cancels the running turn.
func (m *Model) cancel() tea.Cmd {
	turn := m.session.Live.Turn
	if turn == nil || !m.conn.may(api.GrantPrompt) {
		return nil
	}
	return order(m.conn.remote(), "", api.CancelTurn, api.CancelTurnRequest{SessionID: m.session.Summary.ID, TurnID: turn.TurnID})
}
