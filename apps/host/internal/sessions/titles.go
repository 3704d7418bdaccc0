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
	titleSystem = "You name conversations. Answer with a title of two to six words for the given conversation, in its language: " +
		"no quotation marks, no period, nothing else."
	// titleTimeout bounds the making of a title.
	titleTimeout = time.Minute
	// titleSource is how much of a message the model is shown, in runes.
	titleSource = 2000
)

// titles gives a session a title after its first turn. The session's goroutine owns it.
type titles struct {
	*core
	cancel context.CancelFunc // nil unless a model writes a title
}

// turnEnded gives a session a title after its first turn that succeeded. A title from the
// first prompt is stored at once. A title from a model is stored when it arrives, unless the
// session has got a name by then.
func (t *titles) turnEnded(outcome agent.Outcome) {
	failed := outcome.StopReason == session.StopError || outcome.StopReason == session.StopAborted
	if failed || t.closing || t.cancel != nil || t.digest.Named || t.digest.Title == "" {
		return
	}
	shown := titlePrompt(t.log.Tree().Entries())
	if t.deps.Titles == nil || shown == "" || t.summary.Backend != "" { // what another program does is its vendor's only
		t.write(t.digest.Title)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), titleTimeout)
	t.cancel = cancel
	go t.routine(ctx, shown)
}

// routine is the goroutine that asks the model. It delivers the answer to that of the session.
func (t *titles) routine(ctx context.Context, shown string) {
	var spent session.Usage
	answer := t.deps.Titles.Stream(ctx, agent.Request{
		System:   titleSystem,
		Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text(shown)}, Timestamp: nowMillis()}},
	}, countAttempts(&spent))
	total := spent.Plus(answer.Usage)
	answer.Usage = &total
	title := ""
	if answer.StopReason != session.StopError && answer.StopReason != session.StopAborted {
		title = cleanTitle(answer.Content.Plain())
	}
	t.deliver(func() { t.end(title, &answer) })
}

func (t *titles) end(title string, answer *session.Message) {
	t.cancel()
	t.cancel = nil
	if err := t.open(context.Background()); err != nil {
		return
	}
	t.appendUsage("title", answer)
	if t.digest.Named {
		return
	}
	t.write(cmp.Or(title, t.digest.Title))
}

// write stores a title. Its entry names no client.
func (t *titles) write(title string) {
	_, err := t.append(store.Mark{}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return t.log.AppendSessionInfo(ctx, mark, title)
	})
	if err != nil {
		t.logger.Warn("a session could not be given a name", "session", t.id, "error", err)
		return
	}
	t.updateSummary()
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

// cleanTitle removes what models put around a title despite their instructions.
func cleanTitle(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(strings.TrimPrefix(line, "Title:"))
	line = strings.Trim(line, "\"'`*#“”„«» \t")
	return index.Title(strings.TrimSuffix(line, "."))
}
