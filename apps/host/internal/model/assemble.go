package model

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/protocol/session"
)

// assembler collects the blocks of one attempt and reports every piece.
type assembler struct {
	emit   func(agent.Delta)
	blocks []*block
	usage  *session.Usage // what the provider has said of it so far; nil while it said nothing
	begun  bool           // the provider answers, so the attempt takes tokens
	told   bool           // usage is the last word on it
}

type block struct {
	kind      session.BlockType
	id, name  string
	signature string
	redacted  bool
	closed    bool // the provider said that nothing more comes
	text      strings.Builder
}

// open begins a block and returns its index.
func (a *assembler) open(kind session.BlockType, id, name string) int {
	index := len(a.blocks)
	a.blocks = append(a.blocks, &block{kind: kind, id: id, name: name})
	a.emit(agent.Delta{Kind: agent.DeltaStart, Index: index, Block: kind, ID: id, Name: name})
	return index
}

// grow adds text to a block.
func (a *assembler) grow(index int, text string) {
	if text == "" {
		return
	}
	a.blocks[index].text.WriteString(text)
	a.emit(agent.Delta{Kind: agent.DeltaText, Index: index, Text: text})
}

// extend adds text to the last block when it is of this kind, else to a new one.
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

// whole returns the content of a message that arrived completely.
func (a *assembler) whole() session.Content {
	content := session.Content{}
	for _, b := range a.blocks {
		content = append(content, b.content())
	}
	return content
}

// partial returns what is worth keeping of a message that broke off: no tool
// call that is not complete, and with signed no thinking without signature.
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

// complete tells whether the arguments are all there. An object that has been
// closed cannot grow, so valid JSON is as good as the provider's word.
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
