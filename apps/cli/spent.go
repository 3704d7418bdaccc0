package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func total(u api.TokenUsage) int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// tokensOf formats the total usage of a session, including its subagents, for a column; "-"
// if unknown.
func tokensOf(s api.SessionSummary) string {
	if n := total(s.Usage) + total(s.Auxiliary) + total(s.Delegated); n > 0 {
		return shortCount(n)
	}
	return "-"
}

// costOf formats the cost of a session for a column; "-" if no price is known.
func costOf(s api.SessionSummary) string {
	if cost := totalCost(s); cost > 0 {
		return dollars(cost)
	}
	return "-"
}

func totalCost(s api.SessionSummary) float64 {
	return s.Usage.Cost + s.Auxiliary.Cost + s.Delegated.Cost
}

// spentLine describes the usage of a session on one line; "" if unknown.
func spentLine(s api.SessionSummary) string {
	var parts []string
	if total(s.Usage) > 0 {
		parts = append(parts, usageWords(s.Usage))
	}
	if total(s.Auxiliary) > 0 {
		parts = append(parts, "titles and summaries: "+usageWords(s.Auxiliary))
	}
	if total(s.Delegated) > 0 {
		parts = append(parts, "subagents: "+usageWords(s.Delegated))
	}
	if len(parts) > 1 && totalCost(s) > 0 {
		parts = append(parts, "total: "+costOf(s))
	}
	if s.Uncounted > 0 {
		parts = append(parts, fmt.Sprintf("interrupted calls (usage unknown): %d", s.Uncounted))
	}
	if total(s.Inherited) > 0 {
		parts = append(parts, "inherited from the original (not counted): "+usageWords(s.Inherited))
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

// shortCount formats a number in at most five characters.
func shortCount(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// writeNote shows a note from the host to the model.
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
	fmt.Fprintf(b, "\n(note to the agent, %s: %s)\n", printable(string(note.Details.Kind)), printable(text))
}

// writeSummary shows the summary that the agent got instead of the summarized entries.
func writeSummary(b *strings.Builder, entry session.Entry) {
	var record struct {
		Summary string `json:"summary"`
	}
	if json.Unmarshal(entry.Raw, &record) != nil || record.Summary == "" {
		return
	}
	what := "the agent gets a summary of the messages above"
	if entry.Type == session.TypeBranchSummary {
		what = "the agent gets a summary of another branch"
	}
	fmt.Fprintf(b, "\n(%s: %s)\n", what, printable(clip(record.Summary, 400)))
}

// elsewhere describes the user's messages on other branches.
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
