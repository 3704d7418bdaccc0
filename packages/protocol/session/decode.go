package session

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// DecodeMessage is exactjson.Unmarshal of a Message. All messages of a context are
// decoded before a turn, so those in the form that Pi and scorel write are decoded
// in one pass, which takes a ninth of the time; all others go to exactjson.
// FuzzDecodeMessage compares the two.
func DecodeMessage(raw []byte) (Message, error) {
	if m, ok := quickMessage(raw); ok {
		return m, nil
	}
	var m Message
	err := exactjson.Unmarshal(raw, &m)
	return m, err
}

// quickMessage decodes a message in the usual form. ok is false for all other
// input.
func quickMessage(raw []byte) (m Message, ok bool) {
	end, ok := eachMember(raw, 0, func(name, value []byte) bool {
		switch string(name) {
		case "role":
			return quickWord((*string)(&m.Role), value)
		case "toolCallId":
			return quickText(&m.ToolCallID, value)
		case "toolName":
			return quickText(&m.ToolName, value)
		case "content":
			return quickContent(&m.Content, value)
		case "api":
			return quickText(&m.API, value)
		case "provider":
			return quickText(&m.Provider, value)
		case "model":
			return quickText(&m.Model, value)
		case "responseId":
			return quickText(&m.ResponseID, value)
		case "details":
			return quickRaw(&m.Details, value)
		case "usage":
			return quickUsage(&m.Usage, value)
		case "stopReason":
			return quickWord((*string)(&m.StopReason), value)
		case "errorMessage":
			return quickText(&m.ErrorMessage, value)
		case "isError":
			return quickFlag(&m.IsError, value)
		case "timestamp":
			return quickInt(&m.Timestamp, value)
		}
		return false // exactjson decides whether it is a known key in another case
	})
	return m, ok && skipSpace(raw, end) == len(raw)
}

// eachMember calls set with each member of the object at b[i], with the name as
// written, and returns where the object ends. ok is false if there is no object or
// if set returns false.
func eachMember(b []byte, i int, set func(name, value []byte) bool) (end int, ok bool) {
	r, ok := readObject(b, i)
	for ok {
		key, more := r.key()
		if !more {
			break
		}
		value, whole := r.value()
		ok = whole && set(key[1:len(key)-1], value)
	}
	return r.i, ok && r.whole
}

func quickText(into *string, value []byte) bool {
	if value[0] != '"' {
		return false // null changes nothing
	}
	*into = unquote(value)
	// json.Unmarshal replaces invalid UTF-8, such as halves of surrogate pairs.
	return utf8.ValidString(*into)
}

// quickWord is quickText that does not allocate for the words that almost all
// messages contain.
func quickWord(into *string, value []byte) bool {
	for _, word := range [...]string{
		string(RoleUser), string(RoleAssistant), string(RoleToolResult), string(BlockText), string(BlockToolCall), string(BlockThinking),
		string(StopEnd), string(StopToolUse),
	} {
		if len(value) == len(word)+2 && string(value[1:len(value)-1]) == word && value[0] == '"' {
			*into = word
			return true
		}
	}
	return quickText(into, value)
}

func quickInt(into *int64, value []byte) bool {
	n, err := strconv.ParseInt(string(value), 10, 64)
	*into = n
	return err == nil
}

func quickFlag(into **bool, value []byte) bool {
	flag := value[0] == 't'
	*into = &flag
	return flag || value[0] == 'f'
}

// maxQuickDepth is slightly below the limit of encoding/json.
const maxQuickDepth = 9000

func quickRaw(into *json.RawMessage, value []byte) bool {
	*into = bytes.Clone(value)
	return bytes.Count(value, []byte("{"))+bytes.Count(value, []byte("[")) < maxQuickDepth
}

func quickContent(into *Content, value []byte) bool {
	if value[0] == '"' {
		var text string
		ok := quickText(&text, value)
		*into = Content{Text(text)}
		return ok
	}
	if value[0] != '[' {
		return false
	}
	content := Content{}
	for i := skipSpace(value, 1); value[i] != ']'; {
		var block Block
		end, ok := eachMember(value, i, block.quickMember)
		if !ok {
			return false
		}
		content = append(content, block)
		if i = skipSpace(value, end); value[i] == ',' {
			i = skipSpace(value, i+1)
		}
	}
	*into = content
	return true
}

func (b *Block) quickMember(name, value []byte) bool {
	switch string(name) {
	case "type":
		return quickWord((*string)(&b.Type), value)
	case "text":
		return quickText(&b.Text, value)
	case "textSignature":
		return quickText(&b.TextSignature, value)
	case "thinking":
		return quickText(&b.Thinking, value)
	case "thinkingSignature":
		return quickText(&b.ThinkingSignature, value)
	case "redacted":
		b.Redacted = value[0] == 't'
		return b.Redacted || value[0] == 'f'
	case "data":
		return quickText(&b.Data, value)
	case "mimeType":
		return quickText(&b.MimeType, value)
	case "id":
		return quickText(&b.ID, value)
	case "name":
		return quickText(&b.Name, value)
	case "arguments":
		return quickRaw(&b.Arguments, value)
	case "thoughtSignature":
		return quickText(&b.ThoughtSignature, value)
	}
	return false
}

func quickUsage(into **Usage, value []byte) bool {
	if *into != nil { // twice: json.Unmarshal merges them
		return false
	}
	u := &Usage{}
	*into = u
	counts := [...]number[int]{{"input", &u.Input}, {"output", &u.Output}, {"cacheRead", &u.CacheRead}, {"cacheWrite", &u.CacheWrite}, {"totalTokens", &u.TotalTokens}}
	prices := [...]number[float64]{
		{"input", &u.Cost.Input}, {"output", &u.Cost.Output}, {"cacheRead", &u.Cost.CacheRead}, {"cacheWrite", &u.Cost.CacheWrite}, {"total", &u.Cost.Total},
	}
	_, ok := eachMember(value, 0, func(name, value []byte) bool {
		if string(name) != "cost" {
			return quickNumber(counts[:], name, value, strconv.Atoi)
		}
		_, ok := eachMember(value, 0, func(name, value []byte) bool {
			isNumber := value[0] == '-' || value[0] >= '0' && value[0] <= '9'
			return isNumber && quickNumber(prices[:], name, value, parseFloat)
		})
		return ok
	})
	return ok
}

// number is the destination of a member with a number.
type number[T int | float64] struct {
	name string
	into *T
}

func quickNumber[T int | float64](numbers []number[T], name, value []byte, parse func(string) (T, error)) bool {
	for _, n := range numbers {
		if n.name == string(name) {
			var err error
			*n.into, err = parse(string(value))
			return err == nil
		}
	}
	return false
}

func parseFloat(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
