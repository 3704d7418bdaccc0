package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/gateway"
)

// intents are messages in servers and direct messages. None of them needs an approval.
const intents = 1<<9 | 1<<12

const query = "/?v=10&encoding=json"

// Bounds of what is remembered.
const (
	maxPlaces  = 500 // names of channels
	skipped    = 100 // events after which the position is stored although none was for the bot
	maxHistory = 10  // pages of 100 messages of a chat
)

// cursor is what continues after a restart.
type cursor struct {
	gateway.Session
	channel.Recent
}

type user struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	Name     string `json:"global_name"`
	Bot      bool   `json:"bot"`
}

func (u user) sender() channel.Sender {
	return channel.Sender{ID: u.ID, Name: cmp.Or(u.Name, u.Username), Bot: u.Bot}
}

type message struct {
	ID          string       `json:"id"`
	ChannelID   string       `json:"channel_id"`
	GuildID     string       `json:"guild_id"`
	Author      *user        `json:"author"`
	WebhookID   string       `json:"webhook_id"`
	Type        int          `json:"type"`
	Content     string       `json:"content"`
	Timestamp   time.Time    `json:"timestamp"`
	Edited      *time.Time   `json:"edited_timestamp"`
	Mentions    []user       `json:"mentions"`
	Attachments []attachment `json:"attachments"`
	Answered    *message     `json:"referenced_message"`
}

type attachment struct {
	ID       string `json:"id"`
	Filename string `json:"filename"`
	Type     string `json:"content_type"`
	Size     int64  `json:"size"`
	URL      string `json:"url"`
}

type interaction struct {
	ID        string   `json:"id"`
	Token     string   `json:"token"`
	Type      int      `json:"type"`
	ChannelID string   `json:"channel_id"`
	GuildID   string   `json:"guild_id"`
	User      *user    `json:"user"`
	Message   *message `json:"message"`
	Member    struct {
		User *user `json:"user"`
	} `json:"member"`
	Data struct {
		ID string `json:"custom_id"`
	} `json:"data"`
}

// place is a channel of a server, or a direct chat.
type place struct {
	Guild  string `json:"guild_id"`
	Name   string `json:"name"`
	Type   int    `json:"type"`
	Parent string `json:"parent_id"`
}

// reader turns the events of one Run into updates.
type reader struct {
	p      *Platform
	in     channel.Inbound
	me     channel.Identity
	now    cursor
	places map[string]place
	unsaid int // events since the position was stored
}

// Run implements channel.Platform.
func (p *Platform) Run(ctx context.Context, stored []byte, in channel.Inbound) error {
	r := &reader{p: p, in: in, places: map[string]place{}}
	_ = json.Unmarshal(stored, &r.now) // a first run has none
	var err error
	if r.me, err = p.Check(ctx); err != nil {
		return err
	}
	var entry struct {
		URL string `json:"url"`
	}
	if err := p.rest.Call(ctx, http.MethodGet, "/gateway/bot", nil, &entry); err != nil {
		return err
	}
	err = gateway.Run(ctx, gateway.Options{
		URL: strings.TrimRight(entry.URL, "/") + query, Query: query, Token: p.token, Intents: intents, Check: channel.CheckEndpoint, Transport: p.rest.HTTP.Transport,
	}, r.now.Session, r.handle)
	return r.ended(ctx, err)
}

// ended forgets a session that Discord does not continue, and explains why it closed.
func (r *reader) ended(ctx context.Context, err error) error {
	code := websocket.CloseStatus(err)
	switch code {
	case 4004:
		return fmt.Errorf("discord: %w", channel.ErrUnauthorized)
	case 4010, 4011, 4012, 4013, 4014:
		return fmt.Errorf("discord: the gateway refuses this bot for good (code %d): %w", code, err)
	}
	if errors.Is(err, gateway.ErrSessionLost) || code == 4007 || code == 4009 {
		r.now.Session = gateway.Session{}
		if failed := r.store(ctx, channel.Update{}); failed != nil {
			return failed
		}
	}
	return fmt.Errorf("discord: %w", err)
}

func (r *reader) handle(ctx context.Context, e gateway.Event, s gateway.Session) error {
	r.now.Session = s
	switch e.Type {
	case "READY":
		// Until all is read, a restart has to read it again, and not resume this session.
		r.now.Session = gateway.Session{}
		// The gateway sends messages of the same time once more, with the same ids.
		if err := r.now.CatchUp(ctx, r.history); err != nil {
			return err
		}
		r.now.Session = s
		if err := r.store(ctx, channel.Update{}); err != nil {
			return err
		}
		r.in.Connected()
		return nil
	case "RESUMED":
		r.in.Connected()
		return nil
	case "MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE":
		var m message
		if err := json.Unmarshal(e.Data, &m); err != nil {
			return r.skip(ctx)
		}
		if e.Type == "MESSAGE_DELETE" {
			return r.deleted(ctx, m)
		}
		return r.said(ctx, m, e.Type == "MESSAGE_UPDATE")
	case "INTERACTION_CREATE":
		var i interaction
		if err := json.Unmarshal(e.Data, &i); err != nil {
			return r.skip(ctx)
		}
		return r.pressed(ctx, i)
	}
	return r.skip(ctx)
}

