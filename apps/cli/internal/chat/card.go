package chat

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// guard is how long a new card ignores keys: what a person was typing when it appeared must not
// answer it. Each ignored key starts it again.
const guard = 600 * time.Millisecond

// card is a question that waits for this person: an approval or a question of the agent.
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

// waitingCards returns all that waits in a session, in the order in which it is shown.
func waitingCards(live api.Live, sessionID string) []card {
	var cards []card
	for i := range live.Approvals {
		a := &live.Approvals[i]
		cards = append(cards, card{id: a.ID, sessionID: sessionID, approval: a})
	}
	for _, batch := range live.Subagents {
		for _, child := range batch.Children {
			for i := range child.Approvals {
				a := &child.Approvals[i]
				cards = append(cards, card{id: a.ID, sessionID: child.SessionID, agent: child.Agent, approval: a})
			}
		}
	}
	for i := range live.Questions {
		q := &live.Questions[i]
		cards = append(cards, card{id: q.ID, sessionID: sessionID, question: q})
	}
	return cards
}

// what says what the card is, in a notification.
func (c *card) what() string {
	if c.approval != nil {
		return "Approval needed"
	}
	return "Question"
}

// cards shows what waits for this person, one after the other.
type cards struct {
	card     // on the screen; without an id if nothing waits
	more int // wait behind it

	now    func() time.Time
	may    func(api.Grant) bool
	field  *field // takes feedback and written answers
	notice *notices
}

// refresh shows the card that waits. What is shown changes only to another card, which ignores
// keys at first: an answer always applies to what was on the screen. Nothing takes the focus while
// the transcript is covered.
func (c *cards) refresh(live api.Live, sessionID string, covered bool) {
	waiting := append(waitingCards(live, sessionID), card{})
	c.more = len(waiting) - 2
	next := waiting[0]
	if next.id == c.id {
		return
	}
	c.stopWriting()
	c.card = next
	c.quietUntil = c.now().Add(guard)
	c.focused = next.id != "" && c.field.editor.Empty() && !covered && c.mayAnswer()
}

// clear forgets the card and what was written for it.
func (c *cards) clear() {
	c.field.endAnswer()
	c.card = card{}
}

// mayAnswer reports whether this terminal can answer the card.
func (c *cards) mayAnswer() bool {
	if c.approval != nil {
		return c.may(api.GrantApprove)
	}
	return c.may(api.GrantPrompt)
}

// focus gives the keys to the card, which ignores them at first.
func (c *cards) focus() {
	if c.id != "" && !c.field.answering() && c.mayAnswer() {
		c.focused = true
		c.quietUntil = c.now().Add(guard)
	}
}

// scrollBy moves in a long detail.
func (c *cards) scrollBy(rows int) { c.scroll = max(c.scroll+rows, 0) }

// answerTo is where an answer goes, and what signs it.
type answerTo struct {
	remote remote
	sign   Signer // may be nil
}

// key handles a key while the card has the focus. A page has a number of rows.
func (c *cards) key(name string, page int, to answerTo) tea.Cmd {
	if now := c.now(); now.Before(c.quietUntil) {
		c.quietUntil = now.Add(guard)
		return nil
	}
	switch name {
	case "tab":
		c.focused = false
		return nil
	case "up":
		c.scrollBy(-1)
		return nil
	case "down":
		c.scrollBy(1)
		return nil
	case "pgup":
		c.scrollBy(-page)
		return nil
	case "pgdown", "space":
		c.scrollBy(page)
		return nil
	case "end":
		c.scroll = 1 << 30
		return nil
	}
	switch {
	case c.sent:
		return nil
	case c.approval != nil:
		return c.approvalKey(name, to)
	}
	return c.questionKey(name, to)
}

// offers reports whether a decision is one of the possible answers.
func offers(a *api.Approval, decision api.Decision) bool {
	if _, isChoice := decision.Choice(); isChoice || decision == api.DecisionAllow || decision == api.DecisionDeny {
		return true
	}
	return slices.Contains(a.Options, decision)
}

