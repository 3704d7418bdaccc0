package chat

import (
	"cmp"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// binding is a key of the screen. The help and docs/terminal.md are made of these.
type binding struct {
	keys []string // names of bubbletea; the first is shown
	what string
	run  func(m *Model) tea.Cmd
}

// bindings are the keys that work wherever the field has the focus.
func bindings() []binding {
	return []binding{
		{[]string{"enter"}, "Send the prompt; while the agent works, add it to the queue", func(m *Model) tea.Cmd { return m.enter() }},
		{[]string{"alt+enter", "shift+enter", "ctrl+j"}, "New line", (*Model).newLine},
		{[]string{"ctrl+s"}, "Send now: the running turn gets the prompt at its next step", func(m *Model) tea.Cmd { return m.submit(m.session.steers()) }},
		{[]string{"esc"}, "Close what is open, or cancel the running turn", (*Model).escape},
		{[]string{"tab"}, "Complete; switch between the card and the field", func(m *Model) tea.Cmd { m.card.focus(); return nil }},
		{[]string{"up", "ctrl+p"}, "Row up; in the first row, the previous prompt", func(m *Model) tea.Cmd { m.field.editor.Up(m.screen.fieldWidth()); return nil }},
		{[]string{"down", "ctrl+n"}, "Row down; in the last row, the next prompt", func(m *Model) tea.Cmd { m.field.editor.Down(m.screen.fieldWidth()); return nil }},
		{[]string{"pgup"}, "Scroll up", func(m *Model) tea.Cmd { m.session.transcript.Scroll(-m.session.transcript.Page()); return nil }},
		{[]string{"pgdown"}, "Scroll down", func(m *Model) tea.Cmd { m.session.transcript.Scroll(m.session.transcript.Page()); return nil }},
		{[]string{"ctrl+home"}, "Scroll to the first loaded message", func(m *Model) tea.Cmd { m.session.transcript.Start(); return nil }},
		{[]string{"ctrl+end"}, "Scroll to the end", func(m *Model) tea.Cmd { m.session.transcript.End(); return nil }},
		{[]string{"ctrl+o"}, "Show outputs, diffs and reasoning in full, or short again", func(m *Model) tea.Cmd { m.session.transcript.ToggleDetails(); return nil }},
		{[]string{"shift+tab"}, "Next permission mode: plan, ask, accept-edits, auto", (*Model).nextMode},
		{[]string{"ctrl+r"}, "Sessions: switch to another", does(listSessions)},
		{[]string{"ctrl+t"}, "New session", does(beginSession{})},
		{[]string{"ctrl+g"}, "Search all devices", does(listSearch)},
		{[]string{"ctrl+v", "alt+v"}, "Attach the image of the clipboard", (*Model).pasteImage},
		{[]string{"ctrl+l"}, "Draw the screen again", func(*Model) tea.Cmd { return tea.ClearScreen }},
		{[]string{"f1"}, "Help", does(listHelp)},
		{[]string{"ctrl+c"}, "Clear the field; twice: quit", (*Model).interrupt},
		{[]string{"ctrl+d"}, "Quit, if the field is empty", (*Model).endOfInput},
	}
}

// does has the model do something.
func does(what tea.Msg) func(*Model) tea.Cmd {
	return func(m *Model) tea.Cmd { return m.do(what) }
}

// cardBindings are the keys of a card, for the help.
func cardBindings() []binding {
	return []binding{
		{keys: []string{"y"}, what: "Allow the call once"},
		{keys: []string{"a"}, what: "Allow it, and from now on what the shown rules match"},
		{keys: []string{"n"}, what: "Deny the call"},
		{keys: []string{"f"}, what: "Deny it with feedback to the agent"},
		{keys: []string{"s"}, what: "Deny it and cancel the turn"},
		{keys: []string{"1-4"}, what: "Answer a question with one of its choices"},
		{keys: []string{"w"}, what: "Write an answer"},
		{keys: []string{"d"}, what: "Let the agent decide, or decline what an MCP server asks"},
		{keys: []string{"pgdown", "end"}, what: "Read on"},
		{keys: []string{"tab"}, what: "Switch between the card and the field"},
	}
}

// key handles a key.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	name := msg.Keystroke()
	if name != "ctrl+c" {
		m.leaving = time.Time{}
		m.notice.clear()
	}
	switch {
	case m.picker != nil && name != "ctrl+c":
		return m.pickerKey(name, msg.Text)
	case m.card.focused && name != "ctrl+c" && name != "esc" && name != "f1" && name != "ctrl+o" && name != "ctrl+l":
		return m.card.key(name, max(m.screen.height/3, 1), m.answerTo())
	case m.complete.key(name):
		return nil
	}
	for _, b := range bindings() {
		for _, known := range b.keys {
			if known == name {
				if m.conn.to.Guest && leaves(name) {
					m.notice.say("A guest link shows this session only")
					return nil
				}
				return b.run(m)
			}
		}
	}
	if m.cfg.Watch {
		if name == "q" {
			return tea.Quit
		}
		return nil
	}
	if !m.field.editor.Key(name) && msg.Text != "" {
		m.field.editor.Insert(msg.Text)
	}
	return m.suggest()
}

