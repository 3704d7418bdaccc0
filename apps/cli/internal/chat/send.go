package chat

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const onlyWatching = "This terminal may only watch"

// submit sends what was written: an answer to its card, or a prompt. mode says what happens to a
// prompt while a turn runs.
func (m *Model) submit(mode session.PromptMode) tea.Cmd {
	id := m.session.target()
	switch {
	case m.field.answering():
		return m.card.finishWriting(m.answerTo())
	case m.field.blank():
		return nil
	case m.cfg.Watch, m.conn.ever && !m.conn.may(api.GrantPrompt):
		m.notice.say(onlyWatching)
		return nil
	case id == "" && m.next.project.ID == "" && m.next.folder == "":
		return m.list(listProjects)
	}
	text, images := m.field.take()
	m.outbox.prompts = append(m.outbox.prompts, newPrompt(text, mode, images, id, m.next, m.cfg.Now()))
	m.notice.clear()
	m.session.transcript.End()
	return m.flush()
}

// flush sends the next prompt as soon as the host and the project of a new session are known.
func (m *Model) flush() tea.Cmd {
	p, ok := m.outbox.next()
	switch {
	case !ok || !m.conn.ever:
		return nil
	case !m.conn.may(api.GrantPrompt):
		m.field.giveBack(m.outbox.take(anyPrompt))
		m.notice.say(onlyWatching)
		return nil
	case newSession(p) && m.next.project.ID == "":
		return m.next.find(m.conn.remote())
	}
	return m.outbox.send(m.conn.remote(), p, m.next.project.ID, m.cfg.Now())
}

// tookProject sends what waited for the project.
func (m *Model) tookProject(msg projectFound) tea.Cmd {
	if msg.from.feed != m.conn.feed || m.next.folder == "" { // of a host that is not shown any more
		return nil
	}
	m.next.finding = false
	if msg.err != nil {
		if !errors.Is(msg.err, context.Canceled) {
			m.notice.fail(msg.err)
		}
		m.field.giveBack(m.outbox.take(newSession))
		return nil
	}
	if m.next.project.ID == "" { // none was chosen in the meantime
		m.next.project = msg.project
	}
	return m.flush()
}
