package chat

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
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

// newPrompt returns a prompt for a session, or for one that it creates.
func newPrompt(text string, mode session.PromptMode, images []image, sessionID string, n next, now time.Time) prompt {
	p := prompt{key: rand.Text(), written: now, text: text, mode: mode, images: images, sessionID: sessionID}
	if sessionID == "" {
		p.newKey, p.want = n.key, n.want
	}
	return p
}

// sent is what came of a prompt.
type sent struct {
	prompt prompt
	err    error
}

// send sends a prompt, and creates its session in a project if it needs one.
func (o *outbox) send(r remote, p prompt, projectID string, now time.Time) tea.Cmd {
	o.flying = p.key
	waited := max(now.Sub(p.written).Milliseconds(), 0)
	return func() tea.Msg { return sent{p, deliver(r, p, projectID, waited)} }
}

func deliver(r remote, p prompt, projectID string, waitedMS int64) error {
	id := p.sessionID
	if id == "" {
		created, err := ask(r, api.CreateSession, api.CreateSessionRequest{ProjectID: projectID, ClientKey: p.newKey, Model: p.want.model})
		if err != nil {
			return err
		}
		id = created.Session.ID
		if err := prepare(r, id, p.want); err != nil {
			return err
		}
		r.feed.Open(id)
	}
	request := api.SendPromptRequest{SessionID: id, ClientKey: p.key, Text: p.text, Mode: p.mode, WaitedMS: waitedMS}
	if err := upload(r, &request, p.images); err != nil {
		return err
	}
	_, err := ask(r, api.SendPrompt, request)
	return err
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

// took makes room for the next prompt. It returns a prompt that the host did not take, with those
// that were written after it for the same session.
func (o *outbox) took(msg sent, notice *notices) (back []prompt) {
	o.arrived(msg.prompt.key)
	if msg.err == nil {
		return nil
	}
	if notice.fail(msg.err); errors.Is(msg.err, context.Canceled) { // its host is not shown any more
		notice.say("It is not known whether the last prompt arrived: look at its session before you send it again")
	}
	after := o.take(func(p prompt) bool {
		return p.sessionID == msg.prompt.sessionID && p.newKey == msg.prompt.newKey
	})
	return append([]prompt{msg.prompt}, after...)
}
