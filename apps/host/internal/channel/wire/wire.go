// Package wire has the shapes in which messages of chats pass between scorel and servers that
// others write: the webhook, and channel servers of MCP with the capability scorel/channel.
// docs/channels.md is their documentation for authors of servers.
package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Capabilities of a channel server.
const (
	Channel    = "claude/channel"
	Permission = "claude/channel/permission"
	Extended   = "scorel/channel"
)

// Methods of notifications.
const (
	MethodMessage = "notifications/claude/channel"
	MethodAsk     = "notifications/claude/channel/permission_request"
	MethodAnswer  = "notifications/claude/channel/permission"
	MethodUpdate  = "notifications/scorel/channel"
	MethodAck     = "notifications/scorel/channel/ack"
)

// Tools of a channel server. Those that begin with Prefix belong to the protocol and are never
// offered to a model.
const (
	ToolReply  = "reply"
	ToolEdit   = "edit_message"
	Prefix     = "scorel_"
	ToolCheck  = Prefix + "check"
	ToolSend   = Prefix + "send"
	ToolChange = Prefix + "edit"
	ToolAnswer = Prefix + "answer"
	ToolRead   = Prefix + "read_file"
	ToolWrite  = Prefix + "write_file"
)

// MaxChunk is the most bytes of a file in one call.
const MaxChunk = 1 << 20

// Message is a message to a chat.
type Message struct {
	Key     string   `json:"key,omitempty"`
	Chat    string   `json:"chat"`
	ID      string   `json:"id,omitempty"` // of the message to edit
	Parts   []Part   `json:"parts,omitempty"`
	Buttons []Button `json:"buttons,omitempty"`
	File    *File    `json:"file,omitempty"`
	ReplyTo string   `json:"replyTo,omitempty"`
	Silent  bool     `json:"silent,omitempty"`
	Growing bool     `json:"growing,omitempty"`
}

// Part is a part of a text.
type Part struct {
	Kind string `json:"kind"` // "text", "bold", "code" or "block"
	Text string `json:"text"`
	Lang string `json:"lang,omitempty"`
}

// Button is a button under a message.
type Button struct {
	Label string `json:"label"`
	Data  string `json:"data"`
	Risky bool   `json:"risky,omitempty"`
}

// File is a file of a message, with its content or the name of one that was written before.
type File struct {
	Name   string `json:"name"`
	MIME   string `json:"mime,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Data   string `json:"data,omitempty"`   // base64
	Upload string `json:"upload,omitempty"` // of ToolWrite
}

// Update is what MethodUpdate and an event of a webhook carry.
type Update struct {
	Update channel.Update `json:"update"`
}

// Ack is what MethodAck carries: the update with this id was stored.
type Ack struct {
	ID string `json:"id"`
}

// Result is what the tools of the protocol return.
type Result struct {
	ID   string `json:"id,omitempty"`   // of ToolSend: the message; of ToolCheck: the bot
	Name string `json:"name,omitempty"` // of the bot
	Link string `json:"link,omitempty"` // to the bot
	Data string `json:"data,omitempty"` // of ToolRead, base64
	Last bool   `json:"last,omitempty"` // of ToolRead: nothing follows

	Error string `json:"error,omitempty"` // one of the kinds below; other errors may go away
	After int64  `json:"after,omitempty"` // milliseconds, of a limit
}

const kindLimited = "rate_limited"

// kinds are the errors of a platform by their names.
func kinds() map[string]error {
	return map[string]error{
		"unauthorized": channel.ErrUnauthorized, "chat_gone": channel.ErrChatGone, "message_gone": channel.ErrMessageGone,
		"rejected": channel.ErrRejected, "conflict": channel.ErrConflict,
	}
}

// Failed is the result of an error of a platform.
func Failed(err error) Result {
	var limited *channel.RateLimited
	if errors.As(err, &limited) {
		return Result{Error: kindLimited, After: limited.After.Milliseconds()}
	}
	for name, kind := range kinds() {
		if errors.Is(err, kind) {
			return Result{Error: name}
		}
	}
	return Result{Error: "failed"}
}

// Err returns the error that a result says, or nil. text is what a person can read of it.
func (r Result) Err(text string) error {
	switch kind, known := kinds()[r.Error]; {
	case r.Error == "":
		return nil
	case r.Error == kindLimited:
		return &channel.RateLimited{After: time.Duration(min(max(r.After, 1), int64(time.Hour/time.Millisecond))) * time.Millisecond}
	case known:
		return fmt.Errorf("%s: %w", channel.CleanProblem(text), kind)
	}
	return fmt.Errorf("the server failed: %s", channel.CleanProblem(text))
}

// names are the kinds of parts in the order of channel.Kind.
func names() []string { return []string{"text", "bold", "code", "block"} }

// Render is a message for a chat, without its file.
func Render(chat string, m channel.Outgoing) Message {
	out := Message{Key: m.Key, Chat: chat, ReplyTo: m.ReplyTo, Silent: m.Silent, Growing: m.Growing}
	for _, s := range m.Text {
		out.Parts = append(out.Parts, Part{names()[s.Kind], s.Text, s.Lang})
	}
	for _, b := range m.Buttons {
		out.Buttons = append(out.Buttons, Button(b))
	}
	return out
}

// Outgoing is the reverse of Render.
func (m Message) Outgoing() channel.Outgoing {
	out := channel.Outgoing{Key: m.Key, ReplyTo: m.ReplyTo, Silent: m.Silent, Growing: m.Growing}
	for _, p := range m.Parts {
		s := channel.Segment{Text: p.Text, Lang: p.Lang}
		for kind, name := range names() {
			if p.Kind == name {
				s.Kind = channel.Kind(kind)
			}
		}
		out.Text = append(out.Text, s)
	}
	for _, b := range m.Buttons {
		out.Buttons = append(out.Buttons, channel.Button(b))
	}
	return out
}

// Chunk is a part of a file that is read or written.
type Chunk struct {
	Ref    string `json:"ref,omitempty"`    // of ToolRead: the file of a message
	Upload string `json:"upload,omitempty"` // of ToolWrite: the key of the message that follows
	At     int64  `json:"at"`               // the position of the part, in bytes
	Data   string `json:"data,omitempty"`   // of ToolWrite, base64
}

// Notice answers a press.
type Notice struct {
	Chat   string `json:"chat"`
	Ref    string `json:"ref"`
	Notice string `json:"notice"`
}
