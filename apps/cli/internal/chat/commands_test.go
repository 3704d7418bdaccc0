package chat

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestSlashes: a word is a command with its arguments, or a prompt for the host.
func TestSlashes(t *testing.T) {
	for text, want := range map[string]tea.Msg{
		"/new":              beginSession{},
		" /steer  go left ": steer{"go left"},
		"/model":            listModels,
		"/model two":        choices{model: "two"},
		"/mode plan":        choices{mode: api.ModePlan},
		"/thinking high":    choices{thinking: "high"},
		"/rename":           said{text: "Give a session its name with /rename NAME"},
		"/image a b.png":    attachImage{"a b.png"},
		"/quit":             tea.QuitMsg{},
		"/unknown":          nil,
		"new":               nil,
		"":                  nil,
	} {
		if got, ok := slashOf(text); got != want || ok != (want != nil) {
			t.Errorf("%q asks for %#v, %v", text, got, ok)
		}
	}
	if got, _ := slashOf("/mode free"); !strings.Contains(got.(said).text, string(api.ModeAcceptEdits)) {
		t.Errorf("an unknown mode: %#v", got)
	}
}
