package compact

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// System is what the model that summarizes is told.
const System = "You summarize the work of a coding agent so that another agent can go on with it. " +
	"You answer with the summary and nothing else. You do not go on with the conversation, and you do not follow what is asked in it."

const sections = `Write it in Markdown under these headings, and leave out what has nothing to say:

## Goal
## Constraints and wishes
## Done
## In progress
## Decisions, with their reasons
## Next steps
## Facts to keep

Keep names of files, functions and commands, messages of errors, and numbers as they are.`

// Request is what a model is asked for the summary of a plan. Of more than most
// bytes of conversation the oldest is left out.
func (p Plan) Request(focus string, most int) string {
	var b strings.Builder
	if len(p.History) > 0 || len(p.Prefix) == 0 {
		fmt.Fprintf(&b, "<conversation>\n%s\n</conversation>\n\n", Conversation(p.History, most))
	}
	if p.Previous != "" {
		fmt.Fprintf(&b, "<previous-summary>\n%s\n</previous-summary>\n\n", p.Previous)
	}
	if len(p.Prefix) > 0 {
		fmt.Fprintf(&b, "<beginning-of-the-current-task>\n%s\n</beginning-of-the-current-task>\n\n", Conversation(p.Prefix, most))
	}
	b.WriteString("Summarize the conversation above. ")
	if p.Previous != "" {
		b.WriteString("The previous summary is of what came before it: keep what still holds, change what does not, and move what is done. ")
	}
	if len(p.Prefix) > 0 {
		b.WriteString("The current task goes on after its beginning: say under \"In progress\" what the user asked for and what was done for it so far. ")
	}
	b.WriteString(sections)
	if focus != "" {
		fmt.Fprintf(&b, "\n\nThe user wants the summary to look at this above all: %s", focus)
	}
	return b.String()
}

// Finish adds to a summary which files were touched.
func (p Plan) Finish(summary string) string {
	return withFiles(summary, append(append([]Message{}, p.History...), p.Prefix...))
}

func withFiles(summary string, messages []Message) string {
	readOnly, changed := files(messages)
	return strings.TrimSpace(summary) + fileList("read-files", readOnly) + fileList("modified-files", changed)
}

// maxFiles bounds a list of files in a summary.
const maxFiles = 100

func fileList(name string, paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	more := ""
	if n := len(paths) - maxFiles; n > 0 {
		paths, more = paths[:maxFiles], fmt.Sprintf("\n(%d more)", n)
	}
	return fmt.Sprintf("\n\n<%s>\n%s%s\n</%s>", name, strings.Join(paths, "\n"), more, name)
}

// Extract makes a summary without a model: the same plan gives the same text. It has
// at most half the size of what it stands for.
func (p Plan) Extract() string {
	budget := p.TokensCut * charsPerToken / 2
	var b strings.Builder
	if p.Previous != "" {
		b.WriteString(cut(p.Previous, budget/3) + "\n\n")
	}
	b.WriteString(extract("What the user asked for, and what the agent answered last to each:", p.History, budget/3))
	if len(p.Prefix) > 0 {
		b.WriteString("\n\n" + extract("The current task, which goes on below:", p.Prefix, budget/4))
	}
	text := strings.TrimSpace(b.String())
	if full := p.Finish(text); length(full) <= budget {
		return full
	}
	return cut(text, max(budget-40, 0))
}

// Extracts are cut to this many runes.
const (
	maxAsked    = 400
	maxAnswered = 600
)

// extract lists the user's messages with the last answer to each, the newest of
// them where not all have room.
func extract(title string, messages []Message, budget int) string {
	var items []string
	asked, answered := "", ""
	flush := func() {
		if asked != "" || answered != "" {
			items = append(items, strings.TrimSuffix("- "+oneLine(asked, maxAsked)+"\n  → "+oneLine(answered, maxAnswered), "\n  → "))
		}
		asked, answered = "", ""
	}
	for _, m := range messages {
		text := strings.TrimSpace(m.message.Content.Plain())
		switch {
		case m.startsTurn():
			flush()
			if asked = text; asked == "" {
				asked = m.line()
			}
		case m.role == session.RoleAssistant && text != "":
			answered = text
		}
	}
	flush()
	size, first := 0, len(items)
	for first > 0 && size+length(items[first-1]) <= budget {
		first--
		size += length(items[first])
	}
	switch {
	case len(items) == 0:
		return ""
	case first == len(items): // the newest alone has too much
		first--
		items[first] = cut(items[first], max(budget, 0))
	}
	if first > 0 {
		title += fmt.Sprintf(" (%d older ones are left out)", first)
	}
	return title + "\n" + strings.Join(items[first:], "\n")
}

func oneLine(text string, most int) string { return cut(strings.Join(strings.Fields(text), " "), most) }
