package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// SystemPrompt tells a model where it is and what it can do. It is made from the
// tools that are there, in the order of their names, and from what the session was
// told of its folder. It holds no date and no id: the same session has the same
// prompt, which providers can cache.
func SystemPrompt(tools []Tool, cwd string, ground Ground) string {
	has := map[string]Tool{}
	for _, tool := range tools {
		has[tool.Spec().Name] = tool
	}
	var b strings.Builder
	b.WriteString("You are scorel, a coding agent. You work on the user's own machine; " +
		"the user may be elsewhere and reads along on a small screen.\n\n")
	fmt.Fprintf(&b, "The working folder is %s. Relative paths are relative to it.\n", cwd)
	if len(has) == 0 {
		b.WriteString("\nYou have no tools in this session: answer from what you are told.\n")
		writeInstructions(&b, ground.Instructions)
		return b.String()
	}
	b.WriteString("\n# Tools\n\n" + toolList(has) + "\n# How to work\n\n")
	for _, line := range guidance(has) {
		b.WriteString("- " + line + "\n")
	}
	if has["read_skill"] != nil {
		writeSkills(&b, ground.Skills)
	}
	writeInstructions(&b, ground.Instructions)
	return b.String()
}

// writeSkills lists what can be read with read_skill.
func writeSkills(b *strings.Builder, skills session.Skills) {
	b.WriteString("\n# Skills\n\nWhen a task fits one of these, read it with read_skill before you begin.\n\n")
	for _, skill := range skills.Skills {
		if !skill.Manual {
			fmt.Fprintf(b, "- %s: %s\n", skill.Name, skill.Description)
		}
	}
}

// writeInstructions repeats what people wrote down for agents.
func writeInstructions(b *strings.Builder, instructions session.Instructions) {
	if len(instructions.Files) == 0 {
		return
	}
	b.WriteString("\n# Instructions\n\nThe user and the project wrote these down for agents. Follow them; where two differ, the later one counts, " +
		"and what the user says in the conversation counts more.\n")
	for _, file := range instructions.Files {
		fmt.Fprintf(b, "\n<instructions path=%q>\n%s\n</instructions>\n", file.Path, file.Content)
	}
}

func toolList(has map[string]Tool) string {
	lines := make([]string, 0, len(has))
	for name, tool := range has {
		asks := ""
		if tool.Risk() == RiskWrite {
			asks = " (asks the user first)"
		}
		lines = append(lines, "- "+name+asks+"\n")
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// guidance speaks only of tools that are there.
func guidance(has map[string]Tool) []string {
	lines := []string{
		"Find out before you claim: look at files and output instead of guessing what they hold.",
		"Finish the job. Leave no placeholders, and never make up the output of a tool.",
		"When a tool reports an error, read it, fix the cause and try again; say so when you cannot.",
		"When the user refuses a call, do not get at the same effect by another way.",
	}
	if len(has) > 1 {
		lines = append(lines, "Calls that do not depend on each other belong into one message: those that only read run side by side.")
	}
	if has["bash"] != nil && (has["grep"] != nil || has["glob"] != nil || has["read_file"] != nil) {
		lines = append(lines, "Prefer the tools for reading and searching to bash: they need no approval.")
	}
	if has["write_file"] != nil && has["read_file"] != nil {
		lines = append(lines, "Read a file before you write over it.")
	}
	if has["patch"] != nil {
		lines = append(lines, "Change parts of files with patch, not with commands, and look at the diff that it returns.")
	}
	if has["todo"] != nil {
		lines = append(lines, "Keep the tasks of longer work with todo, and keep it true.")
	}
	if has["clarify"] != nil {
		lines = append(lines, "Where the user's answer would change what you do and nothing that you can read tells it, ask with clarify before you begin; "+
			"decide small things yourself. Do not ask it for leave to make a call: tools ask by themselves.")
	}
	if has["memory_recall"] != nil {
		lines = append(lines, "At the beginning of work on a project, recall what was kept about it.")
	}
	return append(lines, steerGuidance, noteGuidance, "Answer briefly, in Markdown. Name files by their path.")
}
