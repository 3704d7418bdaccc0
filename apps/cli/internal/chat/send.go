package chat

import (
	"context"
	"errors"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const onlyWatching = "This terminal may only watch"

// submit sends what was written. mode says what happens while a turn runs.
func (m *Model) submit(mode session.PromptMode) tea.Cmd {
	text := strings.TrimSpace(m.field.editor.Text())
	id := m.session.target()
	switch {
	case text == "" && len(m.field.images) == 0:
		return nil
	case m.cfg.Watch, m.conn.ever && !m.conn.may(api.GrantPrompt):
		m.notice.say(onlyWatching)
		return nil
	case id == "" && m.next.project.ID == "" && m.next.folder == "":
		return m.list(listProjects)
	}
	m.outbox.prompts = append(m.outbox.prompts, newPrompt(text, mode, m.field.images, id, m.next, m.cfg.Now()))
	m.field.sent()
	m.notice.clear()
	m.session.transcript.End()
	return m.flush()
}

// steerable reports whether a prompt can join the running turn.
func (m *Model) steerable() session.PromptMode {
	if m.session.Live.Turn != nil {
		return session.ModeSteer
	}
	return ""
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
