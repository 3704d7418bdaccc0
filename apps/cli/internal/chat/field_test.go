package chat

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
)

// TestAPromptSurvivesAnAnswer: what is given back while an answer is written is part of the prompt
// that was set aside, not of the answer.
func TestAPromptSurvivesAnAnswer(t *testing.T) {
	f := field{editor: composer.New()}
	f.editor.Insert("half a prompt")
	f.startAnswer()
	f.editor.Insert("use another name")
	f.giveBack([]prompt{{text: "the first", images: []image{{name: "a.png"}}}})
	if got := f.editor.Text(); got != "use another name" {
		t.Errorf("the answer became %q", got)
	}
	f.endAnswer()
	if got := f.editor.Text(); got != "the first\n\nhalf a prompt" || len(f.images) != 1 {
		t.Errorf("the prompt is %q with %d images", got, len(f.images))
	}
}

// TestAPromptSurvivesItsSession: another session may be shown while an answer is written.
func TestAPromptSurvivesItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.waitForCard()
	w.key(tea.KeyTab, 0)
	w.write("half a prompt")
	w.key(tea.KeyTab, 0)
	w.answer('f')
	w.write("use another name")
	w.key('t', tea.ModCtrl)
	if got := w.model.field.editor.Text(); got != "half a prompt" || w.model.field.answering() {
		t.Errorf("the field has %q", got)
	}
}
