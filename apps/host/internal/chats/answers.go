package chats

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// hashData is the data of a button that answers an approval: the decision and the hash of what
// was shown.
func hashData(decision api.Decision, shown string) string {
	raw, err := hex.DecodeString(shown)
	if err != nil || len(raw) > 40 {
		return ""
	}
	return string(decision[:1]) + ":" + base64.RawURLEncoding.EncodeToString(raw)
}

// press handles a button.
func (h *handling) press(ctx context.Context, p channel.Press) error {
	presser := p.From.ID
	if p.Anyone {
		presser = "" // whoever the server hears
	}
	b, c, err := h.here(ctx, p.Chat.ID, presser)
	if b == nil || err != nil {
		return err
	}
	notice := ""
	what, rest, _ := strings.Cut(p.Data, ":")
	switch what {
	case "s":
		notice, err = h.switchTo(ctx, b, c, rest)
	case "a", "d":
		notice, err = h.answerApproval(ctx, b, c, p)
	case "q":
		notice, err = h.pressChoice(ctx, b, c, p)
	}
	var refused *api.Error
	if errors.As(err, &refused) {
		notice = refused.Message
	}
	h.mu.Lock()
	platform := h.platform
	h.mu.Unlock()
	if err := platform.Answer(ctx, p, notice); err != nil {
		h.Logger.Debug("confirming a button", "channel", h.store.read().ID, "error", err)
	}
	return err
}

// askedBy returns what a button answers, or nil. matches compares the data of the button with
// what was asked. A message whose id is not stored yet may be the one; any other is not.
func (h *handling) askedBy(b *bound, p channel.Press, matches func(asked) bool) *asked {
	stored := h.store.read()
	i := slices.IndexFunc(b.Asked, func(a asked) bool {
		id := stored.messageOf(a.Name)
		return matches(a) && (id == "" || id == p.MessageID)
	})
	if i < 0 {
		return nil
	}
	return &b.Asked[i]
}

const changed = "This was answered already, or has changed: nothing was decided."

// answerApproval answers an approval. The button carries the hash of what was shown in the
// message; the host compares it with what waits now.
func (h *handling) answerApproval(ctx context.Context, b *bound, c *client.Client, p channel.Press) (string, error) {
	decision := api.DecisionDeny
	if strings.HasPrefix(p.Data, "a:") {
		decision = api.DecisionAllow
	}
	a := h.askedBy(b, p, func(a asked) bool { return !a.Question && hashData(decision, a.Shown) == p.Data })
	if i := slices.IndexFunc(b.Past, func(before past) bool { return hashData(decision, before.Shown) == p.Data }); a == nil && i >= 0 {
		return "This waits no more. " + b.Past[i].How, nil
	}
	if a == nil {
		return changed, nil
	}
	notice, _, err := h.decide(ctx, c, *a, decision)
	return notice, err
}

// decide answers an approval that the chat was shown, and says how that ended; won says that it
// was this answer that counts.
func (h *handling) decide(ctx context.Context, c *client.Client, a asked, decision api.Decision) (notice string, won bool, err error) {
	if decision == api.DecisionAllow && a.Partial {
		return "It was not shown in full here: allow it in the web UI, or with `scorel inbox`.", false, nil
	}
	answer, err := client.Call(ctx, c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: a.Session, ApprovalID: a.ID, Decision: decision, Shown: a.Shown})
	var refused *api.Error
	if errors.As(err, &refused) && (refused.Kind == api.KindNotFound || refused.Kind == api.KindConflict) {
		return changed, false, nil
	}
	if err != nil {
		return "", false, err
	}
	if !answer.Won {
		return "Answered before: " + h.decided(answer.Decision, answer.DecidedBy, answer.Released), false, nil
	}
	return h.decided(answer.Decision, "", nil), true, nil
}

// pressChoice answers a question with one of its choices.
func (h *handling) pressChoice(ctx context.Context, b *bound, c *client.Client, p channel.Press) (string, error) {
	answer := ""
	a := h.askedBy(b, p, func(a asked) bool {
		n := slices.IndexFunc(a.Choices, func(choice string) bool { return choiceData(a.ID, slices.Index(a.Choices, choice)) == p.Data })
		if a.Question && n >= 0 {
			answer = a.Choices[n]
		}
		return a.Question && n >= 0
	})
	if a == nil {
		return changed, nil
	}
	return "", h.answerQuestion(ctx, c, *a, answer)
}

// choiceData is the data of a button that answers a question.
func choiceData(questionID string, n int) string {
	return "q:" + strconv.Itoa(n) + ":" + key("question", questionID)
}

func (h *handling) answerQuestion(ctx context.Context, c *client.Client, q asked, answer string) error {
	_, err := client.Call(ctx, c, api.AnswerQuestion, api.AnswerQuestionRequest{SessionID: q.Session, QuestionID: q.ID, Answer: channel.Cut(answer, api.MaxAnswer)})
	return err
}

// decided says how an approval ended. by is "" for the chat itself.
func (c *Chats) decided(d api.Decision, by string, released *session.Release) string {
	if released != nil {
		return "Allowed by a rule or mode."
	}
	words := map[api.Decision]string{api.DecisionAllow: "Allowed", api.DecisionAlways: "Allowed, also from now on,", api.DecisionDeny: "Denied", api.DecisionStop: "Denied and stopped"}
	word, known := words[d]
	if !known {
		return "Canceled."
	}
	if name := c.name(by); name != "" {
		word += " by " + name
	}
	return strings.TrimSuffix(word, ",") + "."
}

func (c *Chats) name(clientID string) string {
	if clientID == "" {
		return ""
	}
	if label := c.Label(clientID); label != "" {
		return label
	}
	return channel.CleanName(c.NameOf(clientID))
}
