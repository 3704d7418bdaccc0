package modeltest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// maxID is the longest tool call id that all providers accept, in bytes.
const maxID = 64

// Check rejects a request that a real provider would reject: unanswered tool calls, results
// without a call, blank text, thinking on its own, arguments that are not an object, two
// consecutive messages of the model, and a conversation that does not begin with the user
// or ends with the model.
func Check(req agent.Request) error {
	if err := checkTools(req.Tools); err != nil {
		return err
	}
	messages := req.Messages
	if len(messages) == 0 {
		return errors.New("there are no messages")
	}
	if messages[0].Role != session.RoleUser {
		return fmt.Errorf("message 0 is of role %q, must be user", messages[0].Role)
	}
	if messages[len(messages)-1].Role == session.RoleAssistant {
		return errors.New("the last message is the model's own")
	}
	open := map[string]bool{}
	for i, message := range messages {
		if err := checkMessage(message, open); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, message.Role, err)
		}
		if i > 0 && message.Role == session.RoleAssistant && messages[i-1].Role == session.RoleAssistant {
			return fmt.Errorf("messages %d and %d are both the model's", i-1, i)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("tool calls without result at the end: %v", open)
	}
	return nil
}

// checkMessage tracks in open the ids of calls without a result.
func checkMessage(message session.Message, open map[string]bool) error {
	if err := checkContent(message.Content); err != nil {
		return err
	}
	if message.Role == session.RoleToolResult {
		if !open[message.ToolCallID] {
			return fmt.Errorf("there is no open call for the result of %q", message.ToolCallID)
		}
		delete(open, message.ToolCallID)
		return nil
	}
	if len(open) > 0 {
		return fmt.Errorf("comes before the results of %v", open)
	}
	switch message.Role {
	case session.RoleUser:
		return nil
	case session.RoleAssistant:
		return openCalls(message.Content, open)
	}
	return errors.New("unknown role")
}

func checkContent(content session.Content) error {
	if len(content) == 0 {
		return errors.New("has no content")
	}
	thinkingOnly := true
	for _, block := range content {
		if block.Type == session.BlockText && strings.TrimSpace(block.Text) == "" {
			return errors.New("has a blank text block")
		}
		thinkingOnly = thinkingOnly && block.Type == session.BlockThinking
	}
	if thinkingOnly {
		return errors.New("holds thinking and nothing else")
	}
	return nil
}

func openCalls(content session.Content, open map[string]bool) error {
	for _, call := range content.ToolCalls() {
		var object map[string]json.RawMessage
		switch {
		case call.ID == "" || len(call.ID) > maxID:
			return fmt.Errorf("tool call id %q is empty or too long", call.ID)
		case open[call.ID]:
			return fmt.Errorf("tool call id %q occurs twice", call.ID)
		case call.Name == "":
			return fmt.Errorf("tool call %q has no name", call.ID)
		case json.Unmarshal(call.Arguments, &object) != nil || object == nil:
			return fmt.Errorf("arguments of %q are not a JSON object", call.ID)
		}
		open[call.ID] = true
	}
	return nil
}

func checkTools(tools []agent.ToolSpec) error {
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]bool{}
	for _, tool := range tools {
		var schema struct {
			Type       string
			Properties map[string]json.RawMessage
			Required   []string
		}
		decoder := json.NewDecoder(bytes.NewReader(tool.Parameters))
		switch {
		case !name.MatchString(tool.Name):
			return fmt.Errorf("tool name %q is not allowed", tool.Name)
		case seen[tool.Name]:
			return fmt.Errorf("tool %q occurs twice", tool.Name)
		case strings.TrimSpace(tool.Description) == "":
			return fmt.Errorf("tool %q has no description", tool.Name)
		case decoder.Decode(&schema) != nil || schema.Type != "object":
			return fmt.Errorf("the parameters of tool %q are not a schema of an object", tool.Name)
		}
		for _, key := range schema.Required {
			if schema.Properties[key] == nil {
				return fmt.Errorf("tool %q requires %q, which is no property", tool.Name, key)
			}
		}
		seen[tool.Name] = true
	}
	return nil
}
