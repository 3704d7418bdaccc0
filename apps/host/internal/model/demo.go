package model

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// apiDemo marks messages of the demo model.
const apiDemo = "demo"

// demo answers by fixed rules. Its answers say that it is not an AI, and the same prompt
// always gets the same answer.
type demo struct{ config Config }

func newDemo(config Config) *demo {
	if config.Model == "" {
		config.Model = "demo"
	}
	return &demo{config}
}

// Stream answers the last message.
func (d *demo) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	a := &assembler{emit: emit}
	message := session.Message{
		Role: session.RoleAssistant, API: apiDemo, Provider: d.config.Provider, Model: d.config.Model, Usage: &session.Usage{},
		StopReason: session.StopEnd,
	}
	for _, block := range demoReply(req) {
		if !d.play(ctx, a, block) {
			message.StopReason = session.StopAborted
			break
		}
	}
	message.Content = a.whole()
	if message.StopReason == session.StopAborted {
		message.Content = a.partial(false)
	} else if len(message.Content.ToolCalls()) > 0 {
		message.StopReason = session.StopToolUse
	}
	message.Timestamp = time.Now().UnixMilli()
	return message
}

// play streams a block word by word and reports whether it reached the end.
func (d *demo) play(ctx context.Context, a *assembler, b session.Block) bool {
	if ctx.Err() != nil {
		return false
	}
	index := a.open(b.Type, b.ID, b.Name)
	for _, word := range strings.SplitAfter(b.Text+b.Thinking+string(b.Arguments), " ") {
		if d.config.Delay > 0 && !sleep(ctx, d.config.Delay) || ctx.Err() != nil {
			return false
		}
		a.grow(index, word)
	}
	return true
}

// demoReply creates the answer to the end of the conversation.
func demoReply(req agent.Request) session.Content {
	results := trailingResults(req.Messages)
	if len(results) > 0 {
		return session.Content{session.Text(reportAll(results))}
	}
	prompt := session.Content{}
	if n := len(req.Messages); n > 0 {
		prompt = req.Messages[n-1].Content
	}
	answer := answerPrompt(prompt.Plain(), req)
	if prompt.HasImage() {
		answer = append(session.Content{session.Text(seen(prompt))}, answer...)
	}
	return answer
}

// seen describes the images of a prompt.
func seen(content session.Content) string {
	var images []string
	for _, block := range content {
		if block.Type == session.BlockImage {
			images = append(images, fmt.Sprintf("%s, %d x %d pixels", block.MimeType, block.Width, block.Height))
		}
	}
	return fmt.Sprintf("Demo model, not an AI: your message has images (%s), which I cannot see.\n\n", strings.Join(images, "; "))
}

func trailingResults(messages []session.Message) []session.Message {
	first := len(messages)
	for first > 0 && messages[first-1].Role == session.RoleToolResult {
		first--
	}
	return messages[first:]
}

func reportAll(results []session.Message) string {
	sentences := make([]string, 0, len(results))
	for _, result := range results {
		sentences = append(sentences, report(result))
	}
	return strings.Join(sentences, " ")
}

// report describes the result of a tool in one sentence.
func report(result session.Message) string {
	text := strings.TrimSpace(result.Content.Plain())
	first, _, more := strings.Cut(text, "\n")
	first = clip(first, 120)
	lines := strings.Count(text, "\n") + 1
	switch {
	case result.IsError != nil && *result.IsError:
		return fmt.Sprintf("The tool %s reported an error: %q.", result.ToolName, first)
	case text == "" || text == agent.TextNoOutput:
		return fmt.Sprintf("The tool %s returned no output.", result.ToolName)
	case more:
		return fmt.Sprintf("The tool %s returned %d lines, the first is %q.", result.ToolName, lines, first)
	}
	return fmt.Sprintf("The tool %s returned %q.", result.ToolName, first)
}

// clip truncates text after n characters.
func clip(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n]) + "..."
}
