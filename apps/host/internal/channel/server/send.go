package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

// replies is what the tool reply takes.
type replies struct{ chat, replyTo bool }

// readReplies reads the schema of the tool reply; nil if no text can be sent with it.
func readReplies(tools []*sdk.Tool) *replies {
	for _, t := range tools {
		if t.Name != wire.ToolReply {
			continue
		}
		var schema struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Required   []string                   `json:"required"`
		}
		raw, err := json.Marshal(t.InputSchema)
		if err != nil || json.Unmarshal(raw, &schema) != nil || schema.Properties["text"] == nil {
			return nil
		}
		return &replies{schema.Properties["chat_id"] != nil, schema.Properties["reply_to"] != nil}
	}
	return nil
}

// Send implements channel.Platform.
func (p *Platform) Send(ctx context.Context, chatID string, m channel.Outgoing) (string, error) {
	link, facts, err := p.connected()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return "", err
	}
	if n := size(m.Text, facts.limits); n > facts.limits.Text {
		return "", fmt.Errorf("%d units are more than the server takes: %w", n, channel.ErrRejected)
	}
	if !facts.extended {
		return p.reply(ctx, link, facts, chatID, m)
	}
	out := wire.Render(chatID, m)
	if m.File != nil {
		if out.File, err = upload(ctx, link, m.Key, *m.File); err != nil {
			return "", err
		}
	}
	result, err := invoke(ctx, link, wire.ToolSend, out)
	if err == nil && (result.ID == "" || len(result.ID) > channel.MaxID) {
		err = errors.New("the channel server gave the message no id")
	}
	return result.ID, err
}

func size(text []channel.Segment, limits channel.Limits) (n int) {
	for _, s := range text {
		n += limits.Units(s)
	}
	return n
}

// reply sends a text with the tool reply. A server without one only speaks: what it is told goes
// nowhere, which is no failure.
func (p *Platform) reply(ctx context.Context, link Link, facts facts, chatID string, m channel.Outgoing) (string, error) {
	if m.File != nil {
		return "", fmt.Errorf("the channel server takes no files: %w", channel.ErrRejected)
	}
	if facts.reply != nil {
		arguments := map[string]string{"text": markdown(m.Text)}
		if facts.reply.chat {
			arguments["chat_id"] = chatID
		}
		if to := givenID(m.ReplyTo); facts.reply.replyTo && to != "" {
			arguments["reply_to"] = to
		}
		result, err := link.Call(ctx, wire.ToolReply, arguments)
		if err != nil {
			return "", fmt.Errorf("the channel server did not answer: %w", err)
		}
		if result.IsError {
			return "", errors.New("the channel server failed: " + channel.CleanProblem(text(result)))
		}
	}
	if r, ok := p.asking(chatID, m.Key, m); ok && facts.permission {
		if err := link.Notify(ctx, wire.MethodAsk, r); err != nil {
			return "", err
		}
	}
	return m.Key, nil
}

// markdown writes a text as the agents of other programs do. What is not marked stays as it is.
func markdown(rich []channel.Segment) string {
	var b strings.Builder
	for i, s := range rich {
		switch s.Kind {
		case channel.Bold:
			b.WriteString("**" + s.Text + "**")
		case channel.Code:
			b.WriteString("`" + s.Text + "`")
		case channel.Block:
			fence := "```"
			for strings.Contains(s.Text, fence) {
				fence += "`"
			}
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(fence + s.Lang + "\n" + s.Text + "\n" + fence)
			if i < len(rich)-1 {
				b.WriteString("\n")
			}
		default:
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// upload writes a file to the server, in parts.
func upload(ctx context.Context, link Link, key string, f channel.Upload) (*wire.File, error) {
	if !has(link.Tools(), wire.ToolWrite) {
		return nil, fmt.Errorf("the channel server takes no files: %w", channel.ErrRejected)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("opening a file: %w", err)
	}
	defer func() { _ = r.Close() }()
	buffer := make([]byte, wire.MaxChunk)
	for at := int64(0); ; {
		n, err := io.ReadFull(r, buffer)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("reading a file: %w", err)
		}
		if n > 0 || at == 0 {
			part := wire.Chunk{Upload: key, At: at, Data: base64.StdEncoding.EncodeToString(buffer[:n])}
			if _, err := invoke(ctx, link, wire.ToolWrite, part); err != nil {
				return nil, err
			}
		}
		if at += int64(n); at > channel.MaxFile {
			return nil, fmt.Errorf("the file is too large: %w", channel.ErrRejected)
		}
		if err != nil {
			return &wire.File{Name: f.Name, MIME: f.MIME, Size: at, Upload: key}, nil
		}
	}
}

// Edit implements channel.Platform.
func (p *Platform) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	link, facts, err := p.connected()
	if err != nil {
		return err
	}
	if !facts.extended || !facts.limits.Edits && !facts.limits.Grows {
		return channel.ErrMessageGone
	}
	out := wire.Render(chatID, m)
	out.ID = messageID
	_, err = invoke(ctx, link, wire.ToolChange, out)
	return err
}

// Fetch implements channel.Platform.
func (p *Platform) Fetch(ctx context.Context, f channel.File) (io.ReadCloser, error) {
	link, facts, err := p.connected()
	if err != nil {
		return nil, err
	}
	if !facts.extended {
		return nil, channel.ErrRejected
	}
	var all bytes.Buffer
	for {
		part, err := invoke(ctx, link, wire.ToolRead, wire.Chunk{Ref: f.Ref, At: int64(all.Len())})
		if err != nil {
			return nil, err
		}
		data, err := base64.StdEncoding.DecodeString(part.Data)
		if err != nil || len(data) > wire.MaxChunk || len(data) == 0 && !part.Last {
			return nil, errors.New("the channel server sent a part of a file that cannot be used")
		}
		all.Write(data)
		if all.Len() > channel.MaxFile {
			return nil, channel.ErrRejected
		}
		if part.Last {
			return io.NopCloser(&all), nil
		}
	}
}

// Answer implements channel.Platform.
func (p *Platform) Answer(ctx context.Context, press channel.Press, notice string) error {
	link, facts, err := p.connected()
	if err != nil || !facts.extended || press.Ref == "" || !has(link.Tools(), wire.ToolAnswer) {
		return err
	}
	_, err = invoke(ctx, link, wire.ToolAnswer, wire.Notice{Chat: press.Chat.ID, Ref: press.Ref, Notice: notice})
	return err
}
