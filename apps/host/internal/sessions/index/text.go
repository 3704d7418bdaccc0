package index

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/session"
)

// MaxText bounds the indexed text of an entry, in bytes.
const MaxText = 32 << 10

// Roles of the text of an entry, beside "user" and "assistant".
const (
	RoleTool    = "tool"    // result of a tool
	RoleSummary = "summary" // of a compaction, or of an abandoned branch
	RoleName    = "name"    // the name of the session
	RoleOther   = "other"   // a message of a program
)

// TextOf returns the searchable text of an entry and its role; "" if it has none.
func TextOf(e session.Entry) (role, text string) {
	switch e.Type {
	case session.TypeMessage:
		return messageText(e)
	case session.TypeCompaction, session.TypeBranchSummary:
		return RoleSummary, e.Text("summary")
	case session.TypeSessionInfo:
		return RoleName, e.Text("name")
	case session.TypeCustomMessage:
		var custom struct {
			Content session.Content `json:"content"`
		}
		if json.Unmarshal(e.Raw, &custom) == nil {
			return RoleOther, custom.Content.Plain()
		}
	}
	return "", ""
}

func messageText(e session.Entry) (role, text string) {
	m, ok := e.AsMessage()
	if !ok {
		return "", ""
	}
	var b strings.Builder
	for _, block := range m.Message.Content {
		switch block.Type {
		case session.BlockText:
			addLine(&b, block.Text)
		case session.BlockToolCall:
			addLine(&b, block.Name)
			addArguments(&b, block.Arguments)
		}
	}
	addLine(&b, m.Message.ErrorMessage)
	switch m.Message.Role {
	case session.RoleUser, session.RoleAssistant:
		return string(m.Message.Role), b.String()
	case session.RoleToolResult:
		return RoleTool, b.String()
	}
	return RoleOther, b.String() + programText(e)
}

// programText returns the text of messages that programs other than a model create: a command
// that a person ran, and summaries.
func programText(e session.Entry) string {
	var other struct {
		Message struct {
			Command, Output, Summary string
		} `json:"message"`
	}
	if json.Unmarshal(e.Raw, &other) != nil {
		return ""
	}
	return strings.Join([]string{other.Message.Command, other.Message.Output, other.Message.Summary}, "\n")
}

func addLine(b *strings.Builder, text string) {
	if text != "" && b.Len() < MaxText {
		b.WriteString(text)
		b.WriteByte('\n')
	}
}

// addArguments adds the texts in the arguments of a tool call, without their names.
func addArguments(b *strings.Builder, arguments json.RawMessage) {
	var value any
	if json.Unmarshal(arguments, &value) != nil {
		return
	}
	addTexts(b, value)
}

func addTexts(b *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		addLine(b, value)
	case []any:
		for _, v := range value {
			addTexts(b, v)
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			addTexts(b, value[key])
		}
	}
}

// Marks in a snippet. No indexed text contains them.
const (
	markBegin = "\x01"
	markEnd   = "\x02"
)

// joint separates the characters of a script without spaces. FTS5 treats it as a space, and it
// is invisible.
const joint = '\u200b'

// findable returns the form in which text is stored and searched: truncated, valid, with a
// joint between characters that are words of their own.
func findable(text string) string {
	text = strings.TrimSpace(text[:min(len(text), MaxText)])
	var b strings.Builder
	b.Grow(len(text))
	jointed := false // the previous character is a word of its own
	for _, r := range text {
		single := isSingle(r) && !unicode.IsMark(r)
		switch {
		case r == utf8.RuneError, r == 0, r == 1, r == 2, r == joint:
			r = ' '
		case single || jointed && !unicode.IsSpace(r):
			b.WriteRune(joint)
		}
		b.WriteRune(r)
		jointed = single
	}
	return b.String()
}

// isSingle reports whether a character belongs to a script without spaces between words.
func isSingle(r rune) bool {
	return r > 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
