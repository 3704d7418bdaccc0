package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Bounds of what is remembered.
const (
	maxChats   = 64  // chats whose history is read after a connection
	maxNames   = 500 // names of people and channels
	maxHistory = 10  // pages of 100 messages of a chat
)

// cursor is what continues after a restart.
type cursor struct {
	Last  string   `json:"l,omitempty"` // time of the newest message that was taken
	Chats []string `json:"c,omitempty"` // in which the bot was addressed, the latest last
}

// event is a message, as it arrives, is edited or is deleted, or as the history has it.
type event struct {
	Type     string    `json:"type"`
	Subtype  string    `json:"subtype"`
	Channel  string    `json:"channel"`
	Kind     string    `json:"channel_type"`
	User     string    `json:"user"`
	Bot      string    `json:"bot_id"`
	Text     string    `json:"text"`
	Time     string    `json:"ts"`
	Thread   string    `json:"thread_ts"`
	Parent   string    `json:"parent_user_id"`
	Files    []file    `json:"files"`
	Edited   *edit     `json:"edited"`
	Deleted  string    `json:"deleted_ts"`
	Message  *event    `json:"message"`
	Previous *previous `json:"previous_message"`
}

type edit struct {
	Time string `json:"ts"`
}

type previous struct {
	Thread string `json:"thread_ts"`
}

type file struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Mimetype string `json:"mimetype"`
	Size     int64  `json:"size"`
}

