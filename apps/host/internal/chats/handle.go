package chats

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// dispatch handles an update. An *api.Error is said in the chat; other errors are tried again.
func (h *handling) dispatch(ctx context.Context) error {
	u := h.u
	switch {
	case u.Message != nil && readCode(u.Message.Text) != "":
		err := h.bind(*u.Message)
		h.edit(func(*record) error { return nil })
		if err == nil {
			defer h.changed()
		}
		return err
	case u.Message != nil:
		return h.message(ctx, *u.Message)
	case u.Press != nil:
		return h.press(ctx, *u.Press)
	case u.Edited != nil:
		return h.editPrompt(ctx, u.Edited.Chat.ID, u.Edited.ID, h.marked(*u.Edited, u.Edited.Text))
	case u.Deleted != nil:
		return h.editPrompt(ctx, u.Deleted.Chat.ID, u.Deleted.ID, "")
	}
	return nil
}

// here returns the chat of an update with its connection. The chat may have been removed, or the
// sender, since the update was stored.
func (h *handling) here(ctx context.Context, chatID, senderID string) (*bound, *client.Client, error) {
	b := h.store.read().chat(chatID)
	if b == nil || senderID != "" && !h.allows(b, senderID) {
		return nil, nil, nil
	}
	if _, has := h.accessOf(b); !has {
		return nil, nil, api.Errorf(api.KindNotAllowed, "The access of this chat has expired. Ask for a new code at the machine.")
	}
	h.mu.Lock()
	h.talk = h.talks[b.ClientID]
	h.mu.Unlock()
	if h.talk == nil {
		return nil, nil, errNoConnection
	}
	c, err := h.talk.client(ctx)
	return b, c, err
}

func (h *handling) message(ctx context.Context, m channel.Message) error {
	b, c, err := h.here(ctx, m.Chat.ID, m.From.ID)
	if b == nil || err != nil {
		return err
	}
	h.edit(func(f *record) error {
		if b := f.chat(m.Chat.ID); b != nil {
			b.LastHeard, b.Chat = m.ID, m.Chat
		}
		return nil
	})
	switch name, rest, ok := readCommand(m.Text); {
	case ok && name == "new":
		return h.newSession(ctx, b, c, rest)
	case ok:
		return h.inOrder(ctx, func(ctx context.Context, c *client.Client) error { return h.command(ctx, b, c, name, rest) })
	}
	if q := openQuestion(b); q != nil && m.Text != "" && len(m.Files) == 0 {
		return h.answerQuestion(ctx, c, *q, chosen(*q, m.Text, h.platformLimits()))
	}
	return h.prompt(ctx, b, c, m, m.Text)
}

// openQuestion returns the question of the chat's session that waits, or nil.
func openQuestion(b *bound) *asked {
	i := slices.IndexFunc(b.Asked, func(a asked) bool { return a.Question && a.Root == b.Session })
	if i < 0 {
		return nil
	}
	return &b.Asked[i]
}

// prompt sends a message to the session of the chat, or begins one.
func (h *handling) prompt(ctx context.Context, b *bound, c *client.Client, m channel.Message, text string) error {
	content, err := h.content(ctx, c, m, text)
	if err != nil {
		return err
	}
	clientKey := key(h.store.read().ID, m.Chat.ID, m.ID)
	if b.Session != "" {
		err := h.inOrder(ctx, func(ctx context.Context, c *client.Client) error {
			sent, err := client.Call(ctx, c, api.SendPrompt, api.SendPromptRequest{SessionID: b.Session, ClientKey: clientKey, Content: content})
			if err != nil || sent.State != api.PromptQueued {
				return err
			}
			h.say("Queued: the agent reads it when the current turn ends.")
			return h.talk.catchUp(ctx, c)
		})
		var refused *api.Error
		if !errors.As(err, &refused) || refused.Kind != api.KindNotFound {
			return err
		}
	}
	return h.begin(ctx, b, c, clientKey, content)
}

