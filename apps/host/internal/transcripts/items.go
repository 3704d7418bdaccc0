package transcripts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// textNoResult is the result of a call for which a transcript has none.
const textNoResult = "The transcript has no result for this call."

// Item is an entry of a session that is not stored yet. Exactly one of Message, Summary and
// Custom is set.
type Item struct {
	ID     string // hash of the content and of Parent
	Parent string // id of the entry before it on its branch; "" is the beginning
	At     time.Time

	Message *session.Message
	Summary string // of all that came before
	Custom  string // type of a custom entry
	Data    json.RawMessage
}

// Encode builds the line of the entry.
func (i Item) Encode(w *session.Writer, stamp session.Stamp) (json.RawMessage, error) {
	switch {
	case i.Message != nil:
		message, err := session.Encode(i.Message)
		if err != nil {
			return nil, err
		}
		return w.Message(stamp, message)
	case i.Summary != "":
		return w.Compaction(stamp, session.Compaction{Summary: i.Summary})
	}
	return w.Custom(stamp, i.Custom, i.Data)
}

// hash returns the lower-case hexadecimal SHA-256 of parts, whose limits count.
func hash(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// builder puts the items of a transcript together. Tool calls get exactly one result each.
type builder struct {
	source Source
	items  []Item
	byID   map[string]int
	leaf   string // id of the item after which the next one comes
	last   time.Time
	size   int
	report Report

	names map[string]string // tool name by call id
	open  []string          // ids of calls without a result, in order
	where map[string]int    // result of a call: index in items
}

func newBuilder(source Source) *builder {
	return &builder{source: source, byID: map[string]int{}, names: map[string]string{}, where: map[string]int{}}
}

// add adds an item after the leaf. An item that is already there becomes the leaf.
func (b *builder) add(item Item) (at int, err error) {
	content, err := identity(item)
	if err != nil {
		return 0, err
	}
	if item.At.IsZero() {
		item.At = b.last
	}
	b.last = item.At
	item.Parent = b.leaf
	item.ID = hash("item", b.leaf, string(content))[:16]
	b.leaf = item.ID
	if at, known := b.byID[item.ID]; known {
		return at, nil
	}
	if b.size += len(content); b.size > maxContent {
		return 0, ErrTooLarge
	}
	b.items = append(b.items, item)
	b.byID[item.ID] = len(b.items) - 1
	return len(b.items) - 1, nil
}

// identity encodes what distinguishes an item: who says what. The rest is left out, because some
// programs store it later, or store it again when they continue a conversation.
func identity(item Item) (json.RawMessage, error) {
	if item.Message == nil {
		return session.Encode([]string{item.Custom, item.Summary, string(item.Data)})
	}
	m := item.Message
	said := slices.DeleteFunc(slices.Clone(m.Content), func(b session.Block) bool { return b.Type == session.BlockThinking })
	if len(said) == 0 {
		said = m.Content
	}
	return session.Encode(session.Message{Role: m.Role, ToolCallID: m.ToolCallID, Content: said, ErrorMessage: m.ErrorMessage, IsError: m.IsError})
}

// user adds a prompt, if it has content.
func (b *builder) user(at time.Time, content session.Content) error {
	if len(content) == 0 {
		return nil
	}
	if err := b.closeCalls(at); err != nil {
		return err
	}
	return b.message(at, session.Message{Role: session.RoleUser, Content: content})
}

// assistant adds a message of the model, if it has content or an error.
func (b *builder) assistant(at time.Time, m session.Message) error {
	if len(m.Content) == 0 && m.ErrorMessage == "" {
		return nil
	}
	if err := b.closeCalls(at); err != nil {
		return err
	}
	m.Role = session.RoleAssistant
	if m.Content == nil {
		m.Content = session.Content{}
	}
	if m.Usage == nil {
		m.Usage = &session.Usage{}
	}
	if err := b.message(at, m); err != nil {
		return err
	}
	for _, block := range m.Content {
		if block.Type == session.BlockToolCall {
			b.names[block.ID] = block.Name
			b.open = append(b.open, block.ID)
		}
	}
	return nil
}

// result adds the result of a call. One for a call that is not open is kept as a record.
func (b *builder) result(at time.Time, callID string, content session.Content, isError bool, details json.RawMessage) error {
	i := slices.Index(b.open, callID)
	if i < 0 {
		data, err := session.Encode(map[string]any{"toolCallId": callID, "content": content, "isError": isError})
		if err != nil {
			return err
		}
		return b.foreign(at, "result", data)
	}
	b.open = append(b.open[:i:i], b.open[i+1:]...)
	if content == nil {
		content = session.Content{}
	}
	m := session.Message{Role: session.RoleToolResult, ToolCallID: callID, ToolName: b.names[callID], Content: content, IsError: &isError, Details: bounded(details)}
	n, err := b.add(Item{At: at, Message: stamped(m, at)})
	b.where[callID] = n
	return err
}

// closeCalls adds results for calls that have none, as when the program was ended.
func (b *builder) closeCalls(at time.Time) error {
	for len(b.open) > 0 {
		if err := b.result(at, b.open[0], session.Content{session.Text(textNoResult)}, true, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) message(at time.Time, m session.Message) error {
	_, err := b.add(Item{At: at, Message: stamped(m, at)})
	return err
}

func stamped(m session.Message, at time.Time) *session.Message {
	if !at.IsZero() {
		m.Timestamp = at.UnixMilli()
	}
	return &m
}

// summary adds a compaction: what comes next does not see what came before.
func (b *builder) summary(at time.Time, text string) error {
	if text == "" {
		return nil
	}
	if err := b.closeCalls(at); err != nil {
		return err
	}
	_, err := b.add(Item{At: at, Summary: text})
	return err
}

// custom adds an entry that no model sees.
func (b *builder) custom(at time.Time, customType string, data any) error {
	raw, err := session.Encode(data)
	if err != nil {
		return err
	}
	_, err = b.add(Item{At: at, Custom: customType, Data: raw})
	return err
}

// foreign keeps a record of an unknown kind as it is.
func (b *builder) foreign(at time.Time, kind string, record json.RawMessage) error {
	b.report.Unknown++
	kept := session.ForeignRecord{Source: string(b.source), Kind: kind, Bytes: len(record), Record: bounded(record)}
	return b.custom(at, session.CustomForeign, kept)
}

// maxKept bounds a record that is kept as it is, in bytes.
const maxKept = 256 << 10

// bounded returns JSON that can be stored, or nil.
func bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxKept || len(raw) == 0 || exactjson.DeeperThan(raw, exactjson.MaxDepth-4) || !json.Valid(raw) {
		return nil
	}
	return raw
}

// lastAssistant returns the last message of the model on the branch, or nil.
func (b *builder) lastAssistant() *session.Message {
	for id := b.leaf; id != ""; {
		item := &b.items[b.byID[id]]
		if m := item.Message; m != nil && m.Role == session.RoleAssistant {
			return m
		}
		id = item.Parent
	}
	return nil
}

// rewind moves the leaf before the last n prompts of the branch.
func (b *builder) rewind(n int) {
	b.open = nil
	for n > 0 && b.leaf != "" {
		item := b.items[b.byID[b.leaf]]
		if item.Message != nil && item.Message.Role == session.RoleUser {
			n--
		}
		b.leaf = item.Parent
	}
}

// arguments returns the arguments of a call as an object.
func arguments(raw json.RawMessage) json.RawMessage {
	var fields map[string]json.RawMessage
	if len(raw) > 0 && !exactjson.DeeperThan(raw, exactjson.MaxDepth-8) && json.Unmarshal(raw, &fields) == nil && fields != nil {
		return raw
	}
	wrapped, err := session.Encode(map[string]string{"input": string(raw)})
	if err != nil || len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return wrapped
}
