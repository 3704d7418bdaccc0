package chat

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/api"
)

// heading names the session, the project and the host in the first row.
type heading struct {
	session, project, host string
	watch                  bool
}

func (h heading) line(s screen) string {
	right := h.host
	if h.project != "" {
		right = h.project + " on " + right
	}
	right = sanitize.Line(right)
	if h.watch {
		right += " · view only"
	}
	return s.spread(" "+h.session, right+" ", s.theme.Bar.Bold(true).Render, s.theme.Bar.Render)
}

// footer shows what the next prompt meets, and the path that it takes, in the last row.
func footer(s screen, now choices, usage api.TokenUsage, path string) string {
	parts := []string{sanitize.Line(now.model)}
	if now.thinking != "" {
		parts[0] += " (" + sanitize.Line(now.thinking) + ")"
	}
	parts = append(parts, string(now.mode))
	if usage.Input+usage.Output > 0 {
		parts = append(parts, fmt.Sprintf("%s in, %s out", short(usage.Input+usage.CacheRead+usage.CacheWrite), short(usage.Output)))
		if usage.Cost > 0 {
			parts = append(parts, fmt.Sprintf("$%.2f", usage.Cost))
		}
	}
	right := "F1 help "
	if path != "" {
		right = path + " · " + right
	}
	return s.spread(" "+strings.Join(parts, " · "), right, s.theme.Dim.Render, s.theme.Dim.Render)
}

// short writes a number of tokens.
func short(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// start is what an empty transcript shows.
type start struct {
	connecting, opening bool
	folder              string // of the project; "" if it is not known
	demo                bool   // the model is no AI
}

func (e start) lines(s screen) []string {
	switch {
	case e.connecting:
		return []string{"", s.theme.Dim.Render("  Connecting…")}
	case e.opening:
		return []string{"", s.theme.Dim.Render("  Opening the session…")}
	}
	lines := []string{""}
	add := func(text string, ink lipgloss.Style) {
		for _, line := range folded(text, s.width-4, ink) {
			lines = append(lines, "  "+line)
		}
	}
	if e.folder != "" {
		add(sanitize.Line(e.folder), s.theme.Dim)
	}
	if e.demo {
		add("Prompts go to the demo model, which is not an AI: `scorel model key` saves the key of another", s.theme.Warn)
	}
	add("/ for commands, @ for files, F1 for keys", s.theme.Dim)
	return lines
}
