package model

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// assembler collects the blocks of one attempt and emits every piece.
type assembler struct {
	emit     func(agent.Delta)
	blocks   []*block
	usage    *session.Usage // as reported so far; nil if nothing was reported
	begun    bool           // the response has begun, so the attempt uses tokens
	complete bool           // usage is final
}

type block struct {
	kind      session.BlockType
	id, name  string
	signature string
	redacted  bool
	closed    bool // the provider said that it is complete
	text      strings.Builder
}

// open begins a block and returns its index.
func (a *assembler) open(kind session.BlockType, id, name string) int {
	index := len(a.blocks)
	a.blocks = append(a.blocks, &block{kind: kind, id: id, name: name})
	a.emit(agent.Delta{Kind: agent.DeltaStart, Index: index, Block: kind, ID: id, Name: name})
	return index
}

// grow appends text to a block.
func (a *assembler) grow(index int, text string) {
	if text == "" {
		return
	}
	a.blocks[index].text.WriteString(text)
	a.emit(agent.Delta{Kind: agent.DeltaText, Index: index, Text: text})
}

// extend appends text to the last block if it is of this kind, or else to a new one.
func (a *assembler) extend(kind session.BlockType, text string) {
	if text == "" {
		return
	}
	last := len(a.blocks) - 1
	if last < 0 || a.blocks[last].kind != kind {
		last = a.open(kind, "", "")
	}
	a.grow(last, text)
}

// whole returns the content of a complete message.
func (a *assembler) whole() session.Content {
	content := session.Content{}
	for _, b := range a.blocks {
		content = append(content, b.content())
	}
	return content
}

// partial returns what can be kept of an interrupted message: no incomplete tool calls and,
// if signed is set, no thinking without a signature.
func (a *assembler) partial(signed bool) session.Content {
	content := session.Content{}
	for _, b := range a.blocks {
		switch {
		case b.kind == session.BlockToolCall && !b.complete():
		case b.kind == session.BlockThinking && signed && b.signature == "":
		case b.kind == session.BlockText && b.text.Len() == 0:
		case b.kind == session.BlockThinking && b.signature == "" && b.text.Len() == 0:
		default:
			content = append(content, b.content())
		}
	}
	return content
}

// complete reports whether the arguments are complete. A closed object cannot grow, so
// valid JSON is as good as an end event.
func (b *block) complete() bool {
	arguments := bytes.TrimSpace([]byte(b.text.String()))
	if len(arguments) == 0 {
		return b.closed
	}
	return arguments[0] == '{' && json.Valid(arguments)
}

func (b *block) content() session.Block {
	text := b.text.String()
	switch b.kind {
	case session.BlockThinking:
		return session.Block{Type: b.kind, Thinking: text, ThinkingSignature: b.signature, Redacted: b.redacted}
	case session.BlockToolCall:
		if strings.TrimSpace(text) == "" {
			text = "{}"
		}
		return session.Block{Type: b.kind, ID: b.id, Name: b.name, Arguments: json.RawMessage(text), ThoughtSignature: b.signature}
	}
	return session.Block{Type: session.BlockText, Text: text, TextSignature: b.signature}
}
