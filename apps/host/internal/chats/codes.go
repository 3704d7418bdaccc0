package chats

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Where a platform has no buttons, a text takes their place: a command with a code that is shown
// below what it answers. A code names what was shown and is no secret, so that one of something
// else, or of an earlier version, decides nothing.

// codeLong is how many letters of codeLetters a code has: there are 24 million.
const codeLong = 5

// codeOf returns a code for what some parts name, the same each time.
func codeOf(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	var b [codeLong]byte
	for i, sum := range h.Sum(nil)[:codeLong] {
		b[i] = codeLetters[int(sum)%len(codeLetters)]
	}
	return string(b[:])
}

// code returns the code of an approval that a chat was shown. It is bound to the hash of what was
// shown, like the data of a button.
func (a asked) code(clientID string) string { return codeOf(clientID, a.ID, a.Shown) }

// code returns the code that the approval had.
func (p past) code(clientID string) string { return codeOf(clientID, p.ID, p.Shown) }

// sessionCode returns the code with which a chat switches to a session.
func sessionCode(clientID, sessionID string) string { return codeOf(clientID, "session", sessionID) }

// typedCode returns a code as people type it.
func typedCode(text string) string {
	return strings.ToUpper(strings.Trim(text, " \t\r\n.,:;\"'`<>"))
}

// inWords says how to do what the buttons of an approval do.
func (a asked) inWords(clientID string, buttons []channel.Button) []channel.Segment {
	var text strings.Builder
	for _, b := range buttons {
		command := "/deny "
		if strings.HasPrefix(b.Data, "a:") {
			command = "/allow "
		}
		text.WriteString("\n" + b.Label + ": " + command + a.code(clientID))
	}
	return channel.Text(text.String())
}

// withWords adds a text to the last of some parts of a message, or as another one.
func withWords(parts [][]channel.Segment, words []channel.Segment, limits channel.Limits) [][]channel.Segment {
	if len(words) == 0 || len(parts) == 0 {
		return parts
	}
	last := len(parts) - 1
	return append(parts[:last:last], channel.Split(append(slices.Clone(parts[last]), words...), limits)...)
}

// answerByCode answers the approval of a code.
func (h *handling) answerByCode(ctx context.Context, b *bound, c *client.Client, decision api.Decision, text string) error {
	code := typedCode(text)
	if code == "" {
		h.say("Write /" + string(decision) + " CODE, with the code that is shown below the approval.")
		return nil
	}
	var matching []asked
	for _, a := range b.Asked {
		if !a.Question && a.Shown != "" && a.code(b.ClientID) == code {
			matching = append(matching, a)
		}
	}
	if i := slices.IndexFunc(b.Past, func(p past) bool { return p.code(b.ClientID) == code }); i >= 0 && len(matching) == 0 {
		h.say("The approval with the code " + code + " waits no more. " + b.Past[i].How)
		return nil
	}
	if len(matching) != 1 {
		h.say("No approval waits here with the code " + channel.CleanName(channel.Cut(code, 20)) + ": it was answered already, or has changed.")
		return nil
	}
	notice, won, err := h.decide(ctx, c, matching[0], decision)
	if err != nil || won && b.follow(matching[0].Root) != nil { // the chat is shown how it ended
		return err
	}
	h.say(notice)
	return nil
}

// chosen returns the answer that a text is to a question: where there are no buttons, the number
// of a choice stands for it.
func chosen(q asked, text string, limits channel.Limits) string {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "."))
	if limits.Buttons || err != nil || n < 1 || n > len(q.Choices) {
		return text
	}
	return q.Choices[n-1]
}
