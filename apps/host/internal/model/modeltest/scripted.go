// Package modeltest provides scripted models for tests that are as strict about requests as
// real ones: Scripted replaces a provider's code, Server a provider's endpoint.
package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Step is what one model call does: it streams Content and ends with Stop.
type Step struct {
	Content session.Content
	Stop    session.StopReason // "" means the reason that fits the content
	Error   string             // with StopError
	// Overflow makes the call fail because the prompt is too long.
	Overflow bool
	// FailFirst makes that many attempts fail after the first block.
	FailFirst int
	// Stall waits after the content until the call is canceled.
	Stall bool
	// Faults are failures of the requests before this step; only a Server uses them.
	Faults []Fault
	// Usage is the usage of the step; only a Scripted model reports it, a Server has its
	// own.
	Usage *session.Usage
	// Piece is the size of a delta in bytes; 0 means 4.
	Piece int
}

// Say returns a step of plain text.
func Say(text string) Step { return Step{Content: session.Content{session.Text(text)}} }

// Calls returns a step of tool calls.
func Calls(calls ...session.Block) Step { return Step{Content: calls} }

// Call returns a tool call block.
func Call(id, name, arguments string) session.Block {
	return session.Block{Type: session.BlockToolCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// Scripted is a Model that plays its steps, one per call. If Check rejects the request, or
// all steps are used, the call fails with StopError and a text that begins with
// "modeltest:".
type Scripted struct {
	mu       sync.Mutex
	steps    []Step
	requests []agent.Request
}

// New returns a model that plays the steps.
func New(steps ...Step) *Scripted { return &Scripted{steps: steps} }

// Requests returns the requests so far.
func (s *Scripted) Requests() []agent.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]agent.Request(nil), s.requests...)
}

// Stream plays the next step.
func (s *Scripted) Stream(ctx context.Context, req agent.Request, emit func(agent.Delta)) session.Message {
	step, err := s.next(req)
	if err != nil {
		return failure("modeltest: " + err.Error())
	}
	if step.Overflow {
		emit(agent.Delta{Kind: agent.DeltaOverflow, Text: "the prompt is too long"})
		return failure("the prompt is too long")
	}
	for attempt := range step.FailFirst {
		if len(step.Content) > 0 {
			play(ctx, step.Content[:1], step.Piece, emit)
		}
		emit(agent.Delta{Kind: agent.DeltaReset, Text: fmt.Sprintf("attempt %d broke off", attempt+1)})
	}
	content := play(ctx, step.Content, step.Piece, emit)
	if step.Stall {
		<-ctx.Done()
	}
	message := session.Message{Role: session.RoleAssistant, API: "scripted", Content: content, StopReason: step.Stop, ErrorMessage: step.Error, Usage: step.Usage}
	switch {
	case ctx.Err() != nil:
		message.StopReason, message.ErrorMessage = session.StopAborted, ""
	case step.Stop != "":
	case len(content.ToolCalls()) > 0:
		message.StopReason = session.StopToolUse
	default:
		message.StopReason = session.StopEnd
	}
	return message
}

func (s *Scripted) next(req agent.Request) (Step, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	if err := Check(req); err != nil {
		return Step{}, err
	}
	if len(s.steps) == 0 {
		return Step{}, fmt.Errorf("call %d has no step", len(s.requests))
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	return step, nil
}

func failure(text string) session.Message {
	return session.Message{Role: session.RoleAssistant, StopReason: session.StopError, ErrorMessage: text}
}

// play streams the blocks and returns what had arrived when ctx ended: partial text, but no
// incomplete tool calls.
func play(ctx context.Context, blocks session.Content, piece int, emit func(agent.Delta)) session.Content {
	if piece <= 0 {
		piece = 4
	}
	var arrived session.Content
	for i, block := range blocks {
		if ctx.Err() != nil {
			break
		}
		emit(agent.Delta{Kind: agent.DeltaStart, Index: i, Block: block.Type, ID: block.ID, Name: block.Name})
		text := block.Text + block.Thinking + string(block.Arguments)
		sent := 0
		for sent < len(text) && ctx.Err() == nil {
			end := min(sent+piece, len(text))
			emit(agent.Delta{Kind: agent.DeltaText, Index: i, Text: text[sent:end]})
			sent = end
		}
		if sent < len(text) {
			if block.Type == session.BlockText && sent > 0 {
				arrived = append(arrived, session.Text(text[:sent]))
			}
			break
		}
		arrived = append(arrived, block)
	}
	return arrived
}
