package chat

import (
	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// answered takes the answer to a request.
func (m *Model) answered(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case projectFound:
		return m.tookProject(msg)
	case entries:
		m.session.earlier(msg)
	case sent:
		return m.wasSent(msg)
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
	case answerDone:
		m.answerDone(msg)
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

// prepare sets what was chosen before the session was created.
func prepare(r remote, id string, want choices) error {
	if want.thinking != "" {
		if _, err := ask(r, api.SetModel, api.SetModelRequest{SessionID: id, Thinking: want.thinking}); err != nil {
			return err
		}
	}
	if want.mode == "" {
		return nil
	}
	_, err := ask(r, api.SetMode, api.SetModeRequest{SessionID: id, Mode: want.mode})
	return err
}

// attach uploads the images of a prompt and refers to them.
func attach(r remote, request *api.SendPromptRequest, images []image) error {
	if len(images) == 0 {
		return nil
	}
	if request.Text != "" {
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockText, Text: request.Text})
		request.Text = ""
	}
	for _, picture := range images {
		hash, err := feed.With(r.ctx, r.feed, func(c *client.Client) (string, error) { return client.Upload(r.ctx, c, picture.data) })
		if err != nil {
			return err
		}
		request.Content = append(request.Content, api.PromptBlock{Type: session.BlockImage, SHA256: hash})
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
