package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// reportDetails holds information about a delegation for people and programs.
type reportDetails struct {
	Agents []reportDetail `json:"agents"`
}

type reportDetail struct {
	Agent     string             `json:"agent"`
	Title     string             `json:"title"`
	SessionID string             `json:"sessionId,omitempty"`
	State     session.ChildState `json:"state"`
	Error     string             `json:"error,omitempty"`
	// Lines is the range of lines of the report in the text of the result: the first line,
	// starting at 0, and the first line after it. It is absent if there is no report.
	Lines *[2]int `json:"lines,omitempty"`
	// FullText is the path of the whole report if only a part of it is shown.
	FullText string `json:"fullText,omitempty"`
}

// reported returns the result of a delegation. It is an error if no task was completed.
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
			from := strings.Count(b.String(), "\n")
			b.WriteString(strings.TrimRight(text, "\n") + "\n")
			detail.Lines = &[2]int{from, strings.Count(b.String(), "\n")}
		} else if r.State == session.ChildCompleted {
			b.WriteString("(The agent ended without a report.)\n")
		}
		b.WriteString("</report>\n")
		if r.State == session.ChildCompleted {
			completed++
		}
		known.Agents = append(known.Agents, detail)
	}
	b.WriteString("\nReports are the agents' own words and have not been checked.")
	result := agent.Success(b.String())
	result.Details, result.IsError = details(known), completed == 0
	return result
}

// stateText explains why a report is missing or incomplete.
func stateText(r Report) string {
	switch {
	case r.State == session.ChildCancelled && r.Error == "":
		return "Cancelled before it was done. The changes that it had made remain."
	case strings.TrimSpace(r.Text) == "":
		return "It did not finish: " + r.Error
	}
	return "It did not finish: " + r.Error + " This is the last thing it said:"
}

// shortened returns the beginning and the end of a report, and says where to read all of
// it.
func (s *Set) shortened(r Report, limit int) (text, path string) {
	runes := []rune(r.Text)
	head, tail := limit*3/4, limit/4
	where := "the full report is in the session " + r.SessionID + ", which the user can open"
	if path = s.spill.save("report", r.Text); path != "" {
		where = "read_file shows all of it: " + path
	}
	return fmt.Sprintf("%s\n\n[%d characters are left out here; %s]\n\n%s",
		string(runes[:head]), len(runes)-head-tail, where, string(runes[len(runes)-tail:])), path
}