// press is a press of a button.
type press struct {
	Type string `json:"type"`
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
	Channel struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"channel"`
	Message struct {
		Time   string `json:"ts"`
		Thread string `json:"thread_ts"`
	} `json:"message"`
	Actions []struct {
		Value string `json:"value"`
		Time  string `json:"action_ts"`
	} `json:"actions"`
}

// reader turns the envelopes of one Run into updates.
type reader struct {
	p      *Platform
	in     channel.Inbound
	me     channel.Identity
	now    cursor
	newest string // message that catchUp has read; "" outside of it
	people map[string]channel.Sender
	places map[string]channel.Chat
}

// Run implements channel.Platform.
func (p *Platform) Run(ctx context.Context, stored []byte, in channel.Inbound) error {
	r := &reader{p: p, in: in, people: map[string]channel.Sender{}, places: map[string]channel.Chat{}}
	_ = json.Unmarshal(stored, &r.now) // a first run has none
	var err error
	if r.me, err = p.Check(ctx); err != nil {
		return err
	}
	s, err := p.open(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		e, err := s.next(ctx)
		if err != nil {
			return err
		}
		switch e.Type {
		case "hello":
			if err := r.catchUp(ctx); err != nil {
				return err
			}
			in.Connected()
		case "disconnect":
			return fmt.Errorf("slack: Slack asks to connect again: %s", channel.CleanName(e.Reason))
		}
		if e.ID == "" {
			continue
		}
		if err := r.take(ctx, e); err != nil {
			return err
		}
		if err := s.ack(ctx, e.ID); err != nil {
			return err
		}
	}
}

// take takes an envelope. What cannot be read is skipped: Slack would send it again and again.
func (r *reader) take(ctx context.Context, e envelope) error {
	switch e.Type {
	case "events_api":
		var payload struct {
			Event event `json:"event"`
		}
		if err := json.Unmarshal(e.Payload, &payload); err != nil {
			return nil
		}
		return r.event(ctx, payload.Event)
	case "interactive":
		var p press
		if err := json.Unmarshal(e.Payload, &p); err != nil || p.Type != "block_actions" || len(p.Actions) == 0 {
			return nil
		}
		return r.pressed(ctx, p)
	}
	return nil
}

func (r *reader) event(ctx context.Context, e event) error {
	switch {
	case e.Type != "message" && e.Type != "app_mention":
	case e.Subtype == "message_changed" && e.Message != nil:
		m := *e.Message
		m.Channel, m.Kind = e.Channel, e.Kind
		if m.Edited != nil { // otherwise Slack has only added a preview
			return r.said(ctx, m, true)
		}
	case e.Subtype == "message_deleted":
		return r.deleted(ctx, e)
	default:
		return r.said(ctx, e, false)
	}
	return nil
}

// store stores an update together with the position.
func (r *reader) store(ctx context.Context, u channel.Update) error {
	text, err := json.Marshal(r.now)
	if err != nil {
		return fmt.Errorf("slack: %w", err)
	}
	u.Cursor = text
	return r.in.Take(ctx, u)
}

// said takes a new or edited message. A message that mentions the bot may arrive as two events
// with the same time, and so with the same id.
func (r *reader) said(ctx context.Context, e event, edited bool) error {
	if e.Subtype != "" && e.Subtype != "file_share" && e.Subtype != "thread_broadcast" || e.User == "" || e.User == r.me.ID || e.Bot != "" {
		return nil
	}
	if e.Thread == e.Time { // it begins a thread, and stands in the channel
		e.Thread = ""
	}
	chat, err := r.chat(ctx, e.Channel, e.Thread, e.Kind)
	if err != nil {
		return err
	}
	text, mentioned := r.unmention(e.Text)
	if !chat.Direct && !mentioned && e.Parent != r.me.ID && e.Type != "app_mention" || text == "" && len(e.Files) == 0 && !edited {
		return nil
	}
	from, err := r.person(ctx, e.User)
	if err != nil {
		return err
	}
	if chat.Direct && chat.Title == "" {
		chat.Title = from.Name
	}
	out := &channel.Message{Chat: chat, From: from, ID: e.Time, Text: text, Addressed: true, At: millis(e.Time)}
	for _, f := range e.Files {
		out.Files = append(out.Files, channel.File{Ref: f.ID, Name: f.Name, MIME: f.Mimetype, Size: f.Size})
	}
	if edited {
		return r.store(ctx, channel.Update{ID: "e" + e.Channel + "." + e.Time + "." + e.Edited.Time, Edited: out})
	}
	r.remember(chat.ID, e.Time)
	return r.store(ctx, channel.Update{ID: "m" + e.Channel + "." + e.Time, Message: out})
}

func (r *reader) remember(chat, at string) {
	last := &r.now.Last
	if r.newest != "" {
		last = &r.newest
	}
	*last = max(*last, at) // times have the same length
	r.now.Chats = append(slices.DeleteFunc(r.now.Chats, func(id string) bool { return id == chat }), chat)
	r.now.Chats = r.now.Chats[max(0, len(r.now.Chats)-maxChats):]
}

// millis is a time of Slack, which is in seconds, in milliseconds.
func millis(at string) int64 {
	seconds, err := strconv.ParseFloat(at, 64)
	if err != nil {
		return 0
	}
	return int64(seconds * 1000)
}

// unmention removes the bot's name from the beginning of a text and reports whether the text
// names the bot.
func (r *reader) unmention(text string) (string, bool) {
	name := "<@" + r.me.ID + ">"
	mentioned := strings.Contains(text, name)
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \n"), name); ok {
		text = strings.TrimLeft(rest, " \n")
	}
	return plain(text), mentioned
}

// chat finds out what a conversation is called. Without the scope to ask, it has no name.
func (r *reader) chat(ctx context.Context, id, thread, kind string) (channel.Chat, error) {
	chat, known := r.places[id]
	if !known {
		chat = channel.Chat{ID: id, Direct: kind == "im" || kind == "" && strings.HasPrefix(id, "D")}
		if !chat.Direct {
			info, err := r.p.api.GetConversationInfoContext(ctx, &slack.GetConversationInfoInput{ChannelID: id})
			if limited := r.p.limited(err); limited != nil {
				return chat, limited
			}
			if err == nil {
				chat.Title, chat.Direct = info.Name, info.IsIM
			}
		}
		if len(r.places) >= maxNames {
			clear(r.places)
		}
		r.places[id] = chat
	}
	chat.Direct = chat.Direct || kind == "im"
	if thread != "" {
		chat.ID += "/" + thread
	}
	return chat, nil
}

func (r *reader) person(ctx context.Context, id string) (channel.Sender, error) {
	from, known := r.people[id]
	if known {
		return from, nil
	}
	from = channel.Sender{ID: id}
	info, err := r.p.api.GetUserInfoContext(ctx, id)
	if limited := r.p.limited(err); limited != nil {
		return from, limited
	}
	if err == nil {
		from.Name, from.Bot = info.RealName, info.IsBot
		if from.Name == "" {
			from.Name = info.Name
		}
	}
	if len(r.people) >= maxNames {
		clear(r.people)
	}
	r.people[id] = from
	return from, nil
}

// limited returns an error that ends the connection: names are worth waiting for when Slack
// asks to wait, and not when it does not tell them.
func (p *Platform) limited(err error) error {
	var limit *channel.RateLimited
	if err = p.explain("asking for a name", err); errors.As(err, &limit) {
		return limit
	}
	return nil
}

func (r *reader) deleted(ctx context.Context, e event) error {
	thread := ""
	if e.Previous != nil {
		thread = e.Previous.Thread
	}
	chat, err := r.chat(ctx, e.Channel, thread, e.Kind)
	if err != nil || !slices.Contains(r.now.Chats, chat.ID) {
		return err
	}
	return r.store(ctx, channel.Update{ID: "d" + e.Channel + "." + e.Deleted, Deleted: &channel.Deleted{Chat: chat, ID: e.Deleted}})
}

func (r *reader) pressed(ctx context.Context, p press) error {
	kind := ""
	if p.Channel.Name == "directmessage" {
		kind = "im"
	}
	chat, err := r.chat(ctx, p.Channel.ID, p.Message.Thread, kind)
	if err != nil {
		return err
	}
	action := p.Actions[0]
	return r.store(ctx, channel.Update{
		ID: "p" + p.Channel.ID + "." + p.Message.Time + "." + action.Time + "." + p.User.ID,
		Press: &channel.Press{
			Chat: chat, From: channel.Sender{ID: p.User.ID, Name: p.User.Name}, MessageID: p.Message.Time, Data: action.Value,
		},
	})
}

// catchUp reads what was written in the known chats since the last message. The events of these
// messages may arrive too, with the same ids.
func (r *reader) catchUp(ctx context.Context) error {
	if r.now.Last == "" {
		return nil
	}
	r.newest = r.now.Last
	for _, id := range slices.Clone(r.now.Chats) {
		if err := r.history(ctx, id, r.now.Last); err != nil && !errors.Is(err, channel.ErrChatGone) {
			return err
		}
	}
	r.now.Last, r.newest = r.newest, ""
	return r.store(ctx, channel.Update{})
}

func (r *reader) history(ctx context.Context, id, after string) error {
	place, thread, _ := strings.Cut(id, "/")
	var found []slack.Message
	next := ""
	for range maxHistory {
		page, more, err := r.page(ctx, place, thread, after, next)
		if err != nil {
			return r.p.explain("reading what was written meanwhile", err)
		}
		found = append(found, page...)
		if next = more; next == "" {
			break
		}
	}
	slices.SortStableFunc(found, func(a, b slack.Message) int { return strings.Compare(a.Timestamp, b.Timestamp) })
	for _, m := range found {
		if m.Timestamp <= after {
			continue // a thread's first message is always there
		}
		if err := r.said(ctx, fromHistory(m, place), false); err != nil {
			return err
		}
	}
	return nil
}

// page reads a part of a history, and returns where the next begins, or "".
func (r *reader) page(ctx context.Context, place, thread, after, next string) ([]slack.Message, string, error) {
	if thread != "" {
		page, _, more, err := r.p.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: place, Timestamp: thread, Oldest: after, Cursor: next, Limit: 100,
		})
		return page, more, err
	}
	page, err := r.p.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{ChannelID: place, Oldest: after, Cursor: next, Limit: 100})
	if err != nil {
		return nil, "", err
	}
	return page.Messages, page.ResponseMetaData.NextCursor, nil
}

func fromHistory(m slack.Message, place string) event {
	e := event{
		Type: "message", Subtype: m.SubType, Channel: place, User: m.User, Bot: m.BotID, Text: m.Text, Time: m.Timestamp,
		Thread: m.ThreadTimestamp, Parent: m.ParentUserId,
	}
	for _, f := range m.Files {
		e.Files = append(e.Files, file{ID: f.ID, Name: f.Name, Mimetype: f.Mimetype, Size: int64(f.Size)})
	}
	return e
}
