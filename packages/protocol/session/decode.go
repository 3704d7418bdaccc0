package session

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// DecodeMessage is json.Unmarshal of a Message. Before a turn all messages of a context
// are decoded, so those that are written as we and Pi write them are read in one pass;
// all others go to json.Unmarshal. FuzzDecodeMessage holds both to the same answer.
func DecodeMessage(raw []byte) (Message, error) {
	if m, ok := quickMessage(raw); ok {
		return m, nil
	}
	var m Message
	err := json.Unmarshal(raw, &m)
	return m, err
}

// quickMessage decodes what is written in the usual way; ok is false for all else, also
// for what is no message.
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
		return false // json.Unmarshal takes names in another case, too
	})
	return m, ok && skipSpace(raw, end) == len(raw)
}

// eachMember calls set with the members of the object at b[i], keys as they are written,
// and returns where it ends. ok is false where there is none, and where set is.
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
	// json.Unmarshal has another text for what is not UTF-8, halves of surrogate pairs among it.
	return utf8.ValidString(*into)
}

// quickWord is quickText that makes no string of the words that almost all messages have.
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

func quickFloat(into *float64, value []byte) bool {
	if value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return false
	}
	f, err := strconv.ParseFloat(string(value), 64)
	*into = f
	return err == nil
}

func quickFlag(into **bool, value []byte) bool {
	flag := value[0] == 't'
	*into = &flag
	return flag || value[0] == 'f'
}

// maxQuickDepth is a little less than what encoding/json takes.
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
	if *into != nil { // twice: json.Unmarshal makes one of both
		return false
	}
	u := &Usage{}
	*into = u
	_, ok := eachMember(value, 0, func(name, value []byte) bool {
		if string(name) == "cost" {
			_, ok := eachMember(value, 0, u.Cost.quickMember)
			return ok
		}
		var n int64
		if !quickInt(&n, value) || int64(int(n)) != n {
			return false
		}
		switch string(name) {
		case "input":
			u.Input = int(n)
		case "output":
			u.Output = int(n)
		case "cacheRead":
			u.CacheRead = int(n)
		case "cacheWrite":
			u.CacheWrite = int(n)
		case "totalTokens":
			u.TotalTokens = int(n)
		default:
			return false
		}
		return true
	})
	return ok
}

func (c *Cost) quickMember(name, value []byte) bool {
	switch string(name) {
	case "input":
		return quickFloat(&c.Input, value)
	case "output":
		return quickFloat(&c.Output, value)
	case "cacheRead":
		return quickFloat(&c.CacheRead, value)
	case "cacheWrite":
		return quickFloat(&c.CacheWrite, value)
	case "total":
		return quickFloat(&c.Total, value)
	}
	return false
}
