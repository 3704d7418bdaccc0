package compact

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Titles of an extract. Those of older versions are read too.
const (
	titleAsked  = "Requests of the user, each with the agent's last answer:"
	titleTask   = "The current task, continued below:"
	titleBranch = "Requests on the other branch, each with the agent's last answer:"

	oldTitleAsked = "What the user asked for, and what the agent answered last to each:"
	oldTitleTask  = "The current task, which goes on below:"
)

// Extracts are cut to this many runes.
const (
	maxAsked    = 400
	maxAnswered = 600
)

// item is a request of the user and the last answer to it. A request is empty if it
// was made before what is extracted.
type item struct{ asked, answered string }

func (i item) String() string {
	text := "- " + i.asked
	if i.asked == "" {
		text = "- (the task of the summary above)"
	}
	if i.answered != "" {
		text += "\n  → " + i.answered
	}
	return text
}

// Extract makes a summary without a model: the same plan gives the same text. It has
// at most half the size of what it replaces. An extract that it follows is parsed, so
// that a task that was current then is among the requests now.
func (p Plan) Extract() string {
	budget := p.TokensCut * charsPerToken / 2
	before, asked, task := readExtract(p.Previous)
	history, prefix := items(p.History), items(p.Prefix)
	switch {
	case len(history) > 0:
		asked = append(asked, continued(task, &history)...)
		asked = append(asked, history...)
		task = prefix
	default:
		task = append(continued(task, &prefix), prefix...)
		if n := len(task) - 1; n > 0 {
			asked, task = append(asked, task[:n]...), task[n:]
		}
	}
	if len(p.Prefix) == 0 { // the cut is between two turns: no task is current
		asked, task = append(asked, task...), nil
	}
	var b strings.Builder
	if before != "" {
		b.WriteString(cut(before, budget/3) + "\n\n")
	}
	b.WriteString(listed(titleAsked, asked, budget/3))
	if text := listed(titleTask, task, budget/4); text != "" {
		b.WriteString("\n\n" + text)
	}
	text := strings.TrimSpace(b.String())
	if full := p.Finish(text); length(full) <= budget {
		return full
	}
	return cut(text, max(budget-40, 0))
}

// continued returns the items of a task with the answer that came first afterwards,
// if that belongs to it. It takes that answer out of the items that follow.
func continued(task []item, next *[]item) []item {
	if len(task) == 0 || len(*next) == 0 || (*next)[0].asked != "" {
		return task
	}
	if answered := (*next)[0].answered; answered != "" {
		task[len(task)-1].answered = answered
	}
	*next = (*next)[1:]
	return task
}

// readExtract takes a summary apart that Extract made: what it took over itself, the
// requests, and the task that was current. Of any other summary all is before.
func readExtract(summary string) (before string, asked, task []item) {
	summary, _ = splitFiles(summary)
	var rest []string
	list := (*[]item)(nil)
	for line := range strings.Lines(summary) {
		line = strings.TrimSuffix(line, "\n")
		title, _, _ := strings.Cut(line, " (")
		switch {
		case title == titleAsked || title == oldTitleAsked:
			asked, task = append(asked, task...), nil // of an extract within it
			list = &asked
		case title == titleTask || title == oldTitleTask:
			list = &task
		case list != nil && strings.HasPrefix(line, "- "):
			*list = append(*list, item{asked: strings.TrimPrefix(line, "- ")})
		case list != nil && len(*list) > 0 && strings.HasPrefix(line, "  → "):
			(*list)[len(*list)-1].answered = strings.TrimPrefix(line, "  → ")
		case list == nil || strings.TrimSpace(line) != "" && line != "-":
			rest = append(rest, line)
		}
	}
	return strings.TrimSpace(strings.Join(rest, "\n")), asked, task
}

// items lists the user's messages with the last answer to each.
func items(messages []Message) []item {
	var out []item
	for _, m := range messages {
		text := strings.TrimSpace(m.message.Content.Plain())
		switch {
		case m.startsTurn():
			if text == "" {
				text = m.line()
			}
			out = append(out, item{asked: oneLine(text, maxAsked)})
		case m.role == session.RoleAssistant && text != "":
			if len(out) == 0 {
				out = append(out, item{})
			}
			out[len(out)-1].answered = oneLine(text, maxAnswered)
		}
	}
	return out
}

// listed writes items under a title, the newest of them if not all have room.
func listed(title string, list []item, budget int) string {
	size, first := 0, len(list)
	texts := make([]string, len(list))
	for first > 0 {
		texts[first-1] = list[first-1].String()
		if size += length(texts[first-1]); size > budget {
			break
		}
		first--
	}
	switch {
	case len(list) == 0:
		return ""
	case first == len(list): // the newest alone has too much
		first--
		texts[first] = cut(texts[first], max(budget, 0))
	}
	if first > 0 {
		title += fmt.Sprintf(" (%d older ones are left out)", first)
	}
	return title + "\n" + strings.Join(texts[first:], "\n")
}

func oneLine(text string, most int) string { return cut(strings.Join(strings.Fields(text), " "), most) }
