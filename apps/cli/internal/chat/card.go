package chat

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// guard is how long a new card ignores keys: what a person was typing when it appeared must not
// answer it. Each ignored key starts it again.
const guard = 600 * time.Millisecond

// card is the question that waits for this person: an approval or a question of the agent.
type card struct {
	id        string
	sessionID string // a subagent's may differ from the session on the screen
	agent     string // of a subagent
	approval  *api.Approval
	question  *api.Question

	quietUntil time.Time
	focused    bool // keys go to the card
	scroll     int
	read       bool // the end of the detail was visible
	sent       bool

	painted painted // of the detail
}

// painted is a detail in lines, kept while nothing changes: it may be long.
type painted struct {
	width      int
	dark       bool
	head, body []string
}

// waiting returns the oldest open card, or one without an id.
func (m *Model) waiting() card {
	live := m.session.Live
	id := m.session.Summary.ID
	if len(live.Approvals) > 0 {
		return card{id: live.Approvals[0].ID, sessionID: id, approval: &live.Approvals[0]}
	}
	for _, batch := range live.Subagents {
		for _, child := range batch.Children {
			if len(child.Approvals) > 0 {
				return card{id: child.Approvals[0].ID, sessionID: child.SessionID, agent: child.Agent, approval: &child.Approvals[0]}
			}
		}
	}
	if len(live.Questions) > 0 {
		return card{id: live.Questions[0].ID, sessionID: id, question: &live.Questions[0]}
	}
	return card{}
}

// openCards counts what waits.
func (m *Model) openCards() int {
	n := len(m.session.Live.Approvals) + len(m.session.Live.Questions)
	for _, batch := range m.session.Live.Subagents {
		for _, child := range batch.Children {
			n += len(child.Approvals)
		}
	}
	return n
}

// refreshCard shows the card that waits. What is shown changes only to another card, which
// ignores keys at first: an answer always applies to what was on the screen.
func (m *Model) refreshCard() {
	next := m.waiting()
	if next.id == m.card.id {
		return
	}
	m.stopWriting()
	next.quietUntil = m.cfg.Now().Add(guard)
	next.focused = next.id != "" && m.field.editor.Empty() && m.picker == nil && m.mayAnswer(next)
	m.card = next
}

func (m *Model) mayAnswer(c card) bool {
	if c.approval != nil {
		return m.conn.may(api.GrantApprove)
	}
	return m.conn.may(api.GrantPrompt)
}

// cardKey handles a key while the card has the focus.
func (m *Model) cardKey(name string) tea.Cmd {
	c := &m.card
	if now := m.cfg.Now(); now.Before(c.quietUntil) {
		c.quietUntil = now.Add(guard)
		return nil
	}
	switch name {
	case "tab":
		c.focused = false
		return nil
	case "pgup", "up":
		c.scroll = max(c.scroll-m.cardPage(name), 0)
		return nil
	case "pgdown", "down", "space":
		c.scroll += m.cardPage(name)
		return nil
	case "end":
		c.scroll = 1 << 30
		return nil
	}
	switch {
	case c.sent:
		return nil
	case c.approval != nil:
		return m.approvalKey(name)
	}
	return m.questionKey(name)
}

func (m *Model) cardPage(name string) int {
	if strings.HasPrefix(name, "pg") || name == "space" {
		return max(m.screen.height/3, 1)
	}
	return 1
}

// offers reports whether a decision is one of the possible answers.
func offers(a *api.Approval, decision api.Decision) bool {
	if _, isChoice := decision.Choice(); isChoice || decision == api.DecisionAllow || decision == api.DecisionDeny {
		return true
	}
	return slices.Contains(a.Options, decision)
}

func (m *Model) approvalKey(name string) tea.Cmd {
	decision := map[string]api.Decision{"y": api.DecisionAllow, "a": api.DecisionAlways, "n": api.DecisionDeny, "s": api.DecisionStop}[name]
	if choices := m.card.approval.Choices; len(name) == 1 && name[0] >= '1' && int(name[0]-'0') <= len(choices) {
		decision = choices[name[0]-'1'].Decision
	}
	switch {
	case name == "f" && len(m.card.approval.Choices) > 0:
		m.notice.say("This agent takes no feedback with an answer: deny, and write a prompt")
		return nil
	case name == "f":
		m.startWriting()
		return nil
	case decision == "" || !offers(m.card.approval, decision):
		return nil
	case decision != api.DecisionDeny && decision != api.DecisionStop && !m.card.read:
		m.notice.say("Read to the end before you allow it: PgDn or End")
		return nil
	}
	return m.decide(decision, "")
}