// paste gives a pasted text to what has the focus.
func (m *Model) paste(text string) tea.Cmd {
	m.notice.clear()
	switch {
	case m.cfg.Watch:
		return nil
	case m.picker != nil:
		return m.picker.insert(strings.Join(strings.Fields(text), " "))
	case m.card.focused: // a pasted text must not answer anything
		return nil
	}
	m.field.paste(text)
	return m.suggest()
}

// pasteImage attaches the image of the clipboard.
func (m *Model) pasteImage() tea.Cmd {
	if m.cfg.Watch {
		return nil
	}
	return pasteImage(m.conn.ctx, m.cfg.Environ)
}

// scope is where a word is completed.
func (m *Model) scope() scope {
	summary := m.session.Summary
	return scope{m.conn.remote(), summary, cmp.Or(summary.ProjectID, m.next.project.ID)}
}

// suggest completes the word before the cursor, unless it is part of an answer.
func (m *Model) suggest() tea.Cmd {
	if m.field.answering() {
		return nil
	}
	return m.complete.suggest(m.scope())
}

// answerTo is where answers to cards go.
func (m *Model) answerTo() answerTo { return answerTo{m.conn.remote(), m.conn.to.Sign} }

// leaves reports whether a key leads to other sessions.
func leaves(key string) bool { return key == "ctrl+r" || key == "ctrl+t" || key == "ctrl+g" }

// enter sends what was written, or runs a command.
func (m *Model) enter() tea.Cmd {
	if what, ok := slashOf(m.field.editor.Text()); ok && !m.field.answering() {
		m.field.clear()
		m.complete.close()
		return m.do(what)
	}
	return m.submit("")
}

func (m *Model) newLine() tea.Cmd {
	if !m.cfg.Watch { // its field is not shown
		m.field.editor.Insert("\n")
	}
	return nil
}

func (m *Model) escape() tea.Cmd {
	switch {
	case m.field.answering():
		m.card.stopWriting()
	case m.session.Live.Turn != nil:
		return m.do(cancelTurn{})
	}
	return nil
}

// nextMode cycles through the modes that still ask about something; bypass is only in the
// list.
func (m *Model) nextMode() tea.Cmd {
	if !m.conn.may(api.GrantManage) {
		m.notice.say("This terminal may not change the permission mode")
		return nil
	}
	modes := []api.Mode{api.ModePlan, api.ModeAsk, api.ModeAcceptEdits, api.ModeAuto}
	next := modes[0]
	for i, mode := range modes {
		if mode == m.settings().mode {
			next = modes[(i+1)%len(modes)]
		}
	}
	return m.do(choices{mode: next})
}

// leaveWithin is how long after a first Ctrl+C a second one leaves.
const leaveWithin = 2 * time.Second

func (m *Model) interrupt() tea.Cmd {
	now := m.cfg.Now()
	if m.picker != nil {
		m.picker.close()
		m.picker = nil
		return nil
	}
	if !m.field.empty() && !m.field.answering() {
		m.field.discard()
		return nil
	}
	if now.Sub(m.leaving) < leaveWithin {
		return tea.Quit
	}
	m.leaving = now
	m.notice.say("Press Ctrl+C again to quit; the agent continues without you")
	return nil
}

func (m *Model) endOfInput() tea.Cmd {
	if m.field.empty() {
		return tea.Quit
	}
	m.field.editor.Key("delete")
	return nil
}

// wheelLines is how far one step of the wheel scrolls.
const wheelLines = 3

func (m *Model) wheel(mouse tea.Mouse) tea.Cmd {
	by := wheelLines
	if mouse.Button == tea.MouseWheelUp {
		by = -wheelLines
	}
	switch {
	case m.picker != nil:
		m.picker.move(by / wheelLines)
	case m.card.focused:
		m.card.scrollBy(by)
	default:
		m.session.transcript.Scroll(by)
	}
	return nil
}

// KeyName returns the name of a key for people.
func KeyName(key string) string {
	parts := strings.Split(key, "+")
	names := map[string]string{"pgup": "PgUp", "pgdown": "PgDn", "esc": "Esc", "alt": "Alt", "ctrl": "Ctrl", "shift": "Shift", "enter": "Enter",
		"tab": "Tab", "up": "Up", "down": "Down", "left": "Left", "right": "Right", "home": "Home", "end": "End", "f1": "F1", "space": "Space",
		"backspace": "Backspace", "delete": "Delete"}
	for i, part := range parts {
		if name, ok := names[part]; ok {
			parts[i] = name
		} else if len(parts) > 1 {
			parts[i] = strings.ToUpper(part)
		}
	}
	return strings.Join(parts, "+")
}
