package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

const demoHelp = `I am the demo model, not an AI: I follow a few fixed rules, so that you can try scorel without a key. You can tell me:

- read FILE
- list FOLDER
- find PATTERN
- grep TEXT
- run COMMAND
- write FILE: TEXT
- think
- stream NUMBER
- use TOOL JSON

Several lines make several calls. For a real model, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name one in config.toml.`

// maxDemoWords bounds "stream N".
const maxDemoWords = 200_000

// answerPrompt executes the commands in the prompt, line by line.
func answerPrompt(prompt string, req agent.Request) session.Content {
	var calls session.Content
	for line := range strings.Lines(prompt) {
		if tool, arguments, ok := demoCall(strings.TrimSpace(line)); ok {
			if !slices.ContainsFunc(req.Tools, func(spec agent.ToolSpec) bool { return spec.Name == tool }) {
				return session.Content{session.Text(fmt.Sprintf("Demo model, not an AI: I would use the tool %s, but this session does not have it.", tool))}
			}
			calls = append(calls, session.Block{Type: session.BlockToolCall, ID: demoID(req, len(calls)), Name: tool, Arguments: arguments})
		}
	}
	if len(calls) > 0 {
		return append(session.Content{session.Text("Demo model, not an AI: I will do that.")}, calls...)
	}
	return demoTalk(strings.TrimSpace(prompt))
}

// demoID returns an id that is unique and reproducible within a session.
func demoID(req agent.Request, n int) string {
	return fmt.Sprintf("demo_%d_%d", len(req.Messages), n+1)
}

// demoCall parses one line as a command.
func demoCall(line string) (tool string, arguments []byte, ok bool) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if verb == "use" {
		tool, arguments, _ := strings.Cut(rest, " ")
		return tool, []byte(arguments), json.Valid([]byte(arguments))
	}
	var fields map[string]string
	switch verb = strings.ToLower(verb); {
	case verb == "list":
		if rest == "" {
			rest = "."
		}
		tool, fields = "list_dir", map[string]string{"path": rest}
	case rest == "":
		return "", nil, false
	case verb == "read":
		tool, fields = "read_file", map[string]string{"path": rest}
	case verb == "run":
		tool, fields = "bash", map[string]string{"command": rest}
	case verb == "find":
		tool, fields = "glob", map[string]string{"pattern": rest}
	case verb == "grep":
		tool, fields = "grep", map[string]string{"pattern": regexp.QuoteMeta(rest)}
	case verb == "write":
		path, text, found := strings.Cut(rest, ":")
		if !found {
			return "", nil, false
		}
		tool, fields = "write_file", map[string]string{"path": strings.TrimSpace(path), "content": strings.TrimPrefix(text, " ") + "\n"}
	default:
		return "", nil, false
	}
	arguments, err := session.Encode(fields)
	return tool, arguments, err == nil
}

// demoTalk answers a prompt without commands.
func demoTalk(prompt string) session.Content {
	words := strings.Fields(strings.ToLower(prompt))
	if len(words) == 0 {
		return session.Content{session.Text(demoHelp)}
	}
	switch {
	case words[0] == "think":
		return session.Content{
			{Type: session.BlockThinking, Thinking: "This is what a thinking block looks like. I am the demo model, so no thinking happens here."},
			session.Text("Demo model, not an AI: that was a thinking block."),
		}
	case words[0] == "stream" && len(words) == 2:
		if n, err := strconv.Atoi(words[1]); err == nil && n > 0 && n <= maxDemoWords {
			return session.Content{session.Text(demoStream(n))}
		}
	case asksWho(words):
		return session.Content{session.Text(demoHelp)}
	}
	return session.Content{session.Text(fmt.Sprintf(
		"Demo model, not an AI: thank you, you said %q. I do not understand it; say \"help\" to see what I can do.", clip(prompt, 500)))}
}

// asksWho reports whether the prompt is a greeting or asks what the model is.
func asksWho(words []string) bool {
	greeting := strings.Trim(words[0], "!?.,")
	if len(words) <= 2 && slices.Contains([]string{"hello", "hi", "hey", "help", "hallo"}, greeting) {
		return true
	}
	text := strings.Join(words, " ")
	return strings.Contains(text, "who are you") || strings.Contains(text, "what are you") || strings.Contains(text, "what can you do")
}

// demoStream counts, so that a lost or repeated word is noticeable.
func demoStream(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		if i > 1 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "word%d", i)
	}
	return b.String()
}
