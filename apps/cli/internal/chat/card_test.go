package chat

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/composer"
	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestACardIgnoresKeysAtFirst: what a person was typing when it appeared answers nothing, and
// each ignored key makes it wait again.
func TestACardIgnoresKeysAtFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.await("Takes an answer once you pause")
	w.write("y")
	w.clock = w.clock.Add(guard - time.Millisecond)
	w.write("y")
	w.clock = w.clock.Add(guard - time.Millisecond)
	w.write("yyn")
	if w.model.card.sent {
		t.Fatal("a key within 600 ms of another answered the card")
	}
	w.clock = w.clock.Add(guard)
	w.write("y")
	w.idle()
	if !exists(filepath.Join(w.folder, "made.txt")) {
		t.Error("the allowed call did not run")
	}
}

// TestTypingGoesOnWhenACardAppears: a card takes no key from a field in which something is
// written.
func TestTypingGoesOnWhenACardAppears(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.write("my") // before the card is there
	w.await("Tab: answer")
	w.clock = w.clock.Add(time.Minute)
	w.write("yyy")
	if got := w.model.field.editor.Text(); got != "myyyy" || w.model.card.sent {
		t.Fatalf("the field has %q, the card was answered: %v", got, w.model.card.sent)
	}
	w.key(tea.KeyTab, 0)
	w.answer('n')
	w.idle()
	if exists(filepath.Join(w.folder, "made.txt")) {
		t.Error("the denied call ran")
	}
}

// TestOnlyWhatWasReadIsAllowed: a detail that does not fit must be scrolled to its end.
func TestOnlyWhatWasReadIsAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	w.model.paste(`use write_file {"path":"long.txt","content":"` + strings.Repeat(`line\n`, 200) + `"}`)
	w.key(tea.KeyEnter, 0)
	w.await("PgDn: read on")
	w.answer('y')
	if w.model.card.sent {
		t.Fatal("a call was allowed whose end was not shown")
	}
	w.await("Read to the end")
	w.key(tea.KeyEnd, 0)
	w.await("Risk: medium (it writes long.txt)")
	w.answer('y')
	w.idle()
	if !exists(filepath.Join(w.folder, "long.txt")) {
		t.Error("the allowed call did not run")
	}
}

// TestAnAnswerIsBoundToWhatWasShown: the host refuses an answer to something else.
func TestAnAnswerIsBoundToWhatWasShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.waitForCard()
	w.model.card.approval.Shown = strings.Repeat("0", len(w.model.card.approval.Shown))
	w.answer('y')
	w.until("the refusal", func(string) bool { return w.model.notice.bad != nil })
	if exists(filepath.Join(w.folder, "made.txt")) {
		t.Error("the call ran with an answer to another one")
	}
}

func TestFeedbackAndOwnAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.answer('f')
	w.await("Feedback to the agent")
	w.write("use another name")
	w.key(tea.KeyEnter, 0)
	w.await("use another name")
	w.idle()
	w.prompt(`use clarify {"question":"Which one?","choices":[]}`)
	w.answer('w')
	w.write("the second")
	w.key(tea.KeyEnter, 0)
	w.await("│ the second")
	w.idle()
}

// TestAnAnswerIsNoPrompt, whichever key sends it.
func TestAnAnswerIsNoPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.answer('f')
	w.write("use another name")
	w.key('s', tea.ModCtrl)
	if n := len(w.model.outbox.prompts); n != 0 || !w.model.card.sent || w.model.field.answering() {
		t.Errorf("%d prompts are on their way, the card was answered: %v", n, w.model.card.sent)
	}
	w.await("use another name")
	w.idle()
	if exists(filepath.Join(w.folder, "made.txt")) {
		t.Error("the denied call ran")
	}
}

// TestALongTitleHidesNothing: a path that fills the screen must be scrolled through before the call
// is allowed, and what follows it with it.
func TestALongTitleHidesNothing(t *testing.T) {
	n := &notices{explainer: explainer{error.Error, func(error) string { return "" }}}
	c := cards{now: time.Now, may: func(api.Grant) bool { return true }, field: &field{editor: composer.New()}, notice: n}
	title := "Create " + strings.Repeat("./", 2000) + "made.txt"
	live := api.Live{Approvals: []api.Approval{{ID: "a1", ToolName: "write_file", Cwd: "/site", Title: title, Detail: "the content"}}}
	c.refresh(live, "s1", false)
	for _, s := range []screen{{80, 24, theme.New(true)}, {40, 20, theme.New(true)}, {80, 12, theme.New(true)}} {
		c.scroll, c.read = 0, false
		shown := func() string {
			const above = 1 // and the header
			lines := c.lines(s, above)
			if n := len(lines) + above + 1; n > s.height {
				t.Errorf("the last row of the card is %d of %d", n, s.height)
			}
			return ansi.Strip(strings.Join(lines, "\n"))
		}
		if text := shown(); !strings.Contains(text, "write_file in /site") || c.read {
			t.Errorf("%d rows: counts as read: %v\n%s", s.height, c.read, text)
		}
		c.scrollBy(1 << 20)
		if text := shown(); !strings.Contains(text, "the content") || !c.read {
			t.Errorf("%d rows: counts as read at its end: %v\n%s", s.height, c.read, text)
		}
	}
}
