package served

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/wire"
)

// permission is a request of the client for permission.
type permission struct {
	ID          string `json:"request_id"`
	Tool        string `json:"tool_name"`
	Description string `json:"description"`
	Input       string `json:"input_preview"`
}

// ask shows a request for permission in the direct chat that was heard last. Without one, or after
// a failure, nobody answers it here; it stays open at the client.
func (s *server) ask(ctx context.Context, params json.RawMessage) {
	var p permission
	if json.Unmarshal(params, &p) != nil || p.ID == "" || len(p.ID) > 40 || strings.ContainsAny(p.ID, ": ") {
		return
	}
	s.mu.Lock()
	chats, full := s.state.Direct, len(s.pending) >= maxPending
	s.mu.Unlock()
	if len(chats) == 0 || full {
		return
	}
	chat := chats[len(chats)-1]
	text := []channel.Segment{{Kind: channel.Bold, Text: "Permission needed: " + channel.CleanName(p.Tool)}, {Text: "\n" + channel.Cut(p.Description, 500)}}
	if p.Input != "" {
		text = append(text, channel.Segment{Kind: channel.Block, Text: channel.Cut(p.Input, 1000)})
	}
	if !s.Platform.Limits().Buttons {
		text = append(text, channel.Segment{Text: "\nAllow: /allow " + p.ID + "\nDeny: /deny " + p.ID})
	}
	parts := channel.Split(text, s.Platform.Limits())
	for n, part := range parts {
		out := channel.Outgoing{Key: fmt.Sprintf("ask-%s-%d", p.ID, n), Text: part}
		if n == len(parts)-1 && s.Platform.Limits().Buttons {
			out.Buttons = []channel.Button{{Label: "Allow", Data: "p:allow:" + p.ID}, {Label: "Deny", Data: "p:deny:" + p.ID}}
		}
		id, err := s.Platform.Send(ctx, chat, out)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.pending[p.ID] = request{chat, id, p.Tool}
		s.mu.Unlock()
	}
}

// typed returns the answer to a request for permission that a text is, as the data of a button;
// "" for another text.
func typed(text string) string {
	words := strings.Fields(text)
	if len(words) != 2 || words[0] != "/allow" && words[0] != "/deny" {
		return ""
	}
	return "p:" + words[0][1:] + ":" + words[1]
}

// answer sends the answer to a request for permission to the client, once, where the platform has
// no buttons; false for a message that is none.
func (s *server) answer(ctx context.Context, m channel.Message) (bool, error) {
	data := typed(m.Text)
	if s.Platform.Limits().Buttons || data == "" {
		return false, nil
	}
	words := strings.Split(data, ":")
	if r, waits := s.settle(m.Chat.ID, words[len(words)-1], ""); waits {
		notice := channel.Outgoing{Key: "answer-" + rand.Text(), Text: channel.Text(channel.CleanName(r.text) + ": " + words[1]), ReplyTo: m.ID}
		if err := s.notify(ctx, wire.MethodAnswer, map[string]string{"request_id": words[2], "behavior": words[1]}); err != nil {
			return true, err
		}
		_, _ = s.Platform.Send(ctx, m.Chat.ID, notice) // the answer counts without it
	}
	return true, nil
}

// settle removes a request that waits in a chat, once. A message that is not "" must be the one
// that shows it.
func (s *server) settle(chat, id, message string) (r request, waits bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, waits = s.pending[id]
	if waits = waits && r.chat == chat && (message == "" || r.message == message); waits {
		delete(s.pending, id)
	}
	return r, waits
}

// press sends the answer to a request for permission to the client, once.
func (s *server) press(ctx context.Context, p channel.Press) error {
	words := strings.Split(p.Data, ":")
	if len(words) != 3 || words[0] != "p" || !slices.Contains([]string{"allow", "deny"}, words[1]) {
		return nil
	}
	r, waits := s.settle(p.Chat.ID, words[2], p.MessageID)
	notice := "This was answered already."
	if waits {
		if err := s.notify(ctx, wire.MethodAnswer, map[string]string{"request_id": words[2], "behavior": words[1]}); err != nil {
			return err
		}
		notice = "Sent: " + words[1]
		if s.Platform.Limits().Edits {
			_ = s.Platform.Edit(ctx, r.chat, r.message, channel.Outgoing{Text: channel.Text(channel.CleanName(r.text) + ": " + words[1])}) // the answer counts without it
		}
	}
	_ = s.Platform.Answer(ctx, p, notice) // only ends a spinner
	return nil
}

type replyArgs struct {
	Chat  string `json:"chat_id" jsonschema:"chat_id of the message to answer"`
	Text  string `json:"text" jsonschema:"the text, in Markdown"`
	Reply string `json:"reply_to,omitempty" jsonschema:"message_id to answer, where the platform needs one"`
}

type sent struct {
	IDs []string `json:"message_ids"`
}

// known refuses chats in which no allowed sender has written.
func (s *server) known(chat string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.state.Chats, chat) {
		return errors.New("no allowed sender has written in this chat")
	}
	return nil
}

func (s *server) reply(ctx context.Context, _ *sdk.CallToolRequest, args replyArgs) (*sdk.CallToolResult, sent, error) {
	out := sent{IDs: []string{}}
	if err := s.known(args.Chat); err != nil {
		return nil, out, err
	}
	for _, part := range channel.Split(channel.ParseMarkdown(args.Text), s.Platform.Limits()) {
		id, err := s.Platform.Send(ctx, args.Chat, channel.Outgoing{Key: "reply-" + rand.Text(), Text: part, ReplyTo: args.Reply})
		if err != nil {
			return nil, out, fmt.Errorf("%d messages were sent, then: %w", len(out.IDs), err)
		}
		out.IDs = append(out.IDs, id)
	}
	return nil, out, nil
}

type editArgs struct {
	Chat    string `json:"chat_id"`
	Message string `json:"message_id"`
	Text    string `json:"text"`
}

func (s *server) edit(ctx context.Context, _ *sdk.CallToolRequest, args editArgs) (*sdk.CallToolResult, sent, error) {
	if err := s.known(args.Chat); err != nil {
		return nil, sent{IDs: []string{}}, err
	}
	parts := channel.Split(channel.ParseMarkdown(args.Text), s.Platform.Limits())
	if len(parts) != 1 {
		return nil, sent{IDs: []string{}}, errors.New("the text is empty or too long for one message")
	}
	err := s.Platform.Edit(ctx, args.Chat, args.Message, channel.Outgoing{Text: parts[0]})
	return nil, sent{IDs: []string{args.Message}}, err
}
