// Package theme names the colors of the terminal client. All come from the 16 colors of the
// terminal, so that they fit its own theme, except backgrounds. The renderer of the terminal
// removes them if NO_COLOR is set or the terminal has none.
package theme

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Theme is a set of styles.
type Theme struct {
	Dark bool

	Text, Dim, Strong, Emphasis, Struck lipgloss.Style
	Accent, Heading, Link, Code         lipgloss.Style
	Keyword, Literal, Comment           lipgloss.Style // in code
	Good, Bad, Warn                     lipgloss.Style
	Added, Removed, Hunk                lipgloss.Style // of a diff
	User                                lipgloss.Style // a prompt in the transcript
	Bar, Selected                       lipgloss.Style // the header, and a selected row
	Border, BorderAsk                   lipgloss.Style // of boxes; of what waits for a person
}

// New returns the theme for a dark or a light background.
func New(dark bool) *Theme {
	pick := lipgloss.LightDark(dark)
	style := lipgloss.NewStyle
	ink := func(c color.Color) lipgloss.Style { return style().Foreground(c) }
	shade := func(light, darker string) color.Color { return pick(lipgloss.Color(light), lipgloss.Color(darker)) }
	blue, green, red := shade("#1d4ed8", "#7aa2f7"), shade("#15803d", "#9ece6a"), shade("#b91c1c", "#f7768e")
	amber, violet, gray := shade("#a16207", "#e0af68"), shade("#7e22ce", "#bb9af7"), shade("#6b7280", "#7f87a5")
	return &Theme{
		Dark: dark,
		Text: style(), Dim: ink(gray), Strong: style().Bold(true), Emphasis: style().Italic(true), Struck: style().Strikethrough(true),
		Accent: ink(blue), Heading: ink(blue).Bold(true), Link: ink(blue).Underline(true), Code: ink(violet),
		Keyword: ink(violet), Literal: ink(green), Comment: ink(gray).Italic(true),
		Good: ink(green), Bad: ink(red), Warn: ink(amber),
		Added:   ink(green).Background(shade("#e6f6ea", "#1c2b22")),
		Removed: ink(red).Background(shade("#fdeaea", "#2f1d22")),
		Hunk:    ink(gray),
		User:    style().Background(shade("#eef1f8", "#24283b")),
		Bar:     style().Background(shade("#e5e7ef", "#1f2335")), Selected: style().Background(shade("#dbe4fb", "#2e3c64")).Bold(true),
		Border: ink(shade("#c3c8d6", "#414868")), BorderAsk: ink(amber),
	}
}
