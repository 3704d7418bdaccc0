package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
	"github.com/scorel/scorel/apps/cli/internal/sanitize"
)

// maxFieldRows bounds the rows of the field.
const maxFieldRows = 8

// field is where prompts are written, with the images that go with them. While an answer to a card
// is written there, the prompt is set aside.
type field struct {
	editor *composer.Editor
	images []image
	aside  *string // the text of the prompt while an answer is written; nil otherwise
}

// answering reports whether an answer is written instead of a prompt.
func (f *field) answering() bool { return f.aside != nil }

// startAnswer begins an answer.
func (f *field) startAnswer() {
	prompt := f.editor.Text()
	f.aside = &prompt
	f.editor.Set("")
}

// endAnswer gives the field its prompt back, and returns whether an answer was being written.
func (f *field) endAnswer() bool {
	if f.aside == nil {
		return false
	}
	f.editor.Set(*f.aside)
	f.aside = nil
	return true
}

// setPrompt replaces the text of the prompt.
func (f *field) setPrompt(text string) {
	if f.answering() {
		f.aside = &text
		return
	}
	f.editor.Set(text)
}

// prompt returns the text of the prompt.
func (f *field) prompt() string {
	if f.answering() {
		return *f.aside
	}
	return f.editor.Text()
}

// blank reports whether there is nothing to send.
func (f *field) blank() bool { return strings.TrimSpace(f.editor.Text()) == "" && len(f.images) == 0 }

// empty reports whether nothing is written or attached.
func (f *field) empty() bool { return f.editor.Empty() && len(f.images) == 0 }

// discard removes what is written and attached.
func (f *field) discard() {
	f.editor.Set("")
	f.images = nil
}

// clear remembers what is written, and removes it.
func (f *field) clear() {
	f.editor.Remember(strings.TrimSpace(f.editor.Text()))
	f.editor.Set("")
}

// take removes the prompt with its images, and remembers it.
func (f *field) take() (text string, images []image) {
	text, images = strings.TrimSpace(f.editor.Text()), f.images
	f.clear()
	f.images = nil
	return text, images
}

// offer shows a prompt that can be changed and sent again, unless another one is written.
func (f *field) offer(text string) {
	if text != "" && f.prompt() == "" {
		f.setPrompt(text)
	}
}

// giveBack puts prompts that were not sent before what is there.
func (f *field) giveBack(prompts []prompt) {
	if len(prompts) == 0 {
		return
	}
	var (
		texts  []string
		images []image
	)
	for _, p := range prompts {
		images = append(images, p.images...)
		if p.text != "" {
			texts = append(texts, p.text)
		}
	}
	if text := f.prompt(); text != "" {
		texts = append(texts, text)
	}
	f.images = append(images, f.images...)
	f.setPrompt(strings.Join(texts, "\n\n"))
}

// paste inserts a text. The path of an image, as terminals paste it when a file is dropped on
// them, attaches the image.
func (f *field) paste(text string) {
	if path, ok := pastedPath(text); ok && !f.answering() {
		if err := f.attachFile(path); err == nil {
			return
		}
	}
	f.editor.Insert(text)
}

// fieldWidth is the width of the text in the field.
func (s screen) fieldWidth() int { return max(s.width-6, 1) }

// lines shows what is written, or a placeholder, and where the cursor is.
func (f *field) lines(s screen, placeholder string) ([]string, *tea.Cursor) {
	rows := maxFieldRows
	if s.small() {
		rows = 3
	}
	lines, y, x := f.editor.Layout(s.fieldWidth(), rows)
	if f.editor.Empty() {
		lines = []string{s.theme.Dim.Render(ansi.Truncate(placeholder, s.fieldWidth(), "…"))}
	}
	for i := range lines {
		mark := "  "
		if i == 0 {
			mark = s.theme.Accent.Render("❯ ")
		}
		lines[i] = mark + lines[i]
	}
	for _, picture := range f.images {
		lines = append(lines, s.theme.Dim.Render("  [image "+sanitize.Line(picture.name)+"]"))
	}
	border := s.theme.Border
	if f.answering() {
		border = s.theme.BorderAsk
	}
	return s.boxed("", lines, border), tea.NewCursor(x+4, y+1)
}