// store stores an update together with the position.
func (r *reader) store(ctx context.Context, u channel.Update) error {
	text, err := json.Marshal(r.now)
	if err != nil {
		return fmt.Errorf("discord: %w", err)
	}
	u.Cursor, r.unsaid = text, 0
	return r.in.Take(ctx, u)
}

// skip counts an event that is not for the bot. Not each of them is written to the disk: a
// busy server would wear it out, and to read some of them again costs nothing.
func (r *reader) skip(ctx context.Context) error {
	if r.unsaid++; r.unsaid >= skipped {
		return r.store(ctx, channel.Update{})
	}
	return nil
}

// said takes a new or edited message. Messages of types other than 0 and 19, an answer, are
// notices such as that someone joined.
func (r *reader) said(ctx context.Context, m message, edited bool) error {
	if m.Author == nil || m.Author.ID == r.me.ID || m.WebhookID != "" || m.Type != 0 && m.Type != 19 || edited && m.Edited == nil {
		return r.skip(ctx)
	}
	text, addressed := r.unmention(m)
	if !addressed || text == "" && len(m.Attachments) == 0 && !edited {
		return r.skip(ctx)
	}
	chat, err := r.chat(ctx, m.ChannelID, m.GuildID, m.Author)
	if err != nil {
		return err
	}
	out := &channel.Message{Chat: chat, From: m.Author.sender(), ID: m.ID, Text: text, Addressed: true, At: m.Timestamp.UnixMilli()}
	for _, a := range m.Attachments {
		out.Files = append(out.Files, channel.File{Ref: m.ChannelID + "/" + m.ID + "/" + a.ID, Name: a.Filename, MIME: a.Type, Size: a.Size})
	}
	r.now.Add(m.ChannelID, m.ID)
	if edited {
		return r.store(ctx, channel.Update{ID: fmt.Sprintf("e%s.%d", m.ID, m.Edited.UnixMilli()), Edited: out})
	}
	return r.store(ctx, channel.Update{ID: "m" + m.ID, Message: out})
}

// unmention removes the bot's name from the beginning of a text and reports whether the message
// is for the bot.
func (r *reader) unmention(m message) (string, bool) {
	text := m.Content
	for _, name := range []string{"<@" + r.me.ID + ">", "<@!" + r.me.ID + ">"} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), name); ok {
			return strings.TrimLeft(rest, " \n"), true
		}
	}
	addressed := m.GuildID == "" || slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == r.me.ID })
	answers := m.Answered != nil && m.Answered.Author != nil && m.Answered.Author.ID == r.me.ID
	return text, addressed || answers
}

// chat finds out what a channel is called, and the channel that a thread belongs to.
func (r *reader) chat(ctx context.Context, id, guild string, from *user) (channel.Chat, error) {
	if guild == "" {
		return channel.Chat{ID: id, Title: from.sender().Name, Direct: true}, nil
	}
	at, err := r.place(ctx, id)
	if err != nil && !errors.Is(err, channel.ErrChatGone) {
		return channel.Chat{}, err
	}
	if (at.Type == 10 || at.Type == 11 || at.Type == 12) && at.Parent != "" {
		id = at.Parent + "/" + id
	}
	return channel.Chat{ID: id, Title: at.Name}, nil
}

// place asks for a channel, once in a connection.
func (r *reader) place(ctx context.Context, id string) (place, error) {
	if at, known := r.places[id]; known {
		return at, nil
	}
	var at place
	if err := r.p.rest.Call(ctx, http.MethodGet, "/channels/"+url.PathEscape(id), nil, &at); err != nil {
		return at, err
	}
	if len(r.places) >= maxPlaces {
		clear(r.places)
	}
	r.places[id] = at
	return at, nil
}

func (r *reader) deleted(ctx context.Context, m message) error {
	if !slices.Contains(r.now.Chats, m.ChannelID) {
		return r.skip(ctx)
	}
	chat, err := r.chat(ctx, m.ChannelID, m.GuildID, &user{})
	if err != nil {
		return err
	}
	return r.store(ctx, channel.Update{ID: "d" + m.ID, Deleted: &channel.Deleted{Chat: chat, ID: m.ID}})
}

func (r *reader) pressed(ctx context.Context, i interaction) error {
	from := cmp.Or(i.User, i.Member.User)
	if i.Type != 3 || i.Message == nil || from == nil {
		return r.skip(ctx)
	}
	chat, err := r.chat(ctx, i.ChannelID, i.GuildID, from)
	if err != nil {
		return err
	}
	return r.store(ctx, channel.Update{ID: "i" + i.ID, Press: &channel.Press{
		Chat: chat, From: from.sender(), MessageID: i.Message.ID, Data: i.Data.ID, Ref: i.ID + "/" + i.Token,
	}})
}

// history reads what was written in a channel after a message.
func (r *reader) history(ctx context.Context, id, after string) error {
	path, err := messages(id)
	if err != nil {
		return err
	}
	at, err := r.place(ctx, id)
	if err != nil {
		return err
	}
	for range maxHistory {
		var page []message
		if err := r.p.rest.Call(ctx, http.MethodGet, path+"?limit=100&after="+url.QueryEscape(after), nil, &page); err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		slices.SortFunc(page, func(a, b message) int { return channel.CompareIDs(a.ID, b.ID) })
		for _, m := range page {
			m.GuildID, m.ChannelID, after = at.Guild, id, m.ID
			if err := r.said(ctx, m, false); err != nil {
				return err
			}
		}
	}
	return nil
}