// decide answers the approval that is on the screen, bound to the hash of what was shown.
func (m *Model) decide(decision api.Decision, feedback string) tea.Cmd {
	c := &m.card
	c.sent = true
	approval, sessionID, r, sign := *c.approval, c.sessionID, m.conn.remote(), m.conn.to.Sign
	return func() tea.Msg {
		request := api.AnswerApprovalRequest{
			SessionID: sessionID, ApprovalID: approval.ID, Decision: decision, Feedback: feedback, Shown: approval.Shown,
		}
		var unsigned error
		if sign != nil {
			request.Signature, unsigned = sign(sessionID, approval, decision, feedback)
		}
		answer, err := ask(r, api.AnswerApproval, request)
		return answerDone{id: approval.ID, won: answer.Won, by: answer.DecidedBy, outcome: string(answer.Decision), unsigned: unsigned, err: err}
	}
}

// answerDone is what came of an answer.
type answerDone struct {
	id          string
	won         bool
	by, outcome string
	unsigned    error // the answer could not be signed
	err         error
}

func (m *Model) answerDone(msg answerDone) {
	switch {
	case msg.err != nil:
		if m.card.id == msg.id {
			m.card.sent = false
		}
		m.notice.fail(msg.err)
	case !msg.won:
		m.notice.say(cmp.Or(msg.by, "Someone") + " answered first: " + msg.outcome)
	case msg.unsigned != nil:
		m.notice.say("The answer was sent without a signature: " + m.cfg.Explain(msg.unsigned))
	}
}

func (m *Model) questionKey(name string) tea.Cmd {
	q := m.card.question
	switch {
	case len(name) == 1 && name[0] >= '1' && int(name[0]-'1') < len(q.Choices):
		return m.reply(q.Choices[name[0]-'1'], false)
	case name == "d":
		return m.reply("", true)
	case name == "w" || name == "enter":
		m.startWriting()
	}
	return nil
}

func (m *Model) reply(answer string, skip bool) tea.Cmd {
	c := &m.card
	c.sent = true
	question, sessionID, r := *c.question, c.sessionID, m.conn.remote()
	return func() tea.Msg {
		got, err := ask(r, api.AnswerQuestion,
			api.AnswerQuestionRequest{SessionID: sessionID, QuestionID: question.ID, Answer: answer, Skip: skip})
		return answerDone{id: question.ID, won: got.Won, by: got.AnsweredBy, outcome: cmp.Or(got.Answer, string(got.Outcome)), err: err}
	}
}

// startWriting lets the field take feedback or an answer.
func (m *Model) startWriting() {
	m.card.focused = false
	m.field.startAnswer()
}

// stopWriting gives the field its prompt back.
func (m *Model) stopWriting() {
	if m.field.endAnswer() {
		m.card.focused = true
	}
}

// finishWriting sends the feedback or the answer.
func (m *Model) finishWriting() tea.Cmd {
	text := strings.TrimSpace(m.field.editor.Text())
	if text == "" || m.card.sent {
		return nil
	}
	limit := api.MaxAnswer
	if m.card.approval != nil {
		limit = api.MaxFeedback
	}
	text = strings.ToValidUTF8(text[:min(len(text), limit)], "")
	m.stopWriting()
	if m.card.approval != nil {
		return m.decide(api.DecisionDeny, text)
	}
	return m.reply(text, false)
}

// waits says what the session waits for.
func waits(s api.Live) string {
	switch {
	case len(s.Questions) > 0 && len(s.Approvals) == 0:
		return asks(&s.Questions[0])
	case len(s.Approvals) > 0 || s.SubagentWaits():
		return "Approval needed"
	}
	return ""
}

// steerable reports whether a prompt can join the running turn.
func (m *Model) steerable() session.PromptMode {
	if m.session.Live.Turn != nil {
		return session.ModeSteer
	}
	return ""
}
