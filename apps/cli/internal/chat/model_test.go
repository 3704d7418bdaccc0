package chat

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

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

// TestAPromptGoesAsSoonAsTheProjectIsThere: the answer about the project may overtake the
// events that came before it, such as the one with the grants.
func TestAPromptGoesAsSoonAsTheProjectIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	var held []tea.Msg
	for w.model.next.project.ID == "" {
		msg := <-w.messages
		if _, ok := msg.(projectFound); ok {
			w.send(msg)
		} else {
			held = append(held, msg)
		}
	}
	w.write("hello")
	w.key(tea.KeyEnter, 0)
	if text := w.model.field.editor.Text(); text != "" {
		t.Fatalf("the prompt stays in the field: %q, %s", text, w.model.notice.text)
	}
	for _, msg := range held {
		w.send(msg)
	}
	w.idle()
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

func TestQueueSteerAndCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("stream 200000")
	w.until("a word of the answer", regexp.MustCompile(`word\d+ `).MatchString)
	w.prompt("first in the queue")
	w.await("Queued: first in the queue")
	w.write("join in")
	w.key('s', tea.ModCtrl)
	w.await("Will be read at the next step: join in")
	w.write("/queue")
	w.key(tea.KeyEscape, 0)
	w.key(tea.KeyEnter, 0)
	w.await("Enter: edit in the field")
	w.write("first")
	w.key(tea.KeyEnter, 0)
	w.until("the prompt in the field", func(string) bool {
		return w.model.field.editor.Text() == "first in the queue" && len(w.model.session.Live.Queue) == 1
	})
	w.key('c', tea.ModCtrl)
	w.key(tea.KeyEscape, 0)
	w.await("Canceled")
	w.idle()
}

func TestWatchingChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("write made.txt: x")
	w.waitForCard()
	id := w.model.session.Summary.ID
	w.open(80, 24, func(cfg *Config) { cfg.Session, cfg.Watch = id, true })
	w.await("View only in this terminal")
	w.clock = w.clock.Add(time.Minute)
	w.write("yan")
	w.key(tea.KeyTab, 0)
	w.write("y")
	w.key(tea.KeyEscape, 0)
	if w.model.card.sent || w.model.card.focused || !w.model.field.editor.Empty() {
		t.Fatal("a terminal that only watches answered or wrote something")
	}
	if w.model.session.Live.Turn == nil || w.model.session.Live.Turn.Cancelling {
		t.Fatal("a terminal that only watches canceled the turn")
	}
}

func TestSessionsModelsAndModes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello")
	w.idle()
	first := w.model.session.Summary.ID
	w.key(tea.KeyTab, tea.ModShift)
	w.await("accept-edits")
	w.key('t', tea.ModCtrl)
	w.await("New session")
	w.key(tea.KeyTab, tea.ModShift)
	w.prompt("write free.txt: x")
	w.idle()
	if !exists(filepath.Join(w.folder, "free.txt")) {
		t.Error("the mode that was chosen before the session existed was not used")
	}
	w.prompt("/rename The second")
	w.await(" The second")
	w.key('r', tea.ModCtrl)
	w.await("hello  site")
	w.write("hello")
	w.key(tea.KeyEnter, 0)
	w.until("the first session", func(string) bool { return w.model.session.Summary.ID == first })
	w.write("/branches")
	w.key(tea.KeyEscape, 0)
	w.key(tea.KeyEnter, 0)
	w.await("Edit and resend")
	w.write("❯ hello")
	w.key(tea.KeyEnter, 0)
	w.until("the prompt in the field", func(string) bool { return w.model.field.editor.Text() == "hello" })
}

func TestSearchFindsOnOtherHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("hello from afar")
	w.idle()
	id := w.model.session.Summary.ID
	other := Host{Name: "the server", Dial: w.dial, Lost: func(error) bool { return true }}
	near := newWorld(t)
	near.open(80, 24, func(cfg *Config) { cfg.Others = func(string) []Host { return []Host{other} } })
	near.until("the project", func(string) bool { return near.model.next.project.ID != "" })
	near.key('g', tea.ModCtrl)
	near.write("afar")
	near.await("the server")
	near.key(tea.KeyEnter, 0)
	near.until("the session of the other host", func(string) bool { return near.model.session.Summary.ID == id })
	near.await("❯ hello from afar")
}

// TestALongSessionOpensInAWindow: what is not visible is not loaded, and comes when it is
// scrolled to.
func TestALongSessionOpensInAWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.importLong(2000)
	w.open(80, 24, func(cfg *Config) { cfg.Session = id })
	w.await("message 2000 of the session")
	if n := len(w.model.session.Path); n > api.WindowEntries {
		t.Errorf("%d entries were loaded at once", n)
	}
	for w.model.session.Before != 0 {
		before := w.model.session.Before
		w.key(tea.KeyHome, tea.ModCtrl)
		w.until("earlier entries", func(string) bool { return w.model.session.Before != before })
	}
	w.key(tea.KeyHome, tea.ModCtrl)
	w.await("message 1 of the session")
	w.key(tea.KeyEnd, tea.ModCtrl)
	w.await("message 2000 of the session")
}

// TestAnImageIsAttachedByItsPath, as a terminal pastes it.
func TestAnImageIsAttachedByItsPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.until("the project", func(string) bool { return w.model.next.project.ID != "" })
	path := filepath.Join(w.folder, "a picture.png")
	if err := os.WriteFile(path, pngPixel, 0o600); err != nil {
		t.Fatal(err)
	}
	w.send(tea.PasteMsg{Content: strings.ReplaceAll(path, " ", `\ `)})
	w.await("[image a picture.png]")
	w.prompt("what is this?")
	w.await("[image png]")
	w.await("your message has images")
	w.idle()
}

// TestReconnect: the screen says that the host is away, and goes on when it is back.
func TestReconnect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, seen := make(chan client.Transport, 1), make(chan struct{})
	w.open(80, 24, func(cfg *Config) { cfg.Host.Dial = once(w.dial, first, seen) })
	w.prompt("stream 120")
	w.await("word9 ")
	_ = (<-first).Close()
	w.await("Disconnected")
	close(seen)
	w.until("the connection", func(string) bool { return w.model.conn.connected })
	w.until("the whole answer", func(string) bool { return !w.model.session.running() })
	answer := ""
	for _, entry := range w.model.session.Path {
		if message, ok := entry.AsMessage(); ok && message.Message.Role == session.RoleAssistant {
			answer += message.Message.Content.Plain()
		}
	}
	if words := strings.Fields(answer); len(words) != 120 || words[119] != "word120" {
		t.Errorf("the answer has %d words", len(words))
	}
}

// TestThePathIsShown: the last row names the path in use, without what could change the screen.
func TestThePathIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "local network"
	w.open(80, 24, func(cfg *Config) { cfg.Host.Path = func() string { return path } })
	w.await("local network · F1 help")
	path = "relay.example\x1b[2J"
	w.await(`relay.example\x1b[2J · F1 help`)
}

