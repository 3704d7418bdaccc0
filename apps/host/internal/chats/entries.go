package chats

import (
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const livePrefix = "live:"

// liveName is the name of the message that is being written in a session.
func (t *talk) liveName(session string) string { return livePrefix + t.clientID + ":" + session }

// isLive reports whether a message has such a name.
func isLive(name string) bool { return strings.HasPrefix(name, livePrefix) }

// patience is how long an answer is written before its beginning is shown.
const patience = time.Second

// preview shows the beginning of an answer while it is written, where messages can be edited.
func (t *talk) preview(sessionID string, l *live) error {
	b, limits := t.bound(), t.platformLimits()
	if b == nil || b.Session != sessionID || !limits.Edits && !limits.Grows {
		return nil
	}
	text := ""
	for _, block := range l.Partial {
		if block.Type == session.BlockText {
			text += block.Text
		}
	}
	now := t.Now()
	switch {
	case text == "":
		l.began = now
		return nil
	case now.Sub(l.began) < patience:
		t.again.Reset(patience)
		return nil
	}
	name := t.liveName(sessionID)
	stored := t.store.read()
	if stored.messageOf(name) == "" {
		if slices.ContainsFunc(stored.Outbox, func(i item) bool { return i.Name == name }) {
			return nil
		}
		return t.change(func(f *record, b *bound) {
			f.say(item{Chat: b.Chat.ID, Text: t.firstPart(text), Name: name, Silent: true, Growing: true})
		})
	}
	t.running.mu.Lock()
	t.previews[b.Chat.ID] = preview{name, text}
	t.running.mu.Unlock()
	wake(t.waiting)
	return nil
}

func (t *talk) firstPart(text string) []channel.Segment {
	if parts := channel.Split(channel.ParseMarkdown(text), t.platformLimits()); len(parts) > 0 {
		return parts[0]
	}
	return channel.Text("…")
}

// entry sends what an entry of the log says to people. Whatever it adds is stored together with
// its position, so that it is sent once.
func (t *talk) entry(sessionID string, l *live, e session.Entry) error {
	if record, ok := approvalOf(e); ok && record.Decision != "" { // after a restart, no event says it
		l.decided[record.ApprovalID] = t.decided(api.Decision(record.Decision), record.DecidedBy, record.Released)
	}
	if record, ok := questionOf(e); ok && record.Outcome != "" {
		l.decided[record.QuestionID] = t.answered(api.QuestionAnswered{Outcome: api.QuestionOutcome(record.Outcome), Answer: record.Answer, AnsweredBy: record.AnsweredBy})
	}
	if e.Seq != 0 && e.Seq <= l.seq {
		return nil
	}
	if file := fileOf(e); file != nil {
		return t.sendFile(sessionID, l, e, *file)
	}
	text := said(e)
	if text == "" {
		l.seq = max(l.seq, e.Seq)
		return nil
	}
	limits, name := t.platformLimits(), t.liveName(sessionID)
	parts := channel.Split(channel.ParseMarkdown(text), limits)
	err := t.change(func(f *record, b *bound) {
		if follow := b.follow(sessionID); follow != nil {
			follow.Seq = e.Seq
		}
		first := item{Chat: b.Chat.ID, Key: key("entry", t.clientID, sessionID, e.ID, "0")}
		i := slices.IndexFunc(f.Outbox, func(i item) bool { return i.Name == name })
		if i >= 0 || f.messageOf(name) != "" {
			first.Name, first.Edit = name, true
		}
		for n, part := range parts {
			one := item{Chat: b.Chat.ID, Key: key("entry", t.clientID, sessionID, e.ID, string(rune('0'+n))), Text: part}
			if n == 0 {
				one.Name, one.Edit = first.Name, first.Edit
			}
			f.say(one)
		}
		if first.Edit {
			f.say(item{Chat: b.Chat.ID, Name: name, Forget: true})
		}
	})
	if err != nil {
		return err
	}
	l.seq, l.began = max(l.seq, e.Seq), time.Time{}
	t.running.mu.Lock()
	if b := t.bound(); b != nil && t.previews[b.Chat.ID].name == name {
		delete(t.previews, b.Chat.ID)
	}
	t.running.mu.Unlock()
	return nil
}

func (t *talk) answered(e api.QuestionAnswered) string {
	switch e.Outcome {
	case api.OutcomeAnswered:
		by := ""
		if name := t.name(e.AnsweredBy); name != "" {
			by = " by " + name
		}
		return "Answered" + by + ": " + channel.Cut(e.Answer, 200)
	case api.OutcomeSkipped:
		return "The agent decides."
	case api.OutcomeCancelled:
		return withdrawn
	}
	return "Not answered in time."
}
