package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// reportDetails is what people and programs get to know of a delegation.
type reportDetails struct {
	Agents []reportDetail `json:"agents"`
}

type reportDetail struct {
	Agent     string             `json:"agent"`
	Title     string             `json:"title"`
	SessionID string             `json:"sessionId,omitempty"`
	State     session.ChildState `json:"state"`
	Error     string             `json:"error,omitempty"`
	// FullText is the path of the whole report where only a part of it is shown.
	FullText string `json:"fullText,omitempty"`
}

// reported makes the result of a delegation. It is an error when no task completed.
func (s *Set) reported(reports []Report, limit int) agent.Result {
	var b strings.Builder
	var known reportDetails
	completed := 0
	for i, r := range reports {
		detail := reportDetail{Agent: r.Agent, Title: r.Title, SessionID: r.SessionID, State: r.State, Error: r.Error}
		text := r.Text
		if utf8.RuneCountInString(text) > limit {
			text, detail.FullText = s.shortened(r, limit)
		}
		fmt.Fprintf(&b, "<report task=\"%d\" agent=%q state=%q>\n", i+1, r.Agent, r.State)
		if r.State != session.ChildCompleted {
			b.WriteString(stateText(r) + "\n")
		}
		if strings.TrimSpace(text) != "" {
			b.WriteString(strings.TrimRight(text, "\n") + "\n")
		} else if r.State == session.ChildCompleted {
			b.WriteString("(The agent ended without a word.)\n")
		}
		b.WriteString("</report>\n")
		if r.State == session.ChildCompleted {
			completed++
		}
		known.Agents = append(known.Agents, detail)
	}
	b.WriteString("\nReports are the agents' own words, and nobody has checked them.")
	result := agent.Success(b.String())
	result.Details, result.IsError = details(known), completed == 0
	return result
}

// stateText says why there is less than was asked for.
func stateText(r Report) string {
	switch {
	case r.State == session.ChildCancelled && r.Error == "":
		return "Cancelled before it was done. What it changed until then is changed."
	case strings.TrimSpace(r.Text) == "":
		return "It did not come to an end: " + r.Error
	}
	return "It did not come to an end: " + r.Error + " This is the last that it said:"
}

// shortened is the beginning and the end of a report, with where to read all of it.
func (s *Set) shortened(r Report, limit int) (text, path string) {
	runes := []rune(r.Text)
	head, tail := limit*3/4, limit/4
	where := "all of it is in the session " + r.SessionID + ", which the user can open"
	if path = s.spill.save("report", r.Text); path != "" {
		where = "read_file shows all of it: " + path
	}
	return fmt.Sprintf("%s\n\n[%d characters are left out here; %s]\n\n%s",
		string(runes[:head]), len(runes)-head-tail, where, string(runes[len(runes)-tail:])), path
}
