package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// slash is a command that begins with "/".
type slash struct {
	name string
	args string // for the help; "" takes none
	what string
	run  func(m *Model, args string) tea.Cmd
}

// slashes lists the commands. Other words after a slash go to the host, which knows its skills.
func slashes() []slash {
	return []slash{
		{"branches", "", "Go back to an earlier message, or to another branch", func(m *Model, _ string) tea.Cmd { return m.list(listBranches) }},
		{"cancel", "", "Cancel the running turn", func(m *Model, _ string) tea.Cmd { return m.cancel() }},
		{"fork", "", "Copy this session and continue in the copy", func(m *Model, _ string) tea.Cmd { return m.fork() }},
		{"help", "", "Keys and commands", func(m *Model, _ string) tea.Cmd { return m.list(listHelp) }},
		{"image", "PATH", "Attach an image of this machine", (*Model).commandImage},
		{"mode", "[MODE]", "Set what the agent may do without asking", (*Model).commandMode},
		{"model", "[NAME]", "Choose the model", (*Model).commandModel},
		{"new", "", "Start a new session", func(m *Model, _ string) tea.Cmd { m.begin(); return nil }},
		{"queue", "", "Edit or remove queued prompts", func(m *Model, _ string) tea.Cmd { return m.list(listQueue) }},
		{"quit", "", "Leave; the agent continues without you", func(*Model, string) tea.Cmd { return tea.Quit }},
		{"rename", "NAME", "Rename the session", (*Model).commandRename},
		{"search", "", "Search the sessions of all devices", func(m *Model, _ string) tea.Cmd { return m.list(listSearch) }},
		{"sessions", "", "Switch to another session", func(m *Model, _ string) tea.Cmd { return m.list(listSessions) }},
		{"steer", "TEXT", "Send a prompt to the running turn", (*Model).commandSteer},
		{"thinking", "[LEVEL]", "Choose the reasoning level", (*Model).commandThinking},
	}
}

// command runs a text that is a command of this terminal.
func (m *Model) command(text string) (tea.Cmd, bool) {
	name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, ok := strings.CutPrefix(name, "/")
	if !ok {
		return nil, false
	}
	for _, s := range slashes() {
		if s.name == name {
			m.field.editor.Remember(strings.TrimSpace(text))
			m.field.editor.Set("")
			m.complete.close()
			return s.run(m, strings.TrimSpace(args)), true
		}
	}
	return nil, false
}

func (m *Model) commandImage(path string) tea.Cmd {
	if path == "" {
		m.notice.say("Give the path of an image: /image PATH")
		return nil
	}
	if err := m.field.attachFile(path); err != nil {
		m.notice.fail(err)
	}
	return nil
}

func (m *Model) commandMode(mode string) tea.Cmd {
	switch {
	case mode == "":
		return m.list(listModes)
	case !slices.Contains(api.Modes(), api.Mode(mode)):
		m.notice.say("Give one of " + api.ModeNames())
		return nil
	}
	return m.chose(choices{mode: api.Mode(mode)})
}

func (m *Model) commandModel(name string) tea.Cmd {
	if name == "" {
		return m.list(listModels)
	}
	return m.chose(choices{model: name})
}

func (m *Model) commandThinking(level string) tea.Cmd {
	if level == "" {
		return m.list(listThinking)
	}
	return m.chose(choices{thinking: level})
}

func (m *Model) commandRename(name string) tea.Cmd {
	if name == "" || m.session.Summary.ID == "" {
		m.notice.say("Give a session its name with /rename NAME")
		return nil
	}
	return order(m.conn.remote(), "", api.RenameSession, api.RenameSessionRequest{SessionID: m.session.Summary.ID, Name: name})
}

func (m *Model) commandSteer(text string) tea.Cmd {
	m.field.editor.Set(text)
	return m.submit(session.PromptMode(m.steerable()))
}
