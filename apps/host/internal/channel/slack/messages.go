package slack

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

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
	r.now.Add(chat.ID, e.Time)
	return r.store(ctx, channel.Update{ID: "m" + e.Channel + "." + e.Time, Message: out})
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
