package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func total(u api.TokenUsage) int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// tokensOf is all that a session took, with the agents that it gave tasks to, for a
// column; "-" where nothing is known.
func tokensOf(s api.SessionSummary) string {
	if n := total(s.Usage) + total(s.Auxiliary) + total(s.Delegated); n > 0 {
		return shortCount(n)
	}
	return "-"
}

// costOf is what a session cost, for a column; "-" where no price is known.
func costOf(s api.SessionSummary) string {
	if cost := totalCost(s); cost > 0 {
		return dollars(cost)
	}
	return "-"
}

func totalCost(s api.SessionSummary) float64 {
	return s.Usage.Cost + s.Auxiliary.Cost + s.Delegated.Cost
}

// spentLine tells what a session took, in a line of its own; "" where nothing is known.
func spentLine(s api.SessionSummary) string {
	var parts []string
	if total(s.Usage) > 0 {
		parts = append(parts, usageWords(s.Usage))
	}
	if total(s.Auxiliary) > 0 {
		parts = append(parts, "beside it, for titles and summaries: "+usageWords(s.Auxiliary))
	}
	if total(s.Delegated) > 0 {
		parts = append(parts, "by the agents that it gave tasks to: "+usageWords(s.Delegated))
	}
	if len(parts) > 1 && totalCost(s) > 0 {
		parts = append(parts, "in all "+costOf(s))
	}
	if s.Uncounted > 0 {
		parts = append(parts, fmt.Sprintf("calls that broke off before their tokens were told: %d", s.Uncounted))
	}
	if total(s.Inherited) > 0 {
		parts = append(parts, "taken over with the fork and not counted here: "+usageWords(s.Inherited))
	}
	if len(parts) == 0 {
		return ""
	}
	return "\n(" + strings.Join(parts, "; ") + ")\n"
}

func usageWords(u api.TokenUsage) string {
	text := fmt.Sprintf("tokens: %d in, %d out", u.Input, u.Output)
	if u.CacheRead > 0 || u.CacheWrite > 0 {
		text += fmt.Sprintf(", %d read from and %d written to a cache", u.CacheRead, u.CacheWrite)
	}
	if u.Cost > 0 {
		text += ", " + dollars(u.Cost)
	}
	return text
}

func dollars(cost float64) string {
	if cost < 1 {
		return fmt.Sprintf("$%.4f", cost)
	}
	return fmt.Sprintf("$%.2f", cost)
}

// shortCount is a number in at most five characters.
func shortCount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// writeNote shows that the host told the model something.
func writeNote(b *strings.Builder, entry session.Entry) {
	switch entry.Type {
	case session.TypeCompaction, session.TypeBranchSummary:
		writeSummary(b, entry)
		return
	case session.TypeCustomMessage:
	default:
		return
	}
	var note struct {
		CustomType string             `json:"customType"`
		Content    session.Content    `json:"content"`
		Details    session.NoteRecord `json:"details"`
	}
	if json.Unmarshal(entry.Raw, &note) != nil || note.CustomType != session.CustomNote {
		return
	}
	text := clip(note.Content.Plain(), 160)
	if len(note.Details.Paths) > 0 {
		text = strings.Join(note.Details.Paths, ", ")
	}
	fmt.Fprintf(b, "\n(the host told the agent, %s: %s)\n", printable(string(note.Details.Kind)), printable(text))
}

// writeSummary shows what the agent was given in place of what it summarizes.
func writeSummary(b *strings.Builder, entry session.Entry) {
	var record struct {
		Summary string `json:"summary"`
	}
	if json.Unmarshal(entry.Raw, &record) != nil || record.Summary == "" {
		return
	}
	what := "what stands above reaches the agent as a summary"
	if entry.Type == session.TypeBranchSummary {
		what = "the agent was given a summary of another branch"
	}
	fmt.Fprintf(b, "\n(%s: %s)\n", what, printable(clip(record.Summary, 400)))
}

// elsewhere tells of the messages of the user that are not on the path.
func elsewhere(tree *session.Tree, path []session.Entry) string {
	asked := func(entries []session.Entry) (n int) {
		for _, entry := range entries {
			if m, ok := entry.AsMessage(); ok && m.Message.Role == session.RoleUser {
				n++
			}
		}
		return n
	}
	n := asked(tree.Entries()) - asked(path)
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("\n(prompts on other branches: %d; `scorel session tree` shows them)\n", n)
}