func (c *cards) approvalKey(name string, to answerTo) tea.Cmd {
	decision := map[string]api.Decision{"y": api.DecisionAllow, "a": api.DecisionAlways, "n": api.DecisionDeny, "s": api.DecisionStop}[name]
	if choices := c.approval.Choices; len(name) == 1 && name[0] >= '1' && int(name[0]-'0') <= len(choices) {
		decision = choices[name[0]-'1'].Decision
	}
	switch {
	case name == "f" && len(c.approval.Choices) > 0:
		c.notice.say("This agent takes no feedback with an answer: deny, and write a prompt")
		return nil
	case name == "f":
		c.startWriting()
		return nil
	case decision == "" || !offers(c.approval, decision):
		return nil
	case decision != api.DecisionDeny && decision != api.DecisionStop && !c.read:
		c.notice.say("Read to the end before you allow it: PgDn or End")
		return nil
	}
	return c.decide(to, decision, "")
}

func (c *cards) questionKey(name string, to answerTo) tea.Cmd {
	q := c.question
	switch {
	case len(name) == 1 && name[0] >= '1' && int(name[0]-'1') < len(q.Choices):
		return c.reply(to, q.Choices[name[0]-'1'], false)
	case name == "d":
		return c.reply(to, "", true)
	case name == "w" || name == "enter":
		c.startWriting()
	}
	return nil
}

// startWriting lets the field take feedback or an answer.
func (c *cards) startWriting() {
	c.focused = false
	c.field.startAnswer()
}

// stopWriting gives the field its prompt back.
func (c *cards) stopWriting() {
	if c.field.endAnswer() {
		c.focused = true
	}
}

// finishWriting sends the feedback or the answer.
func (c *cards) finishWriting(to answerTo) tea.Cmd {
	text := strings.TrimSpace(c.field.editor.Text())
	if text == "" || c.sent {
		return nil
	}
	limit := api.MaxAnswer
	if c.approval != nil {
		limit = api.MaxFeedback
	}
	text = visible.Head(text, limit)
	c.stopWriting()
	if c.approval != nil {
		return c.decide(to, api.DecisionDeny, text)
	}
	return c.reply(to, text, false)
}

// cardAnswered is what came of an answer.
type cardAnswered struct {
	id          string
	won         bool
	by, outcome string
	unsigned    error // the answer could not be signed
	err         error
}

// decide answers the approval that is on the screen, bound to the hash of what was shown.
func (c *cards) decide(to answerTo, decision api.Decision, feedback string) tea.Cmd {
	c.sent = true
	approval, sessionID := *c.approval, c.sessionID
	return func() tea.Msg {
		request := api.AnswerApprovalRequest{
			SessionID: sessionID, ApprovalID: approval.ID, Decision: decision, Feedback: feedback, Shown: approval.Shown,
		}
		var unsigned error
		if to.sign != nil {
			request.Signature, unsigned = to.sign(sessionID, approval, decision, feedback)
		}
		answer, err := ask(to.remote, api.AnswerApproval, request)
		return cardAnswered{id: approval.ID, won: answer.Won, by: answer.DecidedBy, outcome: string(answer.Decision), unsigned: unsigned, err: err}
	}
}

// reply answers the question that is on the screen.
func (c *cards) reply(to answerTo, answer string, skip bool) tea.Cmd {
	c.sent = true
	question, sessionID := *c.question, c.sessionID
	return func() tea.Msg {
		got, err := ask(to.remote, api.AnswerQuestion,
			api.AnswerQuestionRequest{SessionID: sessionID, QuestionID: question.ID, Answer: answer, Skip: skip})
		return cardAnswered{id: question.ID, won: got.Won, by: got.AnsweredBy, outcome: cmp.Or(got.Answer, string(got.Outcome)), err: err}
	}
}

// took says what came of an answer, which a person can give again after an error.
func (c *cards) took(msg cardAnswered) {
	switch {
	case msg.err != nil:
		if c.id == msg.id {
			c.sent = false
		}
		c.notice.fail(msg.err)
	case !msg.won:
		c.notice.say(cmp.Or(msg.by, "Someone") + " answered first: " + msg.outcome)
	case msg.unsigned != nil:
		c.notice.say("The answer was sent without a signature: " + c.notice.explain(msg.unsigned))
	}
}
