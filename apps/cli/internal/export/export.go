// Package export writes a session for people: the conversation on the path to a leaf, as
// Markdown or as one HTML page. Both are self-contained: the page loads nothing, runs
// nothing, and displays all text literally.
package export

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Document is a session to export.
type Document struct {
	Title string
	Facts []Fact
	Parts []Part
}

// Fact is a line of the header.
type Fact struct{ Name, Value string }

// Part is one contribution to the conversation.
type Part struct {
	Who    string // "User", "Assistant", "Result of bash", ...
	Kind   string // user, assistant, tool or note; determines the style
	When   string // ISO 8601, or ""
	Blocks []Block
}

// Block is a piece of a part.
type Block struct {
	Text  string
	Code  bool   // Text is shown with its line breaks and spaces
	Image string // a data: URL; Text is empty then
	Name  string // heading: "thinking", the name of a tool, or ""
}

// Of returns a document of the path to leaf. hole is nil, or says where the path ends in a
// damaged session.
func Of(header session.Header, tree *session.Tree, leaf string) (doc Document, hole error) {
	doc.Title = tree.Name()
	if doc.Title == "" {
		doc.Title = "Session " + header.ID
	}
	for _, f := range []Fact{{"Session", header.ID}, {"Folder", header.Cwd}, {"Begun", header.Timestamp}} {
		if f.Value != "" {
			doc.Facts = append(doc.Facts, f)
		}
	}
	path, hole := tree.PathToHole(leaf)
	for _, e := range path {
		part, ok := partOf(e)
		if !ok {
			continue
		}
		part.When = e.Timestamp
		if label, labeled := tree.Label(e.ID); labeled {
			part.Who += " [" + label.Text + "]"
		}
		doc.Parts = append(doc.Parts, part)
	}
	return doc, hole
}

// partOf returns what an entry contributes; ok is false if people would not read it.
func partOf(e session.Entry) (part Part, ok bool) {
	var view struct {
		Summary  string          `json:"summary"`
		Content  session.Content `json:"content"`
		Display  bool            `json:"display"`
		Provider string          `json:"provider"`
		ModelID  string          `json:"modelId"`
	}
	if e.Type == session.TypeMessage {
		return messagePart(e), true
	}
	if json.Unmarshal(e.Raw, &view) != nil {
		return Part{}, false
	}
	switch e.Type {
	case session.TypeCompaction:
		return Part{Who: "Summary of what came before", Kind: "note", Blocks: []Block{{Text: view.Summary}}}, true
	case session.TypeBranchSummary:
		return Part{Who: "Summary of another branch", Kind: "note", Blocks: []Block{{Text: view.Summary}}}, view.Summary != ""
	case session.TypeModelChange:
		return Part{Who: "Model", Kind: "note", Blocks: []Block{{Text: view.Provider + "/" + view.ModelID}}}, true
	case session.TypeCustomMessage:
		return Part{Who: e.CustomType, Kind: "note", Blocks: blocksOf(view.Content)}, view.Display
	}
	return Part{}, false
}

func messagePart(e session.Entry) Part {
	m, ok := e.AsMessage()
	if !ok { // show unknown roles too
		return Part{Who: "Message", Kind: "note", Blocks: []Block{{Text: string(e.Raw), Code: true}}}
	}
	part := Part{Kind: "note", Who: string(m.Message.Role), Blocks: blocksOf(m.Message.Content)}
	switch m.Message.Role {
	case session.RoleUser:
		part.Who, part.Kind = "User", "user"
	case session.RoleAssistant:
		part.Who, part.Kind = "Assistant", "assistant"
	case session.RoleToolResult:
		part.Who, part.Kind = "Result of "+m.Message.ToolName, "tool"
		for i := range part.Blocks {
			part.Blocks[i].Code = part.Blocks[i].Image == ""
		}
	case "bashExecution":
		return commandPart(e)
	}
	if m.Message.ErrorMessage != "" {
		part.Blocks = append(part.Blocks, Block{Name: "failed", Text: m.Message.ErrorMessage})
	}
	return part
}

// commandPart returns the part for a command that a person ran in Pi.
func commandPart(e session.Entry) Part {
	var view struct {
		Message struct {
			Command string `json:"command"`
			Output  string `json:"output"`
		} `json:"message"`
	}
	_ = json.Unmarshal(e.Raw, &view) // fields of the wrong type stay empty
	return Part{Who: "Command", Kind: "tool", Blocks: []Block{{Text: "$ " + view.Message.Command + "\n" + view.Message.Output, Code: true}}}
}

func blocksOf(content session.Content) []Block {
	var blocks []Block
	for _, b := range content {
		switch b.Type {
		case session.BlockText:
			blocks = append(blocks, Block{Text: b.Text})
		case session.BlockThinking:
			blocks = append(blocks, Block{Text: b.Thinking, Name: "thinking"})
		case session.BlockToolCall:
			blocks = append(blocks, Block{Text: string(b.Arguments), Code: true, Name: b.Name})
		case session.BlockImage:
			blocks = append(blocks, image(b))
		}
	}
	return slices.DeleteFunc(blocks, func(b Block) bool { return b.Text == "" && b.Image == "" && b.Name == "" })
}

// image returns an image block. Only types that are inert are embedded; others, such as
// SVG, are only named.
func image(b session.Block) Block {
	_, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil || !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, b.MimeType) {
		return Block{Text: fmt.Sprintf("(an image of type %s)", strings.Map(printableRune, b.MimeType))}
	}
	return Block{Image: "data:" + b.MimeType + ";base64," + b.Data}
}

func printableRune(r rune) rune {
	if r <= ' ' || r > '~' {
		return -1
	}
	return r
}
