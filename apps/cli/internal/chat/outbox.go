package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// prompt is on its way to the host. The keys make the session and the prompt happen once, however
// often the connection is lost.
type prompt struct {
	key       string
	written   time.Time
	text      string
	mode      session.PromptMode
	images    []image
	sessionID string  // "" for a session that this prompt creates
	newKey    string  // client key of that session
	want      choices // for that session
}

// outbox holds prompts until the host has taken them. They go one after the other, so that they
// arrive in the order in which they were written.
type outbox struct {
	prompts []prompt
	flying  string // key of the one that was sent
}

// next returns the prompt whose turn it is.
func (o *outbox) next() (prompt, bool) {
	if o.flying != "" || len(o.prompts) == 0 {
		return prompt{}, false
	}
	return o.prompts[0], true
}

// take removes prompts, but not one that was sent.
func (o *outbox) take(which func(prompt) bool) []prompt {
	var taken []prompt
	o.prompts = slices.DeleteFunc(o.prompts, func(p prompt) bool {
		if p.key == o.flying || !which(p) {
			return false
		}
		taken = append(taken, p)
		return true
	})
	return taken
}

// arrived removes the prompt that was sent.
func (o *outbox) arrived(key string) {
	o.prompts = slices.DeleteFunc(o.prompts, func(p prompt) bool { return p.key == key })
	if o.flying == key {
		o.flying = ""
	}
}

func anyPrompt(prompt) bool    { return true }
func newSession(p prompt) bool { return p.sessionID == "" }

// flush sends the next prompt as soon as the host and the project of a new session are known.
func (m *Model) flush() tea.Cmd {
	p, ok := m.outbox.next()
	switch {
	case !ok || !m.conn.ever:
		return nil
	case !m.conn.may(api.GrantPrompt):
		m.giveBack(m.outbox.take(anyPrompt))
		m.notice.say(onlyWatching)
		return nil
	case newSession(p) && m.next.project.ID == "":
		return m.next.find(m.conn.remote())
	}
	m.outbox.flying = p.key
	return m.send(p)
}

// giveBack puts prompts that were not sent back into the field, before what is there.
func (m *Model) giveBack(prompts []prompt) {
	if len(prompts) == 0 {
		return
	}
	var (
		texts  []string
		images []image
	)
	for _, p := range prompts {
		images = append(images, p.images...)
		if p.text != "" {
			texts = append(texts, p.text)
		}
	}
	if !m.editor.Empty() {
		texts = append(texts, m.editor.Text())
	}
	m.images = append(images, m.images...)
	m.editor.Set(strings.Join(texts, "\n\n"))
}

// sent is what came of a prompt.
type sent struct {
	prompt prompt
	err    error
}

// wasSent continues with the next prompt, or gives one back that the host did not take, with those
// that were written after it for the same session.
func (m *Model) wasSent(msg sent) tea.Cmd {
	m.outbox.arrived(msg.prompt.key)
	if msg.err != nil {
		if m.notice.fail(msg.err); errors.Is(msg.err, context.Canceled) { // its host is not shown any more
			m.notice.say("It is not known whether the last prompt arrived: look at its session before you send it again")
		}
		after := m.outbox.take(func(p prompt) bool {
			return p.sessionID == msg.prompt.sessionID && p.newKey == msg.prompt.newKey
		})
		m.giveBack(append([]prompt{msg.prompt}, after...))
	}
	return m.flush()
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
		m.giveBack(m.outbox.take(newSession))
		return nil
	}
	if m.next.project.ID == "" { // none was chosen in the meantime
		m.next.project = msg.project
	}
	return m.flush()
}

const onlyWatching = "This terminal may only watch"

// submit sends what was written. mode says what happens while a turn runs.
func (m *Model) submit(mode session.PromptMode) tea.Cmd {
	text := strings.TrimSpace(m.editor.Text())
	id := m.session.target()
	switch {
	case text == "" && len(m.images) == 0:
		return nil
	case m.cfg.Watch, m.conn.ever && !m.conn.may(api.GrantPrompt):
		m.notice.say(onlyWatching)
		return nil
	case id == "" && m.next.project.ID == "" && m.next.folder == "":
		return m.list(listProjects)
	}
	p := prompt{key: rand.Text(), written: m.cfg.Now(), text: text, mode: mode, images: m.images, sessionID: id}
	if id == "" {
		p.newKey, p.want = m.next.key, m.next.want
	}
	m.outbox.prompts = append(m.outbox.prompts, p)
	m.editor.Remember(text)
	m.editor.Set("")
	m.images = nil
	m.notice.clear()
	m.session.transcript.End()
	return m.flush()
}

// send creates the session, if there is none, and sends a prompt.
func (m *Model) send(p prompt) tea.Cmd {
	r, projectID, id := m.conn.remote(), m.next.project.ID, p.sessionID
	waited := max(m.cfg.Now().Sub(p.written).Milliseconds(), 0)
	return func() tea.Msg {
		if id == "" {
			created, err := ask(r, api.CreateSession, api.CreateSessionRequest{ProjectID: projectID, ClientKey: p.newKey, Model: p.want.model})
			if err == nil {
				id = created.Session.ID
				err = prepare(r, id, p.want)
			}
			if err != nil {
				return sent{p, err}
			}
			r.feed.Open(id)
		}
		request := api.SendPromptRequest{SessionID: id, ClientKey: p.key, Text: p.text, Mode: p.mode, WaitedMS: waited}
		if err := attach(r, &request, p.images); err != nil {
			return sent{p, err}
		}
		_, err := ask(r, api.SendPrompt, request)
		return sent{p, err}
	}
}
