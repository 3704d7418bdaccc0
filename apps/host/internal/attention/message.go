package attention

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scorel/scorel/apps/host/internal/push"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

const (
	maxTitle = 120  // bytes of the name of a session
	maxText  = 1000 // bytes of what is asked
	// maxAllowed is how much a notification shows of a call for it to be allowed there: what a
	// notification cuts off cannot be allowed with it.
	maxAllowed      = 200
	maxAllowedLines = 4
	// maxChatLines is the same for a chat, which shows all of a text.
	maxChatLines = 20
)

// KindTest and kindGone are kinds of messages besides those of notices.
const (
	KindTest = "test"
	kindGone = "gone"
)

// compose makes the notification of things in a session for a client with some grants.
func (a *Attention) compose(rootID string, items []sessions.Notice, s subscription, grants []api.Grant) push.Message {
	first := items[0]
	m := push.Message{
		Version: 1, Kind: string(first.Kind), Device: a.Device, Tag: rootID, Session: rootID, Asks: first.SessionID,
		TTL: 12 * time.Hour, Urgent: first.Kind.Waits(),
	}
	if m.Urgent {
		m.TTL = 24 * time.Hour
	}
	if len(items) > 1 {
		m.Count = len(items)
	}
	if s.Reduced {
		m.Asks = ""
		return worded(m, s.Kind)
	}
	m.Title, m.Text = push.Cut(plain(first.Title), maxTitle), push.Cut(plain(first.Text), maxText)
	if len(items) == 1 {
		act(&m, first, s.Kind, grants)
	}
	return worded(m, s.Kind)
}

// plain is a text without characters that devices do not show, or that change how others look.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		emoji := r == 0xFE0E || r == 0xFE0F // how a symbol before it is shown
		if r == '\t' || r == unicode.ReplacementChar || visible.Hidden(r) && !emoji {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
}

// act adds what can be done from a notification. An answer is bound to what it shows, so a call
// can only be allowed there if it shows all of the call.
func act(m *push.Message, n sessions.Notice, kind api.PushKind, grants []api.Grant) {
	bytes, lines := maxAllowed, maxAllowedLines
	if kind == api.PushChat {
		bytes, lines = maxText, maxChatLines
	}
	switch {
	case n.Kind == sessions.NoticeApproval && slices.Contains(grants, api.GrantApprove):
		m.Approval = n.ID
		m.Actions = []string{"deny"}
		if n.Whole && plain(n.Text) == n.Text && len(n.Text) <= bytes && strings.Count(n.Text, "\n") < lines {
			m.Shown, m.Actions = n.Shown, []string{"allow", "deny"}
		}
		if kind == api.PushChat {
			m.Shown = n.Shown // what a button of a chat denies
		}
	case n.Kind == sessions.NoticeQuestion && slices.Contains(grants, api.GrantPrompt):
		m.Question, m.Actions = n.ID, []string{"reply"}
		if kind == api.PushChat {
			m.Choices = n.Choices
		}
	case n.Kind == sessions.NoticeEnded && slices.Contains(grants, api.GrantPrompt):
		m.Actions = []string{"reply"}
	}
}

// worded adds words for servers that show a message as it is. The service worker of the page has
// its own, in the language of the browser.
func worded(m push.Message, kind api.PushKind) push.Message {
	if kind == api.PushWeb {
		return m
	}
	what := map[string]string{
		string(sessions.NoticeApproval): "Approval needed", string(sessions.NoticeQuestion): "Question",
		string(sessions.NoticeEnded): "Done", string(sessions.NoticeFailed): "Failed", string(sessions.NoticeBudget): "Budget used up",
	}[m.Kind]
	if m.Title == "" {
		m.Title, m.Text = "scorel", "A session needs you"
		return m
	}
	m.Text = strings.TrimSuffix(what+": "+m.Text, ": ")
	if m.Count > 1 {
		m.Text += " (and more)"
	}
	return m
}

// withdrawn takes back the notification of a session.
func (a *Attention) withdrawn(rootID string) push.Message {
	return push.Message{Version: 1, Kind: kindGone, Device: a.Device, Tag: rootID, Session: rootID, Gone: true, TTL: 24 * time.Hour}
}