// begin creates a session for the chat, with a prompt or without.
func (h *handling) begin(ctx context.Context, b *bound, c *client.Client, clientKey string, content []api.PromptBlock) error {
	request := api.CreateSessionRequest{ProjectID: b.ProjectID, ClientKey: clientKey}
	created, err := client.Call(ctx, c, api.CreateSession, request)
	if err != nil {
		return err
	}
	id := created.Session.ID
	use := func(f *record) error {
		if b := f.chat(b.Chat.ID); b != nil {
			b.use(id, 0)
		}
		return nil
	}
	// The chat follows the session before the prompt is sent, so that nothing is missed.
	if err := h.store.change(use); err != nil {
		return err
	}
	h.follow(b.ClientID)
	if len(content) == 0 {
		return nil
	}
	_, err = client.Call(ctx, c, api.SendPrompt, api.SendPromptRequest{SessionID: id, ClientKey: clientKey, Content: content})
	return err
}

// follow has the connection of a chat follow its sessions as they are now.
func (h *handling) follow(clientID string) {
	h.mu.Lock()
	t := h.talks[clientID]
	h.mu.Unlock()
	if t != nil {
		t.push(step{})
	}
}

// content uploads the files of a message.
func (h *handling) content(ctx context.Context, c *client.Client, m channel.Message, text string) ([]api.PromptBlock, error) {
	var blocks []api.PromptBlock
	if strings.TrimSpace(text) != "" {
		blocks = append(blocks, api.PromptBlock{Type: session.BlockText, Text: h.marked(m, text)})
	}
	images := 0
	for _, f := range m.Files {
		if f.Size > channel.MaxFile {
			return nil, api.Errorf(api.KindTooLarge, "The file %s is larger than %d MB.", f.Name, channel.MaxFile>>20)
		}
		data, err := h.fetch(ctx, f)
		if err != nil {
			return nil, err
		}
		block := api.PromptBlock{Type: session.BlockFile, Name: f.Name}
		if isImage(data) && images < api.MaxImages {
			if hash, err := client.Upload(ctx, c, data); err == nil {
				images++
				blocks = append(blocks, api.PromptBlock{Type: session.BlockImage, SHA256: hash})
				continue
			}
		}
		if block.SHA256, err = client.UploadFile(ctx, c, data); err != nil {
			return nil, err
		}
		if block.Name == "" {
			block.Name = "file"
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return nil, api.Errorf(api.KindBadRequest, "The message is empty.")
	}
	return blocks, nil
}

func isImage(data []byte) bool {
	for _, begin := range []string{"\x89PNG\r\n", "\xff\xd8\xff", "GIF8", "RIFF"} {
		if strings.HasPrefix(string(data[:min(len(data), 8)]), begin) {
			return true
		}
	}
	return false
}

// fetch reads a file of a message from the platform.
func (h *handling) fetch(ctx context.Context, f channel.File) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	h.mu.Lock()
	platform := h.platform
	h.mu.Unlock()
	r, err := platform.Fetch(ctx, f)
	if errors.Is(err, channel.ErrRejected) {
		return nil, api.Errorf(api.KindTooLarge, "The platform does not give the file %s to bots: it may be too large.", f.Name)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	data, err := io.ReadAll(io.LimitReader(r, channel.MaxFile+1))
	if err == nil && len(data) > channel.MaxFile {
		return nil, api.Errorf(api.KindTooLarge, "The file %s is larger than %d MB.", f.Name, channel.MaxFile>>20)
	}
	return data, err
}

// editPrompt changes a prompt that still waits in the queue, or removes it. One that the agent
// has read stays as it was.
func (h *handling) editPrompt(ctx context.Context, chatID, messageID, text string) error {
	b, _, err := h.here(ctx, chatID, "")
	if b == nil || err != nil || b.Session == "" {
		return err
	}
	clientKey := key(h.store.read().ID, chatID, messageID)
	return h.inOrder(ctx, func(ctx context.Context, c *client.Client) error {
		return h.editSent(ctx, c, b.Session, clientKey, text)
	})
}

func (h *handling) editSent(ctx context.Context, c *client.Client, sessionID, clientKey, text string) error {
	snapshot, err := h.snapshot(ctx, c, sessionID)
	if err != nil {
		return err
	}
	for _, p := range snapshot.Live.Queue {
		if p.ClientKey == clientKey {
			return h.changeQueued(ctx, c, sessionID, p, text)
		}
	}
	if text != "" && !strings.HasPrefix(text, "/") {
		h.say("The agent has read this message already: write a new one to correct it.")
	}
	return nil
}