// TestHostileText: no text from elsewhere reaches the terminal as a control sequence.
func TestHostileText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;title\x07b\x1b[2Jc\u009b31md\u202ee\rf\x00g\x1b[8mh"
	w := newWorld(t)
	w.open(80, 40, nil)
	w.prompt("hello")
	w.idle()
	m := w.model
	m.session.Summary.Name, m.next.project.Name, m.next.project.Path, m.conn.host.Label = evil, evil, evil, evil
	m.session.Live.Approvals = []api.Approval{{ID: "1", ToolName: evil, Title: evil, Detail: evil + "\n+" + evil, Cwd: evil, Reason: evil,
		IsDiff: true, Risk: &api.Risk{Level: api.RiskHigh, Reasons: []string{evil}}, ProposedRules: []string{evil}}}
	m.session.Live.Queue = []session.QueuedPrompt{{Text: evil}}
	m.session.Live.Partial = []api.PartialBlock{
		{Type: session.BlockText, Text: evil + "\n\n```" + evil + "\n" + evil + "\n```\n\n[" + evil + "](" + evil + ") `" + evil + "` &#27;[2J &#x1b;[2J **" + evil + "**\n\n| a | b |\n|---|---|\n|" + evil + "|x|"},
		{Type: session.BlockThinking, Text: evil},
		{Type: session.BlockToolCall, Name: evil, Text: `{"command":"` + "a\\u001b[2Jb" + `"}`},
	}
	m.notice.fail(api.Errorf(api.KindConflict, "%s", evil))
	m.complete.list = suggestions{word: "@", rows: []row{{title: evil, detail: evil}}}
	m.session.transcript.Sync(&m.session.Session)
	m.card.refresh(m.session.Live, m.session.Summary.ID, m.picker != nil)
	m.field.editor.Insert(evil)
	check := func(what string) {
		t.Helper()
		v := m.View()
		for _, text := range []string{v.Content, v.WindowTitle} {
			if at := onlyColors(text); at >= 0 {
				t.Errorf("%s: a control sequence reaches the terminal: %q", what, text[at:min(at+40, len(text))])
			}
		}
		if !strings.Contains(v.Content, `\x1b`) {
			t.Errorf("%s: the escape character is not visible", what)
		}
	}
	check("the chat")
	m.show(&picker{title: "x", rows: []row{{title: evil, detail: evil}}, filter: m.field.editor}, nil)
	check("a list")
}

// startWith opens a screen and writes prompts before anything that the host says is handled.
func (w *world) startWith(change func(*Config), prompts ...string) {
	w.t.Helper()
	w.open(80, 60, change)
	for _, text := range prompts {
		w.write(text)
		w.key(tea.KeyEnter, 0)
		if left := w.model.field.editor.Text(); left != "" {
			w.t.Fatalf("the prompt stays in the field: %q, %s", left, w.model.notice.text)
		}
	}
}

func TestPromptsWaitForTheHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startWith(nil, "first of all", "and second", "then the third")
	w.await("Sending: then the third")
	w.idle()
	at := 0
	for _, text := range []string{"❯ first of all", "❯ and second", "❯ then the third"} {
		next := strings.Index(w.screen()[at:], text)
		if next < 0 {
			t.Fatalf("%q is not there, or not in its order:\n%s", text, w.screen())
		}
		at += next
	}
}

func TestPromptsComeBack(t *testing.T) {
	t.Parallel()
	const both = "first of all\n\nand second"
	back := func(t *testing.T, w *world, notice string) {
		t.Helper()
		w.await(notice)
		if got := w.model.field.editor.Text(); got != both || len(w.model.outbox.prompts) != 0 {
			t.Fatalf("the field has %q, on their way are %d", got, len(w.model.outbox.prompts))
		}
	}
	t.Run("the folder cannot be a project", func(t *testing.T) {
		w := newWorld(t)
		w.startWith(func(c *Config) { c.Folder = filepath.Join(w.folder, "missing") }, "first of all", "and second")
		back(t, w, "missing")
	})
	t.Run("another session", func(t *testing.T) {
		w := newWorld(t)
		id := w.importLong(2)
		w.startWith(nil, "first of all", "and second")
		w.model.open(id)
		back(t, w, "message 2")
	})
	t.Run("watching", func(t *testing.T) {
		w := newWorld(t)
		w.startWith(nil, "first of all", "and second")
		w.run(w.model.apply(feed.Connected{Host: api.HostInfo{Grants: []api.Grant{api.GrantView}}}))
		back(t, w, onlyWatching)
	})
}
