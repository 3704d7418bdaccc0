package sessions

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	titleSystem = "You name conversations. Answer with a title of two to six words for the conversation that you are shown, in its language: " +
		"no quotation marks, no full stop, nothing else."
	// titleTimeout bounds the making of a title.
	titleTimeout = time.Minute
	// titleSource is how much of a message the model is shown, in runes.
	titleSource = 2000
)

// giveName names a session after a turn that came to something, if it never had a
// name. A title of the first prompt is written at once; a model takes its time, and
// what it makes is written only if nobody was faster.
func (s *Session) giveName(outcome agent.Outcome) {
	failed := outcome.StopReason == session.StopError || outcome.StopReason == session.StopAborted
	if failed || s.closing || s.naming != nil || s.digest.Named || s.digest.Title == "" {
		return
	}
	shown := titlePrompt(s.log.Tree().Entries())
	if s.deps.Titles == nil || shown == "" {
		s.keepTitle(s.digest.Title)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), titleTimeout)
	s.naming = cancel
	go s.routineTitle(ctx, shown)
}

// routineTitle asks the model and hands over what it said as a command.
func (s *Session) routineTitle(ctx context.Context, shown string) {
	var spent session.Usage
	answer := s.deps.Titles.Stream(ctx, agent.Request{
		System:   titleSystem,
		Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text(shown)}, Timestamp: nowMillis()}},
	}, countAttempts(&spent))
	answer.Usage = plus(spent, answer.Usage)
	title := ""
	if answer.StopReason != session.StopError && answer.StopReason != session.StopAborted {
		title = cleanTitle(answer.Content.Plain())
	}
	// The session's goroutine lives until the title has come, so this arrives.
	s.commands <- func() { s.endTitle(title, &answer) }
}

func (s *Session) endTitle(title string, answer *session.Message) {
	s.naming()
	s.naming = nil
	if err := s.wake(context.Background()); err != nil {
		return
	}
	s.keepUsage("title", answer)
	if s.digest.Named {
		return
	}
	s.keepTitle(cmp.Or(title, s.digest.Title))
}

// keepTitle writes a name that nobody gave: it carries no client.
func (s *Session) keepTitle(title string) {
	_, err := s.keep(store.Mark{}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendSessionInfo(ctx, mark, title)
	})
	if err != nil {
		s.deps.Logger.Warn("a session could not be given a name", "session", s.id, "error", err)
		return
	}
	s.touch()
}

// titlePrompt shows the first prompt and the first answer; "" where one is missing.
func titlePrompt(entries []session.Entry) string {
	var prompt string
	for _, e := range entries {
		m, ok := e.AsMessage()
		if !ok {
			continue
		}
		text := strings.TrimSpace(firstRunes(m.Message.Content.Plain(), titleSource))
		switch {
		case text == "":
		case prompt == "" && m.Message.Role == session.RoleUser:
			prompt = text
		case prompt != "" && m.Message.Role == session.RoleAssistant:
			return "<user>\n" + prompt + "\n</user>\n<assistant>\n" + text + "\n</assistant>"
		}
	}
	return ""
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n--; n < 0 {
			return text[:i]
		}
	}
	return text
}

// cleanTitle takes off what models put around a title although they are told not to.
func cleanTitle(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(strings.TrimPrefix(line, "Title:"))
	line = strings.Trim(line, "\"'`*#“”„«» \t")
	return index.Title(strings.TrimSuffix(line, "."))
}
