package chat

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/packages/protocol/api"
)

// slash is a command that begins with "/".
type slash struct {
	name string
	args string // for the help; "" takes none
	what string
	does func(args string) tea.Msg // what the command asks the model for
}

// Messages that ask the model for something.
type (
	beginSession struct{}
	cancelTurn   struct{}
	forkSession  struct{}
	attachImage  struct{ path string }
	rename       struct{ name string }
	steer        struct{ text string }
)

// always asks for the same, whatever the arguments are.
func always(what tea.Msg) func(string) tea.Msg {
	return func(string) tea.Msg { return what }
}

// slashes lists the commands. Other words after a slash go to the host, which knows its skills.
func slashes() []slash {
	return []slash{
		{"branches", "", "Go back to an earlier message, or to another branch", always(listBranches)},
		{"cancel", "", "Cancel the running turn", always(cancelTurn{})},
		{"fork", "", "Copy this session and continue in the copy", always(forkSession{})},
		{"help", "", "Keys and commands", always(listHelp)},
		{"image", "PATH", "Attach an image of this machine", slashImage},
		{"mode", "[MODE]", "Set what the agent may do without asking", slashMode},
		{"model", "[NAME]", "Choose the model", slashModel},
		{"new", "", "Start a new session", always(beginSession{})},
		{"queue", "", "Edit or remove queued prompts", always(listQueue)},
		{"quit", "", "Leave; the agent continues without you", always(tea.QuitMsg{})},
		{"rename", "NAME", "Rename the session", slashRename},
		{"search", "", "Search the sessions of all devices", always(listSearch)},
		{"sessions", "", "Switch to another session", always(listSessions)},
		{"steer", "TEXT", "Send a prompt to the running turn", func(text string) tea.Msg { return steer{text} }},
		{"thinking", "[LEVEL]", "Choose the reasoning level", slashThinking},
	}
}

// slashOf reads a text that is a command of this terminal.
func slashOf(text string) (what tea.Msg, ok bool) {
	name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, ok = strings.CutPrefix(name, "/")
	if !ok {
		return nil, false
	}
	for _, s := range slashes() {
		if s.name == name {
			return s.does(strings.TrimSpace(args)), true
		}
	}
	return nil, false
}

func slashImage(path string) tea.Msg {
	if path == "" {
		return said{text: "Give the path of an image: /image PATH"}
	}
	return attachImage{path}
}

func slashMode(mode string) tea.Msg {
	switch {
	case mode == "":
		return listModes
	case !slices.Contains(api.Modes(), api.Mode(mode)):
		return said{text: "Give one of " + api.ModeNames()}
	}
	return choices{mode: api.Mode(mode)}
}

func slashModel(name string) tea.Msg {
	if name == "" {
		return listModels
	}
	return choices{model: name}
}

func slashThinking(level string) tea.Msg {
	if level == "" {
		return listThinking
	}
	return choices{thinking: level}
}

func slashRename(name string) tea.Msg {
	if name == "" {
		return said{text: "Give a session its name with /rename NAME"}
	}
	return rename{name}
}
