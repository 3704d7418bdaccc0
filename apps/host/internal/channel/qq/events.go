package qq

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/gateway"
)

// intents are messages of people and of groups that mention the bot.
const intents = 1 << 25

// skipped is after how many events the position is stored although none was for the bot.
const skipped = 100

type message struct {
	ID     string `json:"id"`
	Author struct {
		User   string `json:"user_openid"`
		Member string `json:"member_openid"`
		Bot    bool   `json:"bot"`
	} `json:"author"`
	Group       string       `json:"group_openid"`
	Content     string       `json:"content"`
	Timestamp   time.Time    `json:"timestamp"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	URL      string `json:"url"`
	Filename string `json:"filename"`
	Type     string `json:"content_type"`
	Size     int64  `json:"size"`
}

// reader turns the events of one Run into updates.
type reader struct {
	in     channel.Inbound
	now    gateway.Session
	unsaid int // events since the position was stored
}

// Run implements channel.Platform.
func (p *Platform) Run(ctx context.Context, stored []byte, in channel.Inbound) error {
	r := &reader{in: in}
	_ = json.Unmarshal(stored, &r.now) // a first run has none
	var entry struct {
		URL string `json:"url"`
	}
	if err := p.rest.Call(ctx, http.MethodGet, "/gateway", nil, &entry); err != nil {
		return err
	}
	token, err := p.accessToken(ctx)
	if err != nil {
		return err
	}
	err = gateway.Run(ctx, gateway.Options{URL: entry.URL, Token: token, Intents: intents, Check: channel.CheckEndpoint, Transport: p.rest.HTTP.Transport}, r.now, r.handle)
	return r.ended(ctx, err)
}

// ended forgets a session that QQ does not continue, and explains why it closed.
func (r *reader) ended(ctx context.Context, err error) error {
	code := websocket.CloseStatus(err)
	switch {
	case code == 4004:
		return fmt.Errorf("qq: %w", channel.ErrUnauthorized)
	case code == 4914:
		return fmt.Errorf("qq: the bot is not published and may only be used in its sandbox: %w", err)
	case code == 4915:
		return fmt.Errorf("qq: the bot was banned: %w", err)
	case errors.Is(err, gateway.ErrSessionLost), code == 4006, code == 4007, code >= 4900 && code <= 4913:
		r.now = gateway.Session{}
		if failed := r.store(ctx, channel.Update{}); failed != nil {
			return failed
		}
	}
	return fmt.Errorf("qq: %w", err)
}

func (r *reader) handle(ctx context.Context, e gateway.Event, s gateway.Session) error {
	r.now = s
	switch e.Type {
	case "READY", "RESUMED":
		if err := r.store(ctx, channel.Update{}); err != nil {
			return err
		}
		r.in.Connected()
		return nil
	case "C2C_MESSAGE_CREATE", "GROUP_AT_MESSAGE_CREATE":
		var m message
		if json.Unmarshal(e.Data, &m) == nil && !m.Author.Bot {
			return r.said(ctx, m)
		}
	}
	if r.unsaid++; r.unsaid >= skipped {
		return r.store(ctx, channel.Update{})
	}
	return nil
}

// store stores an update together with the position.
func (r *reader) store(ctx context.Context, u channel.Update) error {
	text, err := json.Marshal(r.now)
	if err != nil {
		return fmt.Errorf("qq: %w", err)
	}
	u.Cursor, r.unsaid = text, 0
	return r.in.Take(ctx, u)
}

// said takes a message. QQ has removed the mention from its beginning, but not the space.
func (r *reader) said(ctx context.Context, m message) error {
	from := cmp.Or(m.Author.Member, m.Author.User)
	chat := channel.Chat{ID: from, Direct: true}
	text := m.Content
	if m.Group != "" {
		chat = channel.Chat{ID: groupPrefix + m.Group}
		text = strings.TrimLeft(text, " ")
	}
	out := &channel.Message{Chat: chat, From: channel.Sender{ID: from}, ID: m.ID, Text: text, Addressed: true, At: m.Timestamp.UnixMilli()}
	for _, a := range m.Attachments {
		address := a.URL
		if strings.HasPrefix(address, "//") || !strings.Contains(address, "://") {
			address = "https://" + strings.TrimLeft(address, "/")
		}
		out.Files = append(out.Files, channel.File{Ref: address, Name: a.Filename, MIME: a.Type, Size: a.Size})
	}
	return r.store(ctx, channel.Update{ID: m.ID, Message: out})
}
