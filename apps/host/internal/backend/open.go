package backend

import (
	"context"
	"errors"
	"strings"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/session"
)

// open gives the program a session that knows the path, and returns the blocks of the prompt.
func (w *work) open(ctx context.Context) ([]acp.ContentBlock, error) {
	starting, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	missed := w.kept.Missed
	w.program.state = w.backends.current(w.sessionID, w.program)
	if err := w.join(starting); err != nil {
		return nil, w.program.why(starting, err)
	}
	w.backends.opened(w.sessionID, w.program)
	if w.program.session != w.kept.AgentSession {
		missed = w.before()
	}
	record := session.BackendRecord{Kind: session.BackendSession, AgentSession: w.program.session, Agent: w.named(), Rebuilt: len(missed)}
	if err := w.keeper.Keep(ctx, record); err != nil {
		return nil, err
	}
	if err := w.script.options(ctx, stateOptions(w.program.state)); err != nil {
		return nil, err
	}
	if w.program.session == w.kept.AgentSession {
		w.turn.System = "" // it has been told
	}
	return w.prompt(missed), nil
}

// join continues the session that the log names, or begins a new one.
func (w *work) join(ctx context.Context) error {
	p := w.program
	known := w.kept.AgentSession
	if p.session != "" && p.session == known {
		return w.prepare(ctx)
	}
	p.session = ""
	if known != "" {
		if state, ok := w.again(ctx, known); ok {
			p.session, p.state = known, state
			return w.prepare(ctx)
		}
		if !p.alive() {
			return errors.New("the program ended while it loaded the session")
		}
	}
	state, err := p.agent.NewSession(ctx, acp.NewSessionRequest{Cwd: w.turn.Cwd})
	if err != nil {
		return err
	}
	p.session, p.state = state.SessionID, state
	return w.prepare(ctx)
}

// again resumes or loads a session; false if the agent cannot, and is given the path as text.
func (w *work) again(ctx context.Context, known string) (acp.SessionState, bool) {
	info := w.program.agent.Info().AgentCapabilities
	request := acp.LoadSessionRequest{SessionID: known, Cwd: w.turn.Cwd}
	if info.SessionCapabilities.Resume != nil {
		if state, err := w.program.agent.ResumeSession(ctx, request); err == nil {
			return state, true
		}
	}
	if info.LoadSession {
		if state, err := w.program.agent.LoadSession(ctx, request); err == nil {
			return state, true
		}
	}
	return acp.SessionState{}, false
}

// named is how the program names itself.
func (w *work) named() string {
	info := w.program.agent.Info().AgentInfo
	if info == nil {
		return ""
	}
	return strings.TrimSpace(info.Name + " " + info.Version)
}

// before returns the messages of the path before the prompt of the turn.
func (w *work) before() []session.Message {
	messages := w.turn.Messages
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == session.RoleUser && !messages[i].Note {
			return messages[:i]
		}
	}
	return nil
}

// prompt returns the blocks of the prompt: what the agent has missed, what the host adds, and
// what the person wrote.
func (w *work) prompt(missed []session.Message) []acp.ContentBlock {
	var blocks []acp.ContentBlock
	if w.turn.System != "" {
		blocks = append(blocks, acp.Text(strings.TrimSpace(w.turn.System)))
	}
	if text := rebuilt(missed); text != "" {
		blocks = append(blocks, acp.Text(text))
	}
	images := w.program.agent.Info().AgentCapabilities.PromptCapabilities.Image
	for _, message := range w.turn.Messages[len(w.before()):] {
		for _, block := range message.Content {
			switch {
			case block.Type == session.BlockText && block.Text != "":
				blocks = append(blocks, acp.Text(block.Text))
			case block.Type == session.BlockImage && images && block.Data != "":
				blocks = append(blocks, acp.Image(block.MimeType, block.Data))
			case block.Type == session.BlockImage:
				blocks = append(blocks, acp.Text("[An image was attached, which this agent cannot see.]"))
			}
		}
	}
	return blocks
}
